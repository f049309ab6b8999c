"""From dm_env, the interface of bsuite's environments, to Gymnasium."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

Observation = NDArray[np.float64]


class EnoughEpisodesError(Exception):
    """Raised in place of an episode beyond the last one that is wanted."""


class FromDMEnv(gym.Env[Observation, int]):
    """An environment of bsuite as one of Gymnasium.

    A last step with discount 0 is an end; with another discount it was cut off. Its generator is
    seeded when it is made: `reset` begins the next episode, whatever its seed.
    """

    def __init__(self, env: Any, n_episodes: int | None = None) -> None:
        """Wrap a `dm_env.Environment`.

        Args:
            env: the environment.
            n_episodes: after so many, `reset` raises `EnoughEpisodesError`; None: never.
        """
        self._env, self._n_episodes = env, n_episodes
        self.n_begun = self.n_steps = 0
        spec = env.observation_spec()
        low, high = (
            np.broadcast_to(np.asarray(getattr(spec, name, bound), np.float64), spec.shape)
            for name, bound in (("minimum", -np.inf), ("maximum", np.inf))
        )
        # catch says that its pictures are within [0, 1], but the noise of others goes beyond.
        self.observation_space = gym.spaces.Box(low, high, spec.shape, np.float64)
        self.action_space = gym.spaces.Discrete(  # type: ignore[assignment]
            env.action_spec().num_values
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """The next episode."""
        super().reset(seed=seed)
        if self.n_begun == self._n_episodes:
            raise EnoughEpisodesError
        self.n_begun += 1
        return self._seen(self._env.reset()), {}

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """One step."""
        step = self._env.step(int(action))
        self.n_steps += 1
        is_end = bool(step.last() and not step.discount)
        reward = 0.0 if step.reward is None else float(step.reward)
        return self._seen(step), reward, is_end, bool(step.last()) and not is_end, {}

    @staticmethod
    def _seen(step: Any) -> Observation:
        return np.asarray(step.observation, dtype=np.float64)
