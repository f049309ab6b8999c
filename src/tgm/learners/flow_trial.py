"""Cells or laws of displacement: the one that predicts the first steps better is used.

The trial does not change the learner of cells. Its predictive density of each observation is
compared with that by laws.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaln

from tgm.config import TGMConfig
from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.distributions.linear_gaussian import log_evidence_of_points
from tgm.distributions.threads import one_thread
from tgm.errors import DataError
from tgm.files.arrays import LARGEST_SUM, ArrayReader, Arrays
from tgm.learners.events import Event, events_from_arrays, events_to_arrays
from tgm.transition.flow_law import (
    LEAST_LAW_NOISE,
    FlowLaw,
    best_shape,
    bump_centres,
    typical,
)
from tgm.transition.flow_model import FlowModel
from tgm.transition.flow_noise import with_noise
from tgm.transition.flow_relations import FLAG_VALUES, are_told, clock_of
from tgm.transition.flow_smoothing import follows
from tgm.transition.flow_units import FlowUnits, Steps

WEIGHED_FROM = 32  # steps after which predictions count: before, the scale of cells is not known
LAWS_AT = (48, 96, 160, 320, 480)  # steps at which both are compared; then cells have won
LAWS_NEEDED = 100.0  # nats by which laws must win
NEEDED_PER_STEP = 2.0  # nats by which laws must win, for each step: 11 to 30 where worlds flow
LESS_FROM = 320  # steps from which less is needed, because cells are known by then
LATE_PER_STEP = 1.2  # nats for each step since the last look before that: noise hides laws
OF_NOISE = 0.33  # nats of these that noise must explain: mazes 0.31 at most, 0.4 where worlds flow
TINIEST = 1e-50  # least span of a feature, and inverse of the widest, that are compared
MOST_FLOWING = 12  # features of a world that may flow


def may_flow(n_features: int, config: TGMConfig) -> bool:
    """Whether laws may compete: not if settings of cells were given."""
    is_default = config.max_states is None and config.half_life is None
    is_default = is_default and config.exploration == "optimism" and config.filtering
    return config.bandwidth == "auto" and is_default and n_features <= MOST_FLOWING


class FlowTrial:
    """The first events, and how the learner of cells predicted them.

    Attributes:
        events: in order of time.
        is_over: whether laws have lost.
    """

    def __init__(self, n_features: int, n_actions: int) -> None:
        """Nothing happened yet."""
        self._n_features, self._n_actions = n_features, n_actions
        self.events: list[Event] = []
        self._log_densities: list[float] = []
        self._relevant = np.ones(n_features, dtype=bool)  # features of the newest density
        self._is_exact = np.zeros(n_features, dtype=bool)  # as it is believed now
        self._same_from = 0  # step from which on densities are of those features
        self._n_steps = 0
        self._before = 0.0, 0  # gain and number of steps compared at the last look
        self.is_over = False

    def add(
        self,
        event: Event,
        log_density: float,
        relevant: BoolArray,
        is_exact: BoolArray | None = None,
    ) -> bool:
        """Add an event with ln density of its point by cells; returns whether laws have won.

        Args:
            event: a step, or the beginning of an episode.
            log_density: of its point.
            relevant: (n_features,) which features that density is of.
            is_exact: (n_features,) which of them are names, of which laws say nothing; by default
                none.
        """
        self._is_exact = np.zeros(self._n_features, bool) if is_exact is None else is_exact
        self.events.append(event.kept())
        self._log_densities.append(log_density)
        self._n_steps += event.action is not None
        if (relevant != self._relevant).any():  # the density is still of the features before
            self._relevant, self._same_from = relevant.copy(), self._n_steps
            self._before = 0.0, 0
        if event.action is None:
            return False
        if self._n_steps not in LAWS_AT:
            return False
        if self._is_exact.all():
            self.is_over = self._n_steps == LAWS_AT[-1]
            return False
        try:
            with one_thread():
                return self._look(relevant)
        except np.linalg.LinAlgError:  # numbers too far apart for laws
            self.is_over = self._n_steps > LAWS_AT[0]
            return False

    def _look(self, relevant: BoolArray) -> bool:
        """Compare what was predicted until now; returns whether laws have won.

        Cells that are still discovered predict little, so that laws may be ahead for a while:
        they have lost as soon as they predict worse than cells since the look before. With noise of
        observations they are ahead by less, and for ever; without it they win early or not.
        """
        gain, n_compared = self.gain(relevant)
        if self._n_steps < LESS_FROM and gain > max(LAWS_NEEDED, NEEDED_PER_STEP * n_compared):
            return True
        ahead, n_ahead = gain - self._before[0], n_compared - self._before[1]
        # Not where nothing could be compared, and not where it is late.
        if gain > -np.inf and self._n_steps < LESS_FROM:
            self._before = gain, n_compared
        if self._n_steps == LAWS_AT[0]:
            return False
        self.is_over = self._n_steps == LAWS_AT[-1] or not ahead > 0.0
        if self._n_steps < LESS_FROM or not ahead > 0.0:
            return False
        of_noise = self.gain_of_noise() if not (self._is_exact & relevant).any() else 0.0
        return of_noise > OF_NOISE and ahead / n_ahead + of_noise > LATE_PER_STEP

    def gain_of_noise(self) -> float:
        """Nats for each step that laws gain if they know of noise of observations."""
        steps = _of_features(self.steps(), ~self._is_exact)
        local = FlowUnits.of_features(steps).seen(steps)
        model = FlowModel.of(local, self._n_actions)
        found = with_noise(model, local, follows(steps))
        return 0.0 if found is None else found[1] / len(steps.action)

    def gain(self, relevant: BoolArray) -> tuple[float, int]:
        """Nats by which laws predict better, and the number of steps that are compared.

        Beside laws an exact feature is a flag that seldom changes. One of two values that amounts
        do not tell is a coordinate too, and changes as actions and its value say.
        """
        steps, is_exact = self.steps(), self._is_exact
        flags = np.flatnonzero(is_exact & relevant & (np.ptp(steps.points, axis=0) > 0.0))
        untold = _untold(steps, ~is_exact, flags)
        if len(flags) and untold is None:
            return -np.inf, 0
        is_step = np.array([event.action is not None for event in self.events])
        first = max(WEIGHED_FROM, self._same_from)
        cells = np.array(self._log_densities)[is_step][first:]
        nothing = np.zeros(len(steps.action), dtype=np.intp)
        changes = 0.0
        for flag in flags.tolist():
            rows = _rows_of(steps, flag) if flag in (untold or ()) else nothing
            changes += sum(_log_changes(steps, flag, first, rows == row) for row in np.unique(rows))
        used = ~is_exact | ~relevant | np.isin(np.arange(len(is_exact)), untold or ())
        steps, relevant = _of_features(steps, used), (relevant & ~is_exact)[used]
        units = FlowUnits.of_features(steps)
        span = np.diag(units.axes)
        local = units.seen(steps)
        moved = local.arrival - local.departure
        compared = relevant & (np.ptp(steps.departure, axis=0) > 0.0) & moved.any(axis=0)
        is_plain = bool(((span > TINIEST) & (span < 1.0 / TINIEST)).all())
        if not compared.any() or not is_plain or not len(cells):
            return -np.inf, len(cells)
        centres = bump_centres(local.departure)
        shape = best_shape(local, centres, self._n_actions)[0]
        unit = typical(moved)
        law = FlowLaw(shape, centres, unit, self._n_actions)
        inputs = law.inputs(local.departure, local.action)
        gram = (inputs / law.prior.precision) @ inputs.T
        targets = (moved / unit)[:, compared]
        later = _evidence(gram, targets) - _evidence(gram, targets, first)
        volume = float(np.log(unit * span)[compared].sum())
        later += changes - len(cells) * volume
        return later - float(cells.sum()), len(cells)

    def steps(self) -> Steps:
        """The events that are steps, with where each began."""
        rows = [
            (before.point, event.action, event.reward, event.point, event.terminated)
            for before, event in zip(self.events, self.events[1:], strict=False)
            if event.action is not None
        ]
        departure, action, reward, arrival, ended = zip(*rows, strict=True)
        return Steps(
            np.array(departure), np.array(action), np.array(reward), np.array(arrival),
            np.array(ended, dtype=bool),
        )  # fmt: skip

    def to_arrays(self) -> Arrays:
        """Everything."""
        densities = {
            "log_density": np.array(self._log_densities),
            "before": np.array(self._before, dtype=np.float64),
            "relevant": self._relevant,
            "same_from": np.array([self._same_from]),
        }
        return events_to_arrays(self.events, self._n_features) | densities

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave, checked."""
        self.events = events_from_arrays(saved, self._n_features, self._n_actions)
        if self.events and self.events[0].action is not None:
            raise DataError("array 'trial.action' does not begin with an episode")
        n = len(self.events)
        self._log_densities = saved.floats("log_density", n, size=LARGEST_SUM).tolist()
        self._n_steps = sum(event.action is not None for event in self.events)
        gain, n_compared = saved.floats("before", 2, size=LARGEST_SUM).tolist()
        self._before = gain, int(n_compared)
        self._relevant = saved.flags("relevant", self._n_features)
        self._same_from = min(saved.count("same_from"), self._n_steps)


