"""Small worlds that are no mazes: noise, walks, codes, and Gymnasium's own as one-hot vectors."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np


class Codes(gym.Env[np.ndarray, int]):
    """A corridor whose cells are seen as random codes (n_features,) plus Gaussian noise."""

    def __init__(self, n_features: int, n_cells: int = 24, noise: float = 0.1) -> None:
        self._codes = np.random.default_rng(n_features).normal(size=(n_cells, n_features))
        self._noise = noise
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (n_features,), np.float64)
        self.action_space = gym.spaces.Discrete(2)

    def _seen(self) -> np.ndarray:
        code = self._codes[self._cell]
        return code + self._noise * self.np_random.normal(size=len(code))

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self._cell, self._age = 0, 0
        return self._seen(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
        last = len(self._codes) - 1
        self._cell = min(max(self._cell + (1 if action else -1), 0), last)
        self._age += 1
        return self._seen(), -1.0, self._cell == last, self._age >= 100, {}


class Stream(gym.Env[np.ndarray, int]):
    """Observations that no action changes, drawn one by one; it never ends.

    kind: "uniform" noise on [0, 100]^n, "normal" noise N(0, 1)^n, or a "walk" of N(0, 1) steps.
    """

    def __init__(self, n_features: int, kind: str, size: float = 1.0) -> None:
        self._kind, self._size = kind, size
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (n_features,), np.float64)
        self.action_space = gym.spaces.Discrete(2)

    def _draw(self) -> np.ndarray:
        (n_features,) = self.observation_space.shape
        if self._kind == "uniform":
            return self._size * self.np_random.uniform(0.0, 100.0, n_features)
        jump = self._size * self.np_random.normal(size=n_features)
        self._place = self._place + jump if self._kind == "walk" else jump
        return self._place

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self._place = np.zeros(self.observation_space.shape)
        return self._draw(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
        return self._draw(), self._size * float(self.np_random.normal()), False, False, {}


def one_hot(env_id: str, **arguments: Any) -> gym.Env:
    """An environment of Gymnasium with its Discrete observation as a one-hot vector."""
    return gym.wrappers.FlattenObservation(gym.make(env_id, **arguments))


class Outliers(gym.Wrapper[np.ndarray, int, np.ndarray, int]):
    """Another environment, some of whose observations are far off."""

    def __init__(self, env: gym.Env, share: float, size: float) -> None:
        super().__init__(env)
        self._share, self._size = share, size

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
        seen, reward, terminated, truncated, info = self.env.step(action)
        rng = self.env.unwrapped.np_random
        if rng.random() < self._share:
            seen = seen + self._size * rng.normal(size=seen.shape)
        return seen, float(reward), terminated, truncated, info
