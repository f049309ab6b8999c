"""The evidence of scales: how well states of a given width explain the first steps of a run.

A small version of the model, with sure assignments, learns from the steps once for each candidate,
all candidates in one array operation. It decides how wide states are and which features tell them
apart before there is a learner that could be asked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.inference.filtering import NOTHING
from tgm.inference.step_filter import ANYWHERE, ELSEWHERE, NEW, STAY
from tgm.perception.feature_kinds import EPISODE_START
from tgm.structure.first_laws import FirstLaws, exp_below
from tgm.structure.first_states import FirstStates
from tgm.transition.displacements import BROAD_DOF, FARTHEST_STEP

ROW_TRIES = 0.5  # tries that the base of a row is worth
OUTLIER_SHARE = 0.01  # probability of an observation that belongs to no state
ABSURD = 0.05  # of the steps may lead absurdly far without being typical
FEW_ABSURD = 3  # times as many steps are needed to tell which are absurd
MOST_ROUNDS = 5  # rounds in which outliers that hid behind others are found
LEAST_STEP = 1e-65  # of an observation that has moved; the square of its inverse is a number
LEAST_REACH = 1e-6  # of the largest: the typical step of a feature that never changes


@dataclass(frozen=True, eq=False)
class FirstSteps:
    """The observations of the first steps of a run, with the actions between them.

    Attributes:
        points: (n, n_features) observations, in order.
        actions: (n,) the action before each; EPISODE_START for the first of an episode.
    """

    points: FloatArray
    actions: IntArray

    @cached_property
    def reach(self) -> FloatArray:
        """(n_features,) root mean square of the change of each feature in a step."""
        steps = np.abs(np.diff(self.points, axis=0)[self.actions[1:] != EPISODE_START])
        if not len(steps):
            return np.zeros(self.points.shape[1])
        # An outlier is two changes. A few of them count as far as is usual times FARTHEST_STEP.
        n_absurd = 2 * (1 + int(ABSURD * len(steps)))
        if len(steps) > FEW_ABSURD * n_absurd:
            usual = np.partition(steps, -1 - n_absurd, axis=0)[-1 - n_absurd]
            steps = np.where(usual > 0, np.minimum(steps, FARTHEST_STEP * usual), steps)
        return np.asarray(np.sqrt(np.mean(np.square(steps), axis=0)))

    @property
    def has_moved(self) -> bool:
        """Whether any feature has ever changed, so that there is something to measure."""
        return float(self.reach.max(initial=0.0)) > LEAST_STEP

    @cached_property
    def typical_step(self) -> FloatArray:
        """(n_features,) the reach of each feature, above zero."""
        return np.asarray(np.maximum(self.reach, LEAST_REACH * self.reach.max()))

    @cached_property
    def common(self) -> FloatArray:
        """(n, n_features) ln density of each value if a feature looks the same in every state.

        Each is the predictive Student t of a normal-gamma, given the values before, or, with the
        probability of an outlier, a broad one; the first has none.
        """
        return _after_the_first(np.logaddexp(*self._common_parts))

    @cached_property
    def common_outlier(self) -> FloatArray:
        """(n, n_features) ln density of each value if the observation is an outlier."""
        return _after_the_first(self._common_parts[1] - math.log(OUTLIER_SHARE))

    def log_common(self, features: BoolArray) -> FloatArray:
        """(n,) ln density of the values of features that look the same in every state.

        A faulty reading is one in all features; it is one for them together.
        """
        if not features.any():
            return np.zeros(len(self.points))
        outlier = math.log(OUTLIER_SHARE) + self.common_outlier[:, features].sum(axis=1)
        both = np.logaddexp(self.common[:, features].sum(axis=1), outlier)
        both[0] = 0.0
        return np.asarray(both)

    @cached_property
    def is_usual(self) -> BoolArray:
        """(n,) observations that the common densities are learned from.

        Not those that, given all, are more likely outliers: one at the beginning would make
        everything look usual. A faulty reading is one in all features; one feature alone, however
        far from usual, may show a place that was hardly seen.
        """
        offset, least = self.points - self.points[0], math.log(OUTLIER_SHARE)
        is_usual = np.ones(len(offset), dtype=bool)
        for _ in range(MOST_ROUNDS):
            seen, total, square = (values[-1:] for values in _sums(offset, is_usual[:, None]))
            usual, broad = self._log_common(offset, seen, total, square)
            odds = np.maximum(usual - broad + least, least).sum(axis=1)
            before, is_usual = is_usual, np.asarray(odds > least)
            if (is_usual == before).all():
                break
        return is_usual if is_usual.any() else np.ones_like(is_usual)

    @cached_property
    def _common_parts(self) -> tuple[FloatArray, FloatArray]:
        """(n - 1, n_features) ln of what is usual and of what is broad in the common density."""
        offset = self.points - self.points[0]
        seen, total, square = (values[:-1] for values in _sums(offset, self.is_usual[:, None]))
        return self._log_common(offset[1:], seen, total, square)

    def _log_common(
        self, values: FloatArray, seen: FloatArray, total: FloatArray, squares: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """(n, n_features) both parts, given the number of values seen, their sum and squares."""
        seen, step = np.maximum(1.0, seen), self.typical_step
        mean = total / seen
        scatter = squares - seen * mean**2
        dof = seen + 1.0
        square = (step**2 + np.maximum(scatter, 0.0)) / dof * (1.0 + 1.0 / seen)
        z = (values - mean) ** 2 / (dof * square)
        density = (
            gammaln((dof + 1) / 2)
            - gammaln(dof / 2)
            - 0.5 * np.log(dof * math.pi * square)
            - 0.5 * (dof + 1) * np.log1p(z)
        )
        outlier = math.log(OUTLIER_SHARE) + _log_student((values - mean) / step) - np.log(step)
        return math.log1p(-OUTLIER_SHARE) + density, outlier


def _sums(values: FloatArray, counts: BoolArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(n, n_features) number, sum and sum of squares of the values so far that count."""
    counted = np.where(counts, values, 0.0)
    return (
        np.cumsum(counts, axis=0, dtype=np.float64),
        np.cumsum(counted, axis=0),
        np.cumsum(np.square(counted), axis=0),
    )