def _evidence(gram: FloatArray, targets: FloatArray, n: int | None = None) -> float:
    """ln evidence of the first n points; of all if it is not given."""
    scale, dof = np.full(targets.shape[1], LEAST_LAW_NOISE**2), targets.shape[1] + 1.0
    return log_evidence_of_points(gram[:n, :n], targets[:n], scale, dof)


def _untold(steps: Steps, amounts: BoolArray, flags: IntArray) -> list[int] | None:
    """The flags that amounts (n_features,) do not tell; None if one of them is no coordinate.

    A clock alone makes no world that flows.
    """
    amounts = amounts & (np.arange(len(amounts)) != clock_of(steps))
    seen = steps.points
    if not amounts.any():
        return None
    found = [one for one in flags.tolist() if not are_told(seen[:, one], seen[:, amounts])]
    return found if all(len(np.unique(seen[:, one])) <= FLAG_VALUES for one in found) else None


def _rows_of(steps: Steps, flag: int) -> IntArray:
    """(n,) a number for each combination of action and value of a flag."""
    value = steps.departure[:, flag]
    return np.asarray(2 * steps.action + (value == value.max()), dtype=np.intp)


def _of_features(steps: Steps, which: BoolArray) -> Steps:
    """Steps as some features (n_features,) show them."""
    return steps._replace(departure=steps.departure[:, which], arrival=steps.arrival[:, which])


def _log_changes(steps: Steps, flag: int, first: int, chosen: BoolArray) -> float:
    """ln evidence of whether a flag changed, and to what, at chosen steps after the first ones."""
    changed = (steps.departure[:, flag] != steps.arrival[:, flag])[chosen]
    n_values = len(np.unique(steps.points[:, flag]))
    n_first = int(chosen[:first].sum())
    n_before, n_after = changed[:n_first].sum(), changed.sum()
    found = betaln(0.5 + n_after, 0.5 + len(changed) - n_after)
    found -= betaln(0.5 + n_before, 0.5 + n_first - n_before)
    return float(found - (n_after - n_before) * np.log(max(1, n_values - 1)))
