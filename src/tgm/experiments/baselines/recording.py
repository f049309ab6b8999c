"""Wrappers that put every agent into the same world and write down the same things."""

from __future__ import annotations

from typing import Any, SupportsFloat

import gymnasium as gym
import numpy as np

from tgm.agent.info import EpisodeInfo
from tgm.agent.streams import EPISODE_STREAM

Step = tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]


class EpisodeRecorder(gym.Wrapper[Any, Any, Any, Any]):
    """Seeds each episode in the way of TGMAgent, and keeps its return, length and end.

    Whatever the agent, episode number n of a seed has the same noise.
    """

    def __init__(
        self, env: gym.Env[Any, Any], seed: int, main: EpisodeRecorder | None = None
    ) -> None:
        """Record `env`; all episodes follow from `seed`.

        Args:
            env: the environment.
            seed: of its episodes.
            main: if this is a further copy for a learner that steps several at once, the
                recorder that keeps the steps and episodes of all of them.
        """
        super().__init__(env)
        self.episodes: list[EpisodeInfo] = []
        self.n_steps = 0
        self.total_reward = 0.0
        self.n_begun = 0
        self._main = self if main is None else main
        self._n_copies = 0
        self._stream: tuple[int, ...] = (EPISODE_STREAM,)
        if main is not None:
            main._n_copies += 1
            self._stream = (EPISODE_STREAM, main._n_copies)
        self._seed, self._n_own = seed, 0
        self._return, self._length = 0.0, 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin the next episode from its own seed; `seed` is not used."""
        sequence = np.random.SeedSequence(self._seed, spawn_key=(*self._stream, self._n_own))
        self._n_own += 1
        self._main.n_begun += 1
        self._return, self._length = 0.0, 0
        return self.env.reset(seed=int(sequence.generate_state(1)[0]), options=options)

    def step(self, action: Any) -> Step:
        """One step of the environment, written down."""
        outcome = self.env.step(action)
        _, reward, terminated, truncated, _ = outcome
        main = self._main
        main.n_steps += 1
        main.total_reward += float(reward)
        self._return += float(reward)
        self._length += 1
        if terminated or truncated:
            number = len(main.episodes) + 1
            main.episodes.append(
                EpisodeInfo(number, main.n_steps, self._return, self._length, terminated)
            )
        return outcome


class TimeLimitAsEnd(gym.Wrapper[Any, Any, Any, Any]):
    """Shows a time limit as a terminal state: the paper's environment did (erratum 10).

    What lies behind the limit then counts as worth nothing, where a learner that knows the
    truth takes its own estimate of it.
    """

    def step(self, action: Any) -> Step:
        """One step; truncated becomes terminated."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward, terminated or truncated, False, info
