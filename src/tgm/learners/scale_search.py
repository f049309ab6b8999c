"""bandwidth="auto": learners of different scale see the same steps, and the evidence chooses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tgm.config import TGMConfig
from tgm.distributions import FloatArray
from tgm.errors import DataError
from tgm.files.arrays import ANY, LARGEST, LARGEST_POINT, ArrayReader, Arrays, prefixed
from tgm.learners.learner import LearnInfo
from tgm.learners.online import OnlineLearner
from tgm.learners.online_knowledge import OnlineKnowledge
from tgm.learners.step_info import StepInfo
from tgm.perception.component_map import Move
from tgm.structure.scale import Scale

RATIOS = np.geomspace(0.05, 1.2, 10)
"""Candidate widths of a state, over the root mean square change of an observation in a step."""

MEASURE_AT = (1, 2, 4, 8, 16, 32)  # steps at which that change is measured again
SAME_UNIT = 0.2  # a change of its logarithm below this is none
LEAST_UNIT = 1e-6  # of the largest: the change of a feature that never changes
GIVE_UP_FROM = 8  # steps before which no candidate is given up
BEHIND = 12.0  # nats behind the best at which a candidate is given up
LAST_STEP = 200  # the best of those that are left goes on alone
EPISODE_START = -1  # in files, the action of an event that begins an episode


@dataclass(frozen=True, eq=False)
class Event:
    """One thing that happened: an episode began (action None), or a step was taken."""

    point: FloatArray
    action: int | None = None
    reward: float = 0.0
    terminated: bool = False

    def show(self, learner: OnlineLearner) -> StepInfo:
        """Let a learner learn from it."""
        if self.action is None:
            return learner.begin(self.point)
        return learner.observe(self.action, self.reward, self.point, terminated=self.terminated)


class ScaleSearchLearner(OnlineKnowledge):
    """Owner of the candidates and of what they have seen, until one is chosen; then of that one.

    The evidence of a candidate is the density that it gave to each observation before it saw it.
    The unit is the observations' own: nothing depends on whether they are metres or millimetres.
    What is asked is answered by the best candidate so far.
    """

    def __init__(self, n_features: int, n_actions: int, config: TGMConfig) -> None:
        """One candidate, on a scale that will be measured at the first step."""
        self._n_features = n_features
        self._n_actions = n_actions
        self._config = config
        self._events: list[Event] = []
        self._unit: FloatArray | None = None
        self._n_steps = 0
        self.is_over = False
        self.candidates = [self._make(Scale.of_ratio(np.ones(n_features), 1.0))]
        super().__init__(self.best.world, self.best.planner, self.best.filter, config)

    def _make(self, scale: Scale) -> OnlineLearner:
        learner = OnlineLearner(self._n_features, self._n_actions, self._config, scale)
        learner.origin = np.zeros(self._n_features)  # events are about the common origin already
        return learner

    @property
    def best(self) -> OnlineLearner:
        """The candidate with the most evidence."""
        return max(self.candidates, key=lambda learner: learner.log_evidence)

    # --- learning ---------------------------------------------------------------------------------

    def begin(self, observation: FloatArray) -> StepInfo:
        """Learn from the first observation of an episode."""
        if self.origin is None:
            self.origin = observation.copy()
        return self._show(Event(observation - self.origin))

    def observe(
        self, action: int, reward: float, observation: FloatArray, *, terminated: bool
    ) -> StepInfo:
        """Learn from one step."""
        assert self.origin is not None
        return self._show(Event(observation - self.origin, action, reward, terminated))

    def choose(self, n_steps: int, rng: np.random.Generator) -> int:
        """The action to try in the current belief of the best candidate."""
        return self.best.choose(n_steps, rng)

    def end_episode(self) -> None:
        """Nothing to do: the next `begin` says so."""

    def learn(self, moves: tuple[Move, ...], n_evicted: int) -> LearnInfo:
        """A report: the learning was done at every step."""
        return self.best.learn(moves, n_evicted)

    def _show(self, event: Event) -> StepInfo:
        """Let all candidates learn from an event, and give up the hopeless ones."""
        was_over = self.is_over
        if was_over:
            return event.show(self.candidates[0])
        self._events.append(event)
        infos = {id(learner): event.show(learner) for learner in self.candidates}
        if event.action is not None:
            self._n_steps += 1
            infos |= self._compare()
        world_before, best = self.world, self._follow_best()
        if self.is_over:
            self.candidates, self._events = [best], []
            best.settle_scale()
        info = infos[id(best)]
        if best.world is world_before and not self.is_over:
            return info
        # Another candidate has taken over, or its scale was settled: all is different.
        return info._replace(share=0.0, weight=0.0, changed_all=True)

    def _follow_best(self) -> OnlineLearner:
        """Let the best candidate answer what is asked."""
        best = self.best
        self.world, self.planner, self.filter = best.world, best.planner, best.filter
        return best

    def _compare(self) -> dict[int, StepInfo]:
        """Measure the unit when it is time, and give up candidates that are far behind.

        Returns:
            what the newest event did to candidates that were made just now, by their `id`.
        """
        infos = self._measure() if self._n_steps in MEASURE_AT else {}
        if self._n_steps >= GIVE_UP_FROM:
            least = self.best.log_evidence - BEHIND
            self.candidates = [one for one in self.candidates if one.log_evidence >= least]
        decided = len(self.candidates) == 1 or self._n_steps >= LAST_STEP
        self.is_over = decided and self._n_steps >= MEASURE_AT[-1]
        return infos

    def _measure(self) -> dict[int, StepInfo]:
        """Measure the unit; if it is another one, make new candidates and show them all events."""
        changes = [
            after.point - before.point
            for before, after in zip(self._events, self._events[1:], strict=False)
            if after.action is not None
        ]
        unit = np.sqrt(np.mean(np.square(changes), axis=0))
        if unit.max() < 1.0 / LARGEST:  # its square would be no number
            return {}
        unit = np.maximum(unit, LEAST_UNIT * unit.max())
        if self._unit is not None and np.all(np.abs(np.log(unit / self._unit)) < SAME_UNIT):
            return {}
        self._unit = unit
        self.candidates = [self._make(Scale.of_ratio(unit, float(ratio))) for ratio in RATIOS]
        return {
            id(learner): [event.show(learner) for event in self._events][-1]
            for learner in self.candidates
        }

    # --- files ------------------------------------------------------------------------------------

    def to_arrays(self) -> Arrays:
        """The candidates, and what they have seen."""
        if self.origin is None:
            return {}
        points, events = [event.point for event in self._events], self._events
        actions = [EPISODE_START if event.action is None else event.action for event in events]
        arrays = {
            "origin": self.origin,
            "event.point": np.array(points).reshape(len(points), self._n_features),
            "event.action": np.array(actions, np.intp),
            "event.reward": np.array([event.reward for event in events]),
            "event.terminated": np.array([event.terminated for event in events], bool),
            "unit": np.empty(0) if self._unit is None else self._unit,
            "n_steps": np.array([self._n_steps]),
            "is_over": np.array([self.is_over]),
            "n_candidates": np.array([len(self.candidates)]),
        }
        for index, learner in enumerate(self.candidates):
            arrays |= prefixed(f"candidate.{index}", learner.to_arrays())
        return arrays

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave, checked."""
        if saved.is_empty:
            return
        n_features = self._n_features
        self.origin = saved.floats("origin", n_features)
        self._events = self._read_events(saved)
        unit = saved.floats("unit", ANY, low=0.0, size=LARGEST_POINT)
        if len(unit) not in (0, n_features):
            raise DataError(f"array 'unit' has {len(unit)} numbers for {n_features} features")
        self._unit = unit if len(unit) else None
        self._n_steps = saved.count("n_steps")
        self.is_over = bool(saved.flags("is_over", 1)[0])
        n_candidates = saved.count("n_candidates")
        if not 1 <= n_candidates <= (1 if self.is_over else len(RATIOS)):
            raise DataError(f"there are {n_candidates} candidate scales")
        self.candidates = []
        for index in range(n_candidates):
            learner = self._make(Scale.of_ratio(np.ones(n_features), 1.0))
            learner.restore(saved.part(f"candidate.{index}"))
            self.candidates.append(learner)
        self._follow_best()

    def _read_events(self, saved: ArrayReader) -> list[Event]:
        n_actions = self._n_actions
        points = saved.floats("event.point", ANY, self._n_features, size=LARGEST_POINT)
        n = len(points)
        actions = saved.whole("event.action", n, low=EPISODE_START, high=n_actions - 1).tolist()
        rewards = saved.floats("event.reward", n).tolist()
        ended = saved.flags("event.terminated", n).tolist()
        return [
            Event(point, None if action == EPISODE_START else action, reward, end)
            for point, action, reward, end in zip(points, actions, rewards, ended, strict=True)
        ]