def _after_the_first(densities: FloatArray) -> FloatArray:
    """(n, n_features) of (n - 1, n_features): the first value has none."""
    return np.concatenate([np.zeros((1, densities.shape[1])), densities])


def _log_student(z: FloatArray) -> FloatArray:
    """ln density of the Student t of displacements, in one feature."""
    peak = math.lgamma((BROAD_DOF + 1) / 2) - math.lgamma(BROAD_DOF / 2)
    peak -= 0.5 * math.log(BROAD_DOF * math.pi)
    return np.asarray(peak - 0.5 * (BROAD_DOF + 1) * np.log1p(z**2 / BROAD_DOF))


@dataclass(frozen=True, eq=False)
class Fit:
    """What each of `n_candidates` scales makes of the steps.

    Attributes:
        log_evidence: (n_candidates,) ln density of all observations but the first, each given those
            before.
        labels: (n_candidates, n) the state of each observation.
        n_states: (n_candidates,) number of states.
    """

    log_evidence: FloatArray
    labels: IntArray
    n_states: IntArray


def evidence_of(steps: FirstSteps, deviation: FloatArray, relevant: BoolArray) -> Fit:
    """The evidence of candidates that share their relevant features.

    Args:
        steps: what was seen.
        deviation: (n_candidates, n_features) standard deviations of observations within a state.
        relevant: (n_features,) those that tell states apart; the others have one common density.
    """
    deviation = deviation[:, relevant].T
    points = steps.points[:, relevant, None] / deviation
    common = None
    if not relevant.all():
        densities = steps.common, steps.common_outlier
        common = np.array([values[:, ~relevant].sum(axis=1) for values in densities])
    reach = steps.typical_step[relevant, None] / deviation
    return _run(points, deviation, reach, steps.actions, common)


