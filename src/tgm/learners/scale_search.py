"""bandwidth="auto": the first steps decide how wide states are, and which features count.

At a few early steps the scale is chosen again (`structure.scale_choice`). If it has changed, a new
learner with the new scale learns from all steps so far, and takes over with the ids of the states
that it has found again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tgm.config import TGMConfig
from tgm.distributions import BoolArray, FloatArray
from tgm.files.arrays import LARGEST_POINT, ArrayReader, Arrays, prefixed
from tgm.learners.events import Event, events_from_arrays, events_to_arrays
from tgm.learners.learner import Learner, LearnInfo
from tgm.learners.online import OnlineLearner
from tgm.learners.online_knowledge import OnlineKnowledge
from tgm.learners.scale_rivals import Rival, best_rival
from tgm.learners.state_names import labels_of, rename
from tgm.learners.step_info import StepInfo
from tgm.learners.world_kinds import KeyedKind, WorldKind, gaussian_kind
from tgm.perception.component_map import Move
from tgm.perception.coordinates import Coordinates
from tgm.perception.feature_kinds import EPISODE_START
from tgm.perception.gaussian_evidence import WIDE_STATES
from tgm.perception.observation_model import NO_STATE, StateId
from tgm.structure.scale import Scale
from tgm.structure.scale_choice import FEATURE_GAIN, ScaleChoice, choose_scale, within_states
from tgm.structure.scale_evidence import FirstSteps

MEASURE_AT = (1, 3, 7, 15, 31, 63)  # steps at which the scale is chosen again
LATER_CHOICES = (127, 255)  # steps for that where states are so wide that some may have been joined
RIVALS_AT = (63, 127, 255, 511)  # steps at which whole learners compete, where states are strained
SAME_SCALE = 0.25  # a change of the logarithm of a deviation below this is none
WATCHED = RIVALS_AT[-1] + 1  # steps in which a feature that was left out may still come back
SURPRISING = 5.0  # deviations from its common mean at which such a feature is looked at again
OTHER_SCALE = "another scale explains the observations"
RECENT_EVENTS = 128  # events that decide whether it is relevant
FEW_AT_ONCE = 2  # features that come back at once: each must only be better than chance


class ScaleSearchLearner(OnlineKnowledge):
    """Owner of the first events until the scale is settled, and of the learner that goes on.

    The unit is the observations' own: nothing depends on whether they are metres or millimetres.
    With `has_key` the first number of a point is a key, which has no scale.
    """

    def __init__(
        self, n_features: int, n_actions: int, config: TGMConfig, *, has_key: bool = False
    ) -> None:
        """One learner, on a scale that will be measured at the first step."""
        self._n_keys = int(has_key)
        self._n_features = n_features
        self._n_actions = n_actions
        self._config = config
        self._events: list[Event] = []
        self._names: list[StateId] = []  # the state of each event
        self._rivals: list[Rival] = []  # that lost the last competition: they may compete again
        self.choice: ScaleChoice | None = None
        self._n_steps = 0
        self._strained = np.zeros(n_features - self._n_keys, dtype=bool)  # see `Rival.strained`
        self._came_back = np.zeros_like(self._strained)  # features, since the scale was measured
        self.is_over = False
        self.watched = WATCHED  # more where places look alike: there a feature may matter late
        self.learner = self._make(None)
        super().__init__(self.learner.world, self.learner.planner, self.learner.filter, config)

    def _make(self, choice: ScaleChoice | None) -> OnlineLearner:
        """A learner that knows nothing, in the relevant features of a scale."""
        if choice is None:
            deviation = step = np.ones(self._n_features)
        else:
            relevant = choice.relevant
            key = np.ones(self._n_keys)
            deviation = np.concatenate([key, choice.deviation[relevant]])
            step = np.concatenate([key, choice.typical_step[relevant]])
        kind: WorldKind = KeyedKind() if self._n_keys else gaussian_kind(len(deviation))
        scale = Scale.of_deviations(deviation, step)
        return OnlineLearner(len(deviation), self._n_actions, self._config, scale, kind)

    # --- learning ---------------------------------------------------------------------------------

    def begin(self, observation: FloatArray) -> StepInfo:
        """Learn from the first observation of an episode."""
        if self.is_over:
            return self.learner.begin(observation)
        return self._show(Event(observation.copy()))

    def observe(
        self, action: int, reward: float, observation: FloatArray, *, terminated: bool
    ) -> StepInfo:
        """Learn from one step."""
        if self.is_over:
            return self.learner.observe(action, reward, observation, terminated=terminated)
        return self._show(Event(observation.copy(), action, reward, terminated))

    def choose(self, n_steps: int, rng: np.random.Generator) -> int:
        """The action to try in the current belief."""
        return self.learner.choose(n_steps, rng)

    def end_episode(self) -> None:
        """Nothing to do: the next `begin` says so."""

    def learn(self, moves: tuple[Move, ...], n_evicted: int) -> LearnInfo:
        """A report: the learning was done at every step."""
        return self.learner.learn(moves, n_evicted)

    @property
    def active(self) -> Learner:
        """The learner alone, once the scale is settled."""
        return self.learner if self.is_over else self

    def _show(self, event: Event) -> StepInfo:
        """Learn from an event, and choose the scale again when it is time."""
        info = event.show(self.learner)
        self.coordinates = self.learner.coordinates
        self._events.append(event)
        self._names.append(info.state)
        if event.action is None:
            return info
        self._n_steps += 1
        rival = self._rival(event)
        if rival is not None:
            info = self._everything(info, self._take_over(rival))
        self._end_if_over()
        return info

    def _rival(self, event: Event) -> Rival | None:
        """Another scale and its learner, if it is time to choose and another one is better."""
        if self._n_steps in MEASURE_AT or (self._n_steps in LATER_CHOICES and self._is_wide):
            choice = self._measured()
        elif self._n_steps == RIVALS_AT[-1] and self._came_back.any():
            choice = self._without_chance()
        else:
            choice = self._watched(event)
        proposed = None if choice is None else self._learned(choice)
        if self._n_steps not in RIVALS_AT or self.choice is None:
            return proposed
        return self._winner(Rival(self.choice, self.learner, self._names), proposed)

    def _winner(self, now: Rival, proposed: Rival | None) -> Rival | None:
        """The scale that wins where whole learners compete, if it is not the one of now."""
        strained, winner = (proposed or now).strained, proposed
        rivals: list[Rival] = []

        def learn(choice: ScaleChoice) -> Rival:
            rivals.append(self._learned(choice))
            return rivals[-1]

        if strained.any():
            steps = self._first_steps(self._events)
            if proposed is None:
                proposed = self._as_wide_as_found(now.choice, steps)
            winner = best_rival(now, proposed, strained, steps, learn)
        self._rivals = rivals
        self._strained = (winner or now).strained
        return winner

    def _as_wide_as_found(self, choice: ScaleChoice, steps: FirstSteps) -> Rival | None:
        """The scale that the observations have within the states found, if it is another one."""
        found = replace(choice, deviation=within_states(steps, labels_of(self._names)))
        return self._learned(found) if found.differs(choice, SAME_SCALE) else None

    def _end_if_over(self) -> None:
        """Let the events go when nothing can be decided by them any more."""
        assert self.coordinates is not None
        all_count = self.coordinates.chosen is None
        is_sure = all_count and not self._is_wide and not self._strained.any()
        watched = WATCHED if all_count else self.watched  # where nothing can come back: not longer
        if (is_sure and self._n_steps >= MEASURE_AT[-1]) or self._n_steps >= watched:
            self.is_over = True
            self._events, self._names, self._rivals = [], [], []

    @property
    def is_strained(self) -> bool:
        """Whether states may have joined places, and narrower ones will still compete."""
        will_compete = not self.is_over and self._n_steps < RIVALS_AT[-1]
        return will_compete and bool(self._strained.any())

    @property
    def _is_wide(self) -> bool:
        """Whether neighbouring places overlap so much that it takes longer to tell them apart."""
        return self.choice is not None and self.choice.width > WIDE_STATES

    def _everything(self, info: StepInfo, moves: tuple[Move, ...]) -> StepInfo:
        """What a step did that made another learner take over."""
        newest, ids = self.learner.world.belief, self.world.states.ids
        belief = tuple((StateId(ids.item(slot)), p) for slot, p in newest)
        state = belief[0][0] if belief else NO_STATE
        return StepInfo(
            state, info.log_density, belief=belief, moves=info.moves + moves, changed_all=True
        )

    def _measured(self) -> ScaleChoice | None:
        """The scale by the evidence of all events, if it is another one."""
        steps = self._first_steps(self._events)
        if not steps.has_moved:
            return None
        choice = choose_scale(steps, self.choice, labels_of(self._names))
        self._came_back[:] = False
        if self.choice is not None and not choice.differs(self.choice, SAME_SCALE):
            return None
        return choice

    def _watched(self, event: Event) -> ScaleChoice | None:
        """The scale with features that were left out and that an event does not fit, if any."""
        if self.choice is None or self.coordinates is None:
            return None
        off = np.square(event.point - self.coordinates.common_mean)
        is_far = off > SURPRISING**2 * self.coordinates.common_variance
        features = np.flatnonzero(is_far[self._n_keys :] & ~self.choice.relevant)
        newest = self.learner.world.newest
        if not len(features) or newest is None or newest.is_outlier:
            return None
        # A faulty reading shows in many features, a place that was never seen in one or two.
        needed = 0.0 if len(features) <= FEW_AT_ONCE else FEATURE_GAIN
        recent = self._first_steps(self._events[-RECENT_EVENTS:])
        choice = self.choice.with_features(recent, features, needed)
        self._came_back |= choice.relevant & ~self.choice.relevant
        return choice if choice.differs(self.choice, SAME_SCALE) else None

    def _without_chance(self) -> ScaleChoice | None:
        """The scale without features that came back by chance, if there are any."""
        assert self.choice is not None
        features, steps = np.flatnonzero(self._came_back), self._first_steps(self._events)
        choice = self.choice.without_features(steps, features)
        return choice if 0 < choice.relevant.sum() < self.choice.relevant.sum() else None

    def _learned(self, choice: ScaleChoice) -> Rival:
        """A learner with this scale that has learned from all events.

        One that has lost before goes on from there; that is the same to the bit, and costs half.
        """
        before = next((rival for rival in self._rivals if rival.choice.is_like(choice)), None)
        learner, names = (before.learner, before.names) if before else (self._make(choice), [])
        is_usual = self._first_steps(self._events).is_usual
        points = np.array([event.point for event in self._events])[is_usual]
        learner.coordinates = Coordinates(
            self._events[0].point,
            self._relevant(choice),
            points.mean(axis=0),
            points.var(axis=0),
        )
        later = [event.show(learner).state for event in self._events[len(names) :]]
        return Rival(choice, learner, names + later)

    def _take_over(self, rival: Rival) -> tuple[Move, ...]:
        """Let another learner answer from now on.

        Returns the births and removals of states by it.
        """
        self.choice, learner, names = rival.choice, rival.learner, rival.names
        self._rivals = [other for other in self._rivals if other.learner is not learner]
        before = set(self.state_ids.tolist())
        known = [name if name in before else NO_STATE for name in self._names]
        self._names = rename(learner, names, known, self.learner.world.states.next_id)
        self._follow(learner)
        after = set(self.state_ids.tolist())
        gone = [Move("removal", (name,), OTHER_SCALE) for name in sorted(before - after)]
        return (*gone, *(Move("birth", (name,), OTHER_SCALE) for name in sorted(after - before)))

    def _relevant(self, choice: ScaleChoice | None) -> BoolArray:
        """(n_features,) the features that a scale uses; a key always."""
        relevant = np.ones(self._n_features, dtype=bool)
        if choice is not None:
            relevant[self._n_keys :] = choice.relevant
        return relevant

    def _first_steps(self, events: list[Event]) -> FirstSteps:
        """Some events, without their keys."""
        return FirstSteps(
            np.array([event.point[self._n_keys :] for event in events]),
            np.array([EPISODE_START if event.action is None else event.action for event in events]),
        )

    def take_over(self, choice: ScaleChoice, fill: Callable[[OnlineLearner], None]) -> None:
        """End the search with a scale and a learner that `fill` has taught."""
        learner = self._make(choice)
        fill(learner)
        self.choice, self.is_over, self._n_steps = choice, True, learner.n_steps
        self._follow(learner)

    def _follow(self, learner: OnlineLearner) -> None:
        self.learner, self.coordinates = learner, learner.coordinates
        self.world, self.planner, self.filter = learner.world, learner.planner, learner.filter

    # --- files ------------------------------------------------------------------------------------

    def to_arrays(self) -> Arrays:
        """The learner, and the events if the search goes on."""
        if self.coordinates is None:
            return {}
        arrays = {
            **prefixed("event", events_to_arrays(self._events, self._n_features)),
            "event.state": np.array(self._names, np.intp),
            "n_steps": np.array([self._n_steps]),
            "is_over": np.array([self.is_over]),
            "strained": self._strained,
            "came_back": self._came_back,
            **prefixed("learner", self.learner.to_arrays()),
        }
        if self.choice is not None:
            arrays |= prefixed("choice", self.choice.to_arrays())
        return arrays

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave, checked."""
        if saved.is_empty:
            return
        self._events = events_from_arrays(
            saved.part("event"), self._n_features, self._n_actions, LARGEST_POINT
        )
        n_states = saved.whole("event.state", len(self._events), low=NO_STATE)
        self._names = [StateId(name) for name in n_states.tolist()]
        self._n_steps = saved.count("n_steps")
        self.is_over = bool(saved.flags("is_over", 1)[0])
        self._strained = saved.flags("strained", self._n_features - self._n_keys)
        self._came_back = saved.flags("came_back", self._n_features - self._n_keys)
        if not saved.part("choice").is_empty:
            self.choice = ScaleChoice.from_arrays(
                saved.part("choice"), self._n_features - self._n_keys
            )
        learner = self._make(self.choice)
        learner.restore(saved.part("learner"), self._relevant(self.choice))
        self._follow(learner)
