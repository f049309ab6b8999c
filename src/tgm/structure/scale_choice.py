"""The choice of a scale: candidates are proposed from the first steps, and the evidence decides."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.errors import DataError
from tgm.files.arrays import LARGEST_POINT, ArrayReader, Arrays
from tgm.structure.scale_evidence import FirstSteps, evidence_of, evidence_of_each

RATIOS = np.geomspace(0.04, 1.0, 8)
"""Candidate deviations of observations within a state, in typical steps."""

USUAL_RATIO = 0.25  # of the deviation to the typical step, before anything was measured
RATIO_SPREAD = 1.0  # standard deviation of ln of that ratio
FEATURE_SPREAD = 0.3  # standard deviation of ln of the ratio of a feature about the mean of all
AROUND = np.array([0.71, 1.0, 1.41])  # times a deviation: candidates around it
FEATURE_GAIN = 6.0  # nats with which a feature shows that it tells states apart
FEWER_GAIN = 10.0  # nats by which a scale with fewer features must be better than one with all
ABOUT_AS_LIKELY = 3.0  # nats below the best candidate: between such the width decides
FEW_POINTS = 8  # observations; with fewer all features are as wide, in typical steps
ONE_BY_ONE = 8  # up to so many are made wider and narrower one by one
ENOUGH_POINTS = 32  # observations; with fewer no feature is left out
REPEATED = 1e-6  # share of a feature's deviation: what others tell so exactly says nothing more


@dataclass(frozen=True, eq=False)
class ScaleChoice:
    """How wide states are, feature by feature, and by which features they are told apart.

    Attributes:
        deviation: (n_features,) standard deviation of observations within a state.
        typical_step: (n_features,) root mean square change in a step.
        relevant: (n_features,)
        gain: (n_features,) nats by which each feature alone shows that it tells states apart.
    """

    deviation: FloatArray
    typical_step: FloatArray
    relevant: BoolArray
    gain: FloatArray

    @property
    def width(self) -> float:
        """The largest deviation of a relevant feature, in typical steps."""
        return float((self.deviation / self.typical_step)[self.relevant].max())

    def is_like(self, other: ScaleChoice) -> bool:
        """Whether a learner with the other scale learns the same, to the bit."""
        return all(
            np.array_equal(mine, others)
            for mine, others in (
                (self.deviation, other.deviation),
                (self.typical_step, other.typical_step),
                (self.relevant, other.relevant),
            )
        )

    def differs(self, other: ScaleChoice, tolerance: float) -> bool:
        """Whether a learner with the other scale should begin again with this one.

        `tolerance` is the change of the logarithm of a deviation that makes no difference.
        """
        if (self.relevant != other.relevant).any():
            return True
        change = np.abs(np.log(self.deviation / other.deviation))[self.relevant]
        return bool(change.max() > tolerance)

    def with_features(
        self, steps: FirstSteps, features: IntArray, needed: float = FEATURE_GAIN
    ) -> ScaleChoice:
        """The same scale, with those of some features (n,) that tell states apart in the steps.

        `needed` is the gain in nats that shows it.
        """
        chosen = FirstSteps(steps.points[:, features], steps.actions)
        if not chosen.has_moved:
            return self
        each = evidence_of_each(chosen, RATIOS)[0] + _log_prior(RATIOS[:, None])
        gain, deviation, relevant = self.gain.copy(), self.deviation.copy(), self.relevant.copy()
        gain[features] = each.max(axis=1)
        relevant[features] = (gain > needed)[features] & says_more(steps.points)[features]
        own = RATIOS[each.argmax(axis=1)] * chosen.typical_step
        deviation[features] = np.where(relevant[features], own, deviation[features])
        return ScaleChoice(deviation, self.typical_step, relevant, gain)

    def without_features(self, steps: FirstSteps, features: IntArray) -> ScaleChoice:
        """The same scale without those of some features (n,) that look the same in every state."""
        gain, relevant = self.gain.copy(), self.relevant.copy()
        each = evidence_of_each(steps, RATIOS, features)[0] + _log_prior(RATIOS[:, None])
        gain[features] = each.max(axis=1)
        relevant[features] = gain[features] > 0.0
        return replace(self, relevant=relevant, gain=gain)

    def to_arrays(self) -> Arrays:
        """As named arrays."""
        return {
            "deviation": self.deviation,
            "typical_step": self.typical_step,
            "relevant": self.relevant,
            "gain": self.gain,
        }

    @classmethod
    def from_arrays(cls, saved: ArrayReader, n_features: int) -> ScaleChoice:
        """What `to_arrays` gave, checked."""
        deviation, step = (
            saved.floats(name, n_features, low=0.0, size=LARGEST_POINT)
            for name in ("deviation", "typical_step")
        )
        relevant = saved.flags("relevant", n_features)
        if not relevant.any() or min(deviation.min(), step.min()) <= 0.0:
            raise DataError("array 'deviation' is no scale")
        return cls(deviation, step, relevant, saved.floats("gain", n_features))


def choose_scale(
    steps: FirstSteps, before: ScaleChoice | None = None, labels: IntArray | None = None
) -> ScaleChoice:
    """The scale with the most evidence, among those that the steps propose.

    One width for all features, in typical steps; each feature as wide as it looks alone; as wide as
    it is within known states; or as it was chosen before. All features; or those that tell states
    apart, alone or given the states that others show.

    Args:
        steps: what was seen.
        before: the scale that was chosen when less was seen.
        labels: (n,) the state of each observation, as the learner with that scale sees it.
    """
    n, n_features = steps.points.shape
    every = says_more(steps.points)
    alike = RATIOS[:, None] * steps.typical_step
    if n < FEW_POINTS or before is None or labels is None:
        best = _best(steps, alike, every)
        return ScaleChoice(best.deviation, steps.typical_step, every, np.zeros(n_features))
    within = within_states(steps, labels)
    proposed = [*AROUND[:, None] * before.deviation, *AROUND[:, None] * within]
    own, gain = within, np.zeros(n_features)
    if n_features > 1:
        each = evidence_of_each(steps, RATIOS)[0] + _log_prior(RATIOS[:, None])
        own, gain = RATIOS[each.argmax(axis=1)] * steps.typical_step, each.max(axis=1)
        # Features that differ in width need evidence for it: as wide as the mean, in steps.
        mean_ratio = math.exp(float(np.log(own / steps.typical_step).mean()))
        proposed += [*AROUND[:, None] * own, *AROUND[:, None] * mean_ratio * steps.typical_step]
    if n < ENOUGH_POINTS:
        proposed += [*alike]
    best = _best(steps, np.array(proposed), every)
    if n_features <= ONE_BY_ONE:
        turned = np.repeat(best.deviation[None], 2 * n_features, axis=0)
        turned[:n_features] *= np.where(np.eye(n_features, dtype=bool), AROUND[0], 1.0)
        turned[n_features:] *= np.where(np.eye(n_features, dtype=bool), AROUND[-1], 1.0)
        best = max(best, _best(steps, turned, every))
    shown = (gain > FEATURE_GAIN) & every
    if n >= ENOUGH_POINTS and shown.any() and (shown != every).any():
        fewer = _with_fewer(steps, own, shown, every)
        if fewer.log_evidence > best.log_evidence + FEWER_GAIN:
            best = fewer
    return ScaleChoice(best.deviation, steps.typical_step, best.relevant, gain)


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A scale, and what it makes of the steps: see `Fit`; its evidence has the prior in it."""

    log_evidence: float
    deviation: FloatArray
    relevant: BoolArray
    labels: IntArray

    def __lt__(self, other: _Candidate) -> bool:
        return self.log_evidence < other.log_evidence


