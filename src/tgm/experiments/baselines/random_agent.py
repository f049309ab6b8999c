"""The other end of the scale: actions at random, nothing learned."""

from __future__ import annotations

from typing import Any, Self

import gymnasium as gym
import numpy as np


class RandomAgent:
    """Draws each action evenly, in `learn` and in `predict`."""

    def __init__(self, env: gym.Env[Any, Any], *, seed: int = 0) -> None:
        """Know nothing about `env`, and never more."""
        assert isinstance(env.action_space, gym.spaces.Discrete)
        self.env = env
        self._n_actions = int(env.action_space.n)
        self._first = int(env.action_space.start)
        # Two generators: `predict` must not change what `learn` draws.
        self._rng, self._predict_rng = (
            np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(stream,)))
            for stream in (1, 2)
        )
        self._is_between_episodes = True

    def learn(self, n_steps: int) -> Self:
        """Live for `n_steps` more steps."""
        for _ in range(n_steps):
            if self._is_between_episodes:
                self.env.reset()
            action = self._first + int(self._rng.integers(self._n_actions))
            _, _, terminated, truncated, _ = self.env.step(action)
            self._is_between_episodes = terminated or truncated
        return self

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[Any, Any]:
        """An action at random for an observation, or one for each row of a batch."""
        shape = self.env.observation_space.shape
        is_batch = shape is not None and np.ndim(observation) == len(shape) + 1
        size = len(observation) if is_batch else None
        return self._first + self._predict_rng.integers(self._n_actions, size=size), state
