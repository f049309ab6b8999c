"""Do all exact features matter? The first events decide; soon, where hardly a symbol repeats.

A clock, or an echo of what was seen before, does not matter as long as nothing is seen to depend
on it.
"""

from __future__ import annotations

import numpy as np

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.errors import DataError
from tgm.files.arrays import ArrayReader, Arrays
from tgm.learners.events import Event, events_from_arrays, events_to_arrays
from tgm.learners.learner import Learner
from tgm.perception.clocks import clocks, echoes, nats_of_labels, nats_of_time
from tgm.perception.coordinates import Coordinates
from tgm.perception.exact_relevance import RELEVANCE_NEEDED, ExactSteps, label, noise_features
from tgm.perception.feature_kinds import EPISODE_START, are_seldom_states

CLOCKS_AT = 16  # observations after which clocks are left out, as kinds are judged then
EXACT_AT = (64, 128, 256)  # observations after which it is decided; then all that is left matters.
# Where symbols are seen again only the last one counts: that is soon enough.
OF_MISREADING = 0.05  # nats a step for the time that say nothing where places are misread: mazes
# with noise of 0.25 and 0.3 have up to 0.02; 0.09 and more where the time exchanges all actions
RECALL_AT = (512, 1024)  # observations after which it is decided again what was left out


class ExactTrial:
    """The first events.

    Attributes:
        events: in order of time.
        left_out: (n_features,) exact features that do not matter.
        is_over: whether the events are of no more use.
    """

    def __init__(self, n_features: int, n_actions: int) -> None:
        """Nothing happened yet."""
        self._n_features, self._n_actions = n_features, n_actions
        self.events: list[Event] = []
        self.left_out = np.zeros(n_features, dtype=bool)
        self.is_over = False

    def add(self, event: Event, is_exact: BoolArray, learner: Learner) -> bool:
        """Add an event; returns whether other features are left out now.

        Args:
            event: a step, or the beginning of an episode.
            is_exact: (n_features,) as it is believed now.
            learner: of the events before.
        """
        self.events.append(event.kept())
        n, before = len(self.events), self.left_out
        if n == CLOCKS_AT or n in EXACT_AT or (n in RECALL_AT and before.any()):
            known = self._foreknown(is_exact, learner)
            self.left_out = known
            if n != CLOCKS_AT:
                self.left_out = known | self._judged(is_exact & ~known, before)
        self.is_over = n >= (RECALL_AT if self.left_out.any() else EXACT_AT)[-1]
        return bool((self.left_out != before).any())

    def _foreknown(self, is_exact: BoolArray, learner: Learner) -> BoolArray:
        """(n_features,) clocks and echoes on which nothing depends, if anything else varies."""
        points, actions = self._lived()
        lived = actions[1:] != EPISODE_START
        departure, arrival = points[:-1][lived], points[1:][lived]
        is_clock, lag = clocks(departure, arrival), echoes(departure, arrival)
        found = is_clock | (lag > 0)
        rest = points[:, ~found & ~self.left_out]
        if not found.any() or not (rest != rest[:1]).any():
            return np.zeros(self._n_features, dtype=bool)
        if len(points) == CLOCKS_AT:
            return found
        if (is_exact | found).all():
            states, needed = np.unique(rest, axis=0, return_inverse=True)[1], RELEVANCE_NEEDED
        elif self.left_out[found].all():
            states = learner.belief(points).argmax(axis=1)
            needed = max(RELEVANCE_NEEDED, OF_MISREADING * len(points))
        else:  # states that know the time do not say what depends on it
            return found & self.left_out
        seen = np.asarray(states, dtype=np.float64).reshape(-1, 1)
        steps = self._steps(seen, actions).chosen(lived)
        for one in np.flatnonzero(is_clock).tolist():
            time = departure[:, one] * np.sign(arrival[0, one] - departure[0, one])
            found[one] = nats_of_time(steps, time) <= needed
        for one in np.unique(lag[lag > 0]).tolist():
            heard = [label(_before(seen[:, 0], actions, one)[:-1][lived])]
            found[lag == one] = nats_of_labels(steps, heard, steps.ended) <= needed
        return found

    def _judged(self, is_exact: BoolArray, before: BoolArray) -> BoolArray:
        """The features that are noise, by all events.

        Args:
            is_exact: (n_features,)
            before: (n_features,) those that were left out until now.
        """
        points, actions = self._lived()
        nothing = np.zeros(self._n_features, dtype=bool)
        before = before & is_exact
        has_left_out = bool(before.any())
        is_soon = has_left_out or are_seldom_states(points[:, is_exact], actions.tolist())
        may_grow = len(points) == EXACT_AT[-1] or (is_soon and len(points) < EXACT_AT[-1])
        if not may_grow and not has_left_out:
            return nothing
        steps, left_out = self._steps(points[:, is_exact], actions), nothing.copy()
        left_out[is_exact] = noise_features(steps, before[is_exact], may_grow=may_grow)
        kept = points[:, ~left_out]
        # Symbols that are seen again are states of little cost: one state for all would not be.
        return left_out if is_soon or np.any(kept != kept[0]) else nothing

    def _lived(self) -> tuple[FloatArray, IntArray]:
        """All points, and the actions before them; EPISODE_START where an episode began."""
        return np.array([event.point for event in self.events]), np.array(
            [EPISODE_START if event.action is None else event.action for event in self.events]
        )

    def _steps(self, points: FloatArray, actions: IntArray) -> ExactSteps:
        """All steps; from the start of an episode to that of the next one is one too."""
        starts = np.flatnonzero(actions == EPISODE_START)
        before = np.arange(len(points)) - 1
        before[starts[1:]] = starts[:-1]
        return ExactSteps(
            points[before[1:]],
            actions[1:],
            np.array([event.reward for event in self.events[1:]]),
            points[1:],
            np.array([event.terminated for event in self.events[1:]], dtype=bool),
        )

    def use(self) -> Coordinates:
        """The features that matter, and one common mean and variance of each of the others."""
        points = np.array([event.point for event in self.events])
        origin = np.zeros(self._n_features)
        return Coordinates(origin, ~self.left_out, points.mean(axis=0), points.var(axis=0))

    def to_arrays(self) -> Arrays:
        """The events; what is left out is a part of the owner's arrays."""
        return events_to_arrays(self.events, self._n_features)

    def restore(self, saved: ArrayReader, use: Coordinates | None) -> None:
        """Take over what `to_arrays` gave, checked."""
        self.events = events_from_arrays(saved, self._n_features, self._n_actions)
        if (
            not self.events
            or self.events[0].action is not None
            or len(self.events) >= RECALL_AT[-1]
        ):
            raise DataError("array 'exact.action' does not begin with an episode, or is too long")
        if use is not None:
            self.left_out = ~use.relevant


def _before(states: FloatArray, actions: IntArray, lag: int) -> FloatArray:
    """(n,) the state so many events ago; the first of its episode where there was none."""
    at = np.arange(len(states))
    begun = np.maximum.accumulate(np.where(actions == EPISODE_START, at, 0))
    return np.asarray(states[np.maximum(at - lag, begun)])