def _best(steps: FirstSteps, deviations: FloatArray, relevant: BoolArray) -> _Candidate:
    """The best of candidates (n_candidates, n_features)."""
    fit = evidence_of(steps, deviations, relevant)
    ratios = (deviations / steps.typical_step)[:, relevant]
    log_evidence = fit.log_evidence + _log_prior(ratios)
    # The widest of those that are about as likely: a state too many costs a try of every action.
    likely = np.flatnonzero(log_evidence >= log_evidence.max() - ABOUT_AS_LIKELY)
    best = int(likely[np.log(ratios[likely]).mean(axis=1).argmax()])
    return _Candidate(float(log_evidence.max()), deviations[best], relevant, fit.labels[best])


def _log_prior(ratios: FloatArray) -> FloatArray:
    """(n,) ln prior of deviations (n, n_features) in typical steps, up to a constant.

    Features are about equally wide, in what they change in a step, unless the evidence is against
    it.
    """
    logs = np.log(ratios / USUAL_RATIO)
    mean = logs.mean(axis=1, keepdims=True)
    apart = np.square((logs - mean) / FEATURE_SPREAD).sum(axis=1)
    return np.asarray(-0.5 * (np.square(mean[:, 0] / RATIO_SPREAD) + apart))


def _with_fewer(
    steps: FirstSteps, own: FloatArray, shown: BoolArray, every: BoolArray
) -> _Candidate:
    """The best scale without the features that tell no states apart, of those that say more."""
    labels = _best(steps, own[None], shown).labels
    within = within_states(steps, labels)
    relevant = shown | (_tells_apart(steps, within, labels) & every)
    best = _best(steps, AROUND[:, None] * np.where(shown, own, within), relevant)
    return max(best, _best(steps, within_states(steps, best.labels)[None], relevant))


