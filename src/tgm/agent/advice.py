"""Warnings of what an agent does not do well, each with a remedy and each said once."""

from __future__ import annotations

import warnings
from typing import Any, Protocol

import gymnasium as gym
import numpy as np

from tgm.agent.diagnosis import FEATURES, LIMIT, Advice, Kind, too_many_features
from tgm.errors import TGMWarning
from tgm.learners.learner import Learner
from tgm.learners.limits import KNOWN_TO_WORK

LOOK_AGAIN = 200  # steps after which it looks again, after step 1; then at twice as many, and so on


class Advised(Protocol):
    """What the adviser reads from an agent."""

    n_steps: int

    @property
    def advice(self) -> tuple[Advice, ...]:
        """What is wrong at this moment."""

    @property
    def learner(self) -> Learner:
        """How it learns."""


class Adviser:
    """Owner of what was said; an agent that is loaded has heard nothing."""

    def __init__(self) -> None:
        """Nothing was said."""
        self._said: set[Kind] = set()
        self.look_at = 1  # step; by then the first observation shows whether numbers are amounts

    def warn_of_features(self, space: gym.Space[Any], *, stacklevel: int) -> None:
        """Warn of a space with more amounts than are known to work, before anything is seen.

        Names do not count, nor do numbers from 0 to 1 or without bounds, which may be the bits of a
        code: the first observation shows what they are.
        """
        n_amounts = _n_amounts(space)
        if n_amounts > KNOWN_TO_WORK:
            self._said.add(FEATURES)
            warnings.warn(str(too_many_features(n_amounts)), TGMWarning, stacklevel=stacklevel)

    def look(self, agent: Advised, *, stacklevel: int) -> None:
        """Say what was not said before: after step 1, at doubling steps, and when states are full.

        If warnings are errors, the next look says the rest.
        """
        is_news = LIMIT not in self._said and agent.learner.is_full
        if agent.n_steps < self.look_at and not is_news:
            return
        while self.look_at <= agent.n_steps:
            self.look_at = max(2 * self.look_at, LOOK_AGAIN)
        for advice in agent.advice:
            if advice.kind not in self._said:
                self._said.add(advice.kind)
                text = f"step {agent.n_steps}: {advice}"
                warnings.warn(text, TGMWarning, stacklevel=stacklevel)


def _n_amounts(space: gym.Space[Any]) -> int:
    """Features of Boxes that are surely no bits."""
    if isinstance(space, gym.spaces.Dict):
        return sum(_n_amounts(part) for part in space.spaces.values())
    if isinstance(space, gym.spaces.Tuple):
        return sum(_n_amounts(part) for part in space.spaces)
    if not isinstance(space, gym.spaces.Box) or space.dtype.kind != "f":
        return 0
    is_bounded = np.isfinite(space.low) & np.isfinite(space.high)
    return int(np.sum(is_bounded & ((space.low < 0.0) | (space.high > 1.0))))
