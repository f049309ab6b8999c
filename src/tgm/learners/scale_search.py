"""bandwidth="auto": models of different scale see the same life, and the evidence chooses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tgm.distributions import FloatArray
from tgm.errors import DataError
from tgm.files.arrays import ANY, LARGEST, LARGEST_POINT, ArrayReader, Arrays, prefixed
from tgm.learners.online_model import OnlineModel
from tgm.structure.scale import Scale

RATIOS = np.geomspace(0.05, 1.2, 10)
"""Candidate widths of a state, over the root mean square change of an observation in a step."""

MEASURE_AT = (1, 2, 4, 8, 16, 32)  # steps at which that change is measured again
SAME_UNIT = 0.2  # a change of its logarithm below this is none
GIVE_UP_FROM = 8  # steps before no candidate is given up
BEHIND = 12.0  # nats behind the best at which one is
LAST_STEP = 200  # the best of those that are left goes on alone


@dataclass(frozen=True, eq=False)
class Event:
    """One thing that happened: an episode began (action None), or a step was taken."""

    point: FloatArray
    action: int | None = None
    reward: float = 0.0
    terminated: bool = False

    def show(self, model: OnlineModel) -> None:
        """Let a model live through it."""
        if self.action is None:
            model.begin(self.point)
        else:
            model.observe(self.action, self.reward, self.point, terminated=self.terminated)


class ScaleSearch:
    """Owner of the candidates and of what they have seen, until one is chosen.

    The evidence of a model is the density that it gave to each observation before it saw it. The
    unit is the observations' own: nothing depends on whether they are metres or millimetres.
    """

    def __init__(self, make_model: Callable[[Scale], OnlineModel], n_features: int) -> None:
        """One candidate, on a scale that will be measured at the first step."""
        self._make_model = make_model
        self._events: list[Event] = []
        self._unit: FloatArray | None = None
        self._n_steps = 0
        self.candidates = [make_model(Scale.of_ratio(np.ones(n_features), 1.0))]

    @property
    def best(self) -> OnlineModel:
        """The candidate with the most evidence."""
        return max(self.candidates, key=lambda model: model.log_evidence)

    @property
    def is_over(self) -> bool:
        """Whether the best can go on alone."""
        decided = len(self.candidates) == 1 or self._n_steps >= LAST_STEP
        return decided and self._n_steps >= MEASURE_AT[-1]

    def show(self, event: Event) -> None:
        """Let all candidates live through an event, and give up the hopeless ones."""
        self._events.append(event)
        for model in self.candidates:
            event.show(model)
        if event.action is None:
            return
        self._n_steps += 1
        if self._n_steps in MEASURE_AT:
            self._measure()
        if self._n_steps >= GIVE_UP_FROM:
            least = self.best.log_evidence - BEHIND
            self.candidates = [model for model in self.candidates if model.log_evidence >= least]

    def to_arrays(self) -> Arrays:
        """The candidates, and what they have seen."""
        points = [event.point for event in self._events]
        arrays = {
            "event.point": np.array(points).reshape(len(points), -1),
            "event.action": np.array([_number_of(event) for event in self._events], np.intp),
            "event.reward": np.array([event.reward for event in self._events]),
            "event.terminated": np.array([event.terminated for event in self._events], bool),
            "unit": np.empty(0) if self._unit is None else self._unit,
            "n_steps": np.array([self._n_steps]),
            "n_candidates": np.array([len(self.candidates)]),
        }
        for index, model in enumerate(self.candidates):
            arrays |= prefixed(f"candidate.{index}", model.to_arrays())
        return arrays

    def restore(self, saved: ArrayReader, n_features: int, n_actions: int) -> None:
        """Take over what `to_arrays` gave."""
        points = saved.floats("event.point", ANY, n_features, size=LARGEST_POINT)
        actions = saved.whole("event.action", len(points), low=-1, high=n_actions - 1).tolist()
        rewards = saved.floats("event.reward", len(points)).tolist()
        ended = saved.flags("event.terminated", len(points)).tolist()
        self._events = [
            Event(point, None if action < 0 else action, reward, end)
            for point, action, reward, end in zip(points, actions, rewards, ended, strict=True)
        ]
        unit = saved.floats("unit", ANY, low=0.0, size=LARGEST_POINT)
        if len(unit) not in (0, n_features):
            raise DataError(f"array 'unit' has {len(unit)} numbers for {n_features} features")
        self._unit = unit if len(unit) else None
        self._n_steps = saved.count("n_steps")
        n_candidates = saved.count("n_candidates")
        if not 1 <= n_candidates <= len(RATIOS):
            raise DataError(f"there are {n_candidates} candidate scales")
        self.candidates = []
        for index in range(n_candidates):
            model = self._make_model(Scale.of_ratio(np.ones(n_features), 1.0))
            model.restore(saved.part(f"candidate.{index}"))
            self.candidates.append(model)

    def _measure(self) -> None:
        """Measure the unit; if it is another one, make the candidates anew and show them all."""
        changes = [
            after.point - before.point
            for before, after in zip(self._events, self._events[1:], strict=False)
            if after.action is not None
        ]
        unit = np.sqrt(np.mean(np.square(changes), axis=0))
        if unit.max() < 1.0 / LARGEST:  # its square would be no number
            return
        unit = np.maximum(unit, 1e-6 * unit.max())  # a feature that never changes has some width
        if self._unit is not None and np.all(np.abs(np.log(unit / self._unit)) < SAME_UNIT):
            return
        self._unit = unit
        self.candidates = [self._make_model(Scale.of_ratio(unit, float(r))) for r in RATIOS]
        for model in self.candidates:
            for event in self._events:
                event.show(model)


def _number_of(event: Event) -> int:
    return -1 if event.action is None else event.action
