"""Events: what happened, so that another learner can learn from it again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from tgm.distributions import FloatArray
from tgm.files.arrays import ANY, LARGEST, ArrayReader, Arrays
from tgm.learners.step_info import StepInfo
from tgm.perception.feature_kinds import EPISODE_START


class Shown(Protocol):
    """What learns from events."""

    def begin(self, observation: FloatArray) -> StepInfo:
        """Learn from the first observation of an episode."""

    def observe(
        self, action: int, reward: float, observation: FloatArray, *, terminated: bool
    ) -> StepInfo:
        """Learn from one step."""


class Event(NamedTuple):
    """One thing that happened: an episode began (action None), or a step was taken.

    A tuple, because several are made at every step while the kind of world is not known.
    """

    point: FloatArray
    action: int | None = None
    reward: float = 0.0
    terminated: bool = False

    def show(self, learner: Shown) -> StepInfo:
        """Let a learner learn from it."""
        if self.action is None:
            return learner.begin(self.point)
        return learner.observe(self.action, self.reward, self.point, terminated=self.terminated)

    def kept(self) -> Event:
        """The same event with a copy of its point."""
        return Event(self.point.copy(), self.action, self.reward, self.terminated)


def events_to_arrays(events: Sequence[Event], n_features: int) -> Arrays:
    """Events of `n_features` as arrays."""
    actions = [EPISODE_START if event.action is None else event.action for event in events]
    return {
        "point": np.array([event.point for event in events]).reshape(-1, n_features),
        "action": np.array(actions, np.intp),
        "reward": np.array([event.reward for event in events]),
        "terminated": np.array([event.terminated for event in events], bool),
    }


def events_from_arrays(
    saved: ArrayReader, n_features: int, n_actions: int, largest: float = LARGEST
) -> list[Event]:
    """Take over what `events_to_arrays` gave, checked; no number of a point exceeds `largest`."""
    points = saved.floats("point", ANY, n_features, size=largest)
    n = len(points)
    actions = saved.whole("action", n, low=EPISODE_START, high=n_actions - 1).tolist()
    rewards, ended = saved.floats("reward", n).tolist(), saved.flags("terminated", n).tolist()
    return [
        Event(point, None if action == EPISODE_START else action, reward, end)
        for point, action, reward, end in zip(points, actions, rewards, ended, strict=True)
    ]