def evidence_of_each(
    steps: FirstSteps, ratios: FloatArray, features: IntArray | None = None
) -> tuple[FloatArray, Fit]:
    """The evidence of each feature alone: states told apart by it and by nothing else.

    Args:
        steps: what was seen.
        ratios: (n_ratios,) candidate deviations, in typical steps.
        features: (n_features,) those that are looked at; all if not given.

    Returns:
        (n_features, n_ratios) nats above the common density, and the fit, in that order.
    """
    chosen = np.arange(steps.points.shape[1]) if features is None else features
    deviation = (steps.typical_step[chosen, None] * ratios).reshape(1, -1)
    columns = np.repeat(steps.points[:, chosen], len(ratios), axis=1)[:, None]
    reach = np.tile(1.0 / ratios, len(chosen))[None]
    fit = _run(columns / deviation, deviation, reach, steps.actions)
    gain = fit.log_evidence.reshape(-1, len(ratios)) - steps.common.sum(axis=0)[chosen, None]
    return gain, fit


class _Models:
    """One small model for each candidate, with sure assignments; all learn side by side.

    P(x | s, a) = sum_j P(j | s, a) N(x; m_j, 1 + 1/n_j) + [P(new | s, a) + o] f_a(x - m_s)

    in units of the deviations, with o = OUTLIER_SHARE. The most likely of the terms explains x, for
    good. A call costs more than its numbers: there are few calls.
    """

    def __init__(self, points: FloatArray, reach: FloatArray, actions: IntArray) -> None:
        """Learn from the first of points (n, n_dims, n_candidates); reach as in `FirstLaws`."""
        n, n_candidates = len(points), points.shape[-1]
        self._points, self._actions = points, actions.tolist()
        self._each, self._sure = np.arange(n_candidates), np.ones(n_candidates)
        n_actions = int(actions.max(initial=0)) + 1
        self._laws, self._states = FirstLaws(reach, n_actions), FirstStates(points[0], n)
        self.n_states = np.ones(n_candidates, dtype=np.intp)
        self._most = 1  # states of any candidate
        self.labels = np.zeros((n_candidates, n), dtype=np.intp)
        self._first_place = n * self._each
        self._places = self.labels + self._first_place[:, None]  # a label and its candidate
        # The row of a step: its action in its state, as a number. All starts are one row.
        self._n_rows = n_actions + 1
        self._rows = np.full((n_candidates, n), self._actions[0] - self._n_rows)

    def step(self, now: int, common: FloatArray | None = None) -> FloatArray:
        """Learn from one point; returns (n_candidates,) its ln density before that.

        common: (2,) ln density of what else was seen, if it is no outlier and if it is one.
        """
        action, point, state = self._actions[now], self._points[now], self.labels[:, now - 1]
        key = (-1 if action == EPISODE_START else state) * self._n_rows + action
        row = self._row(now, key)
        tries = np.add.reduce(row, axis=1)
        here = self._states.means(state)
        jump = point - here
        log_jump, probability = self._ways(here, state, action, jump)
        total = tries + ROW_TRIES
        probability *= ROW_TRIES
        probability += row
        probability /= total[:, None]
        terms = self._log_terms(point, probability, log_jump, total)
        if common is not None:
            terms[:, :-1] += common[0]
            terms[:, -1] += common[1]
        best = terms.argmax(axis=1)
        found, share, is_sure = best, self._sure, True
        if (highest := int(np.maximum.reduce(best))) >= self._most:
            is_new = best == self._most
            found = np.where(is_new, self.n_states, best)
            self.n_states += is_new
            if highest > self._most:
                is_sure = best <= self._most
                expected = np.where(tries > 0, row.argmax(axis=1), state)
                found, share = np.where(is_sure, found, expected), np.where(is_sure, 1.0, 0.0)
            self._most = int(np.maximum.reduce(self.n_states))
        if action != EPISODE_START:
            self._laws.add(jump, action, (found != state) & is_sure)
        self._states.add(point, found, share)
        self._rows[:, now], self.labels[:, now] = key, found
        self._places[:, now] = found + self._first_place
        top = np.maximum.reduce(terms, axis=1, keepdims=True)
        return np.asarray(top[:, 0] + np.log(np.add.reduce(exp_below(terms, top), axis=1)))

    def _row(self, now: int, key: IntArray | int) -> FloatArray:
        """(n_candidates, n_states) tries of a row of each candidate, by where they led."""
        same = self._rows[:, :now] == (key if isinstance(key, int) else key[:, None])
        counts = np.bincount(self._places[:, :now][same], minlength=self._places.size)
        return counts.reshape(self._places.shape)[:, : self._most].astype(np.float64)

    def _ways(
        self, here: FloatArray, state: IntArray, action: int, jump: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """(n_candidates,) ln density of a jump (n_dims, n_candidates) from states by an action.

        And (n_candidates, n_states) where it leads if it was not tried there, but to new states;
        of no use in slots without a state. The laws are asked for both at once.
        """
        if action == EPISODE_START:
            log_jump = self._laws.log_densities(jump[..., None], action)[:, 0]
            return log_jump, np.repeat(((ELSEWHERE + STAY) / self.n_states)[:, None], self._most, 1)
        jumps = np.empty((*jump.shape, self._most + 1))
        np.subtract(self._states.mean[..., : self._most], here[..., None], out=jumps[..., :-1])
        jumps[..., -1] = jump
        log_ways = self._laws.log_densities(jumps, action)
        ways = log_ways[:, :-1]
        ways = exp_below(ways, np.maximum.reduce(ways, axis=1, keepdims=True))
        ways *= self._states.weight[:, : self._most] > 0
        ways *= (1.0 - ANYWHERE) / np.add.reduce(ways, axis=1, keepdims=True)
        ways += (ANYWHERE / self.n_states)[:, None]
        ways *= ELSEWHERE
        ways[self._each, state] += STAY
        return log_ways[:, -1], ways

    def _log_terms(
        self, point: FloatArray, probability: FloatArray, log_jump: FloatArray, total: FloatArray
    ) -> FloatArray:
        """(n_candidates, n_states + 2) ln of each term of the density; new and outlier last.

        `total` (n_candidates,) is the tries of the row, with those of its base.
        """
        n_candidates, n_now = probability.shape
        terms = np.empty((n_candidates, n_now + 2))
        known = terms[:, :-2]
        np.maximum(probability, NOTHING, out=known)
        np.log(known, out=known)
        known += self._states.log_densities(point, n_now)
        terms[:, -2] = log_jump + np.log(ROW_TRIES * NEW / total)
        terms[:, -1] = log_jump + math.log(OUTLIER_SHARE)
        return terms


def _run(
    points: FloatArray,
    deviation: FloatArray,
    reach: FloatArray,
    actions: IntArray,
    common: FloatArray | None = None,
) -> Fit:
    """Learn from all steps with every candidate.

    Args:
        points: (n, n_dims, n_candidates) in deviations.
        deviation, reach: (n_dims, n_candidates) the deviations, and the typical step in them.
        actions: (n,)
        common: (2, n) ln density of all other features, if a point is no outlier and if it is one.
    """
    models, n = _Models(points, reach, actions), len(points)
    evidence = -(n - 1) * np.log(deviation).sum(axis=0)
    for now in range(1, n):
        evidence += models.step(now, None if common is None else common[:, now])
    return Fit(evidence, models.labels, models.n_states)