def says_more(points: FloatArray) -> BoolArray:
    """(n_features,) whether a feature is more than a sum of those before it, times numbers.

    One that is not repeats what was seen, with its noise: states would be infinitely narrow across
    it. With few observations (n, n_features) every feature counts, and one that never varies does.
    """
    n, n_features = points.shape
    says = np.ones(n_features, dtype=bool)
    if n < max(ENOUGH_POINTS, 2 * n_features):
        return says
    centred = points - points.mean(axis=0)
    deviation = np.sqrt(np.square(centred).sum(axis=0))
    rest = centred / np.where(deviation > 0.0, deviation, 1.0)
    for feature in np.flatnonzero(deviation > 0.0).tolist():
        left = float(np.linalg.norm(rest[:, feature]))
        says[feature] = left > REPEATED
        if says[feature]:
            axis = rest[:, feature] / left
            rest[:, feature + 1 :] -= np.outer(axis, axis @ rest[:, feature + 1 :])
    return says


def within_states(steps: FirstSteps, labels: IntArray) -> FloatArray:
    """(n_features,) standard deviation of the observations within the states of their labels."""
    points = steps.points
    counts = np.bincount(labels).astype(float)
    means = np.array([np.bincount(labels, column) for column in points.T]).T
    means /= np.maximum(counts, 1.0)[:, None]
    freedom = len(points) - float((counts > 0).sum())
    square = np.square(points - means[labels]).sum(axis=0)
    # A guess worth a few points, for states that have hardly been seen twice.
    square += FEW_POINTS * (USUAL_RATIO * steps.typical_step) ** 2
    return np.asarray(np.sqrt(square / (freedom + FEW_POINTS)))


def _tells_apart(steps: FirstSteps, within: FloatArray, labels: IntArray) -> BoolArray:
    """(n_features,) whether a mean for each state explains a feature better than one for all.

    By the Bayesian information criterion: half the logarithm of the number of points for each mean.
    """
    n, n_states = len(steps.points), len(set(labels.tolist()))
    overall = np.maximum(steps.points.std(axis=0), within)  # one mean is never better by chance
    gain = n * np.log(overall / within) - 0.5 * (n_states - 1) * math.log(n)
    return np.asarray(gain > FEATURE_GAIN)
