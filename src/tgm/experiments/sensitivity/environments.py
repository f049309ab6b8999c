"""Worlds that use parts of the core which mazes do not: noise in bits, in rewards, in motion."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from tgm.distributions import FloatArray

Step = tuple[Any, Any, bool, bool, dict[str, Any]]


class NoisyBits(gym.Wrapper[Any, Any, Any, Any]):
    """A maze whose cells are seen exactly, beside bits that are nothing but noise."""

    def __init__(self, env: gym.Env[Any, Any], n_bits: int) -> None:
        """Number the cells of the maze, and add `n_bits` bits."""
        super().__init__(env)
        self._cells = {cell: index for index, cell in enumerate(env.unwrapped.maze.moves)}  # type: ignore[attr-defined]
        self._n_bits = n_bits
        self.observation_space = gym.spaces.MultiDiscrete([len(self._cells)] + n_bits * [2])

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        _, info = self.env.reset(**options)
        return self._seen(info), info

    def step(self, action: Any) -> Step:
        """A step of the maze, with new bits."""
        _, reward, terminated, truncated, info = self.env.step(action)
        return self._seen(info), reward, terminated, truncated, info

    def _seen(self, info: dict[str, Any]) -> Any:
        bits = self.np_random.integers(2, size=self._n_bits)
        return np.array([self._cells[info["cell"]], *bits])


class Rounded(gym.ObservationWrapper[Any, Any, Any]):
    """Observations in tenths."""

    def observation(self, observation: FloatArray) -> FloatArray:
        """The observation, rounded."""
        return np.round(observation, 1)


class NoisyRewards(gym.Wrapper[Any, Any, Any, Any]):
    """Rewards with Gaussian noise."""

    def __init__(self, env: gym.Env[Any, Any], deviation: float) -> None:
        """Noise of a standard deviation."""
        super().__init__(env)
        self._deviation = deviation

    def step(self, action: Any) -> Step:
        """A step with noise in its reward."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        noise = self._deviation * self.np_random.standard_normal()
        return observation, float(reward) + noise, terminated, truncated, info


class NoisyFeatures(gym.ObservationWrapper[Any, Any, Any]):
    """Observations with Gaussian noise in each feature."""

    def __init__(self, env: gym.Env[Any, Any], deviations: tuple[float, ...]) -> None:
        """Noise of one standard deviation for each feature."""
        super().__init__(env)
        self._deviations = np.array(deviations)
        bound = np.full(len(deviations), np.inf)
        self.observation_space = gym.spaces.Box(-bound, bound, dtype=np.float64)

    def observation(self, observation: FloatArray) -> FloatArray:
        """The observation with new noise."""
        noise = self.np_random.standard_normal(len(self._deviations))
        return observation + self._deviations * noise
