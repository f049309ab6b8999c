"""Statistics for few runs of many tasks: robust means, intervals, profiles, comparisons.

Scores come as strata: one array of runs for each task. What the measures are for stands in
"Deep reinforcement learning at the edge of the statistical precipice" (Agarwal and others, 2021).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tgm.distributions import FloatArray
from tgm.errors import DataError

Scores = npt.ArrayLike
Statistic = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Interval:
    """An estimate with the ends of its interval."""

    estimate: float
    low: float
    high: float


def interquartile_mean(scores: Scores) -> FloatArray:
    """Mean of the middle half of the scores along the last axis, a quarter left out at each end.

    A score that a quartile's edge cuts through counts with the part of it that lies inside, so
    that nothing jumps with the number of runs.
    """
    ordered = np.sort(_checked(scores), axis=-1)
    n = ordered.shape[-1]
    edges = np.arange(n + 1) / n
    inside = np.clip(edges[1:], 0.25, 0.75) - np.clip(edges[:-1], 0.25, 0.75)
    is_in = inside > 0.0  # an infinite score outside must not count, even with weight 0
    return np.asarray(ordered[..., is_in] @ inside[is_in] / inside.sum())


def median(scores: Scores) -> FloatArray:
    """The middle score along the last axis; of two middle ones the mean, so perhaps infinite."""
    return np.asarray(np.median(_checked(scores), axis=-1))


def mean_and_deviation(scores: Scores) -> tuple[float, float]:
    """Mean and standard deviation of these runs, as in the paper's figure 13."""
    checked = _checked(scores)
    return float(checked.mean()), float(checked.std())


def stratified_bootstrap(
    strata: Sequence[Scores],
    statistic: Statistic,
    rng: np.random.Generator,
    *,
    n_resamples: int = 2000,
    confidence: float = 0.95,
) -> Interval:
    """Percentile interval of a statistic of all scores together.

    Every resample draws, from each stratum, as many runs as it has, with replacement: tasks are
    fixed, runs are not.

    Args:
        strata: one array of runs for each task.
        statistic: of scores along the last axis, such as `interquartile_mean`.
        rng: draws the resamples.
        n_resamples: number of resamples.
        confidence: share of the resamples within the interval.
    """
    checked = [_checked(scores) for scores in strata]
    drawn = [
        scores[rng.integers(len(scores), size=(n_resamples, len(scores)))] for scores in checked
    ]
    values = statistic(np.concatenate(drawn, axis=-1))
    low, high = quantiles(values, ((1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0))
    return Interval(float(statistic(np.concatenate(checked))), low, high)


def bootstrap_ratio(
    numerator: Scores,
    denominator: Scores,
    statistic: Statistic,
    rng: np.random.Generator,
    *,
    n_resamples: int = 2000,
    confidence: float = 0.95,
) -> Interval:
    """Percentile interval of statistic(numerator) / statistic(denominator), each resampled alone.

    The numerator's statistic may be infinite, the denominator's must be finite and above 0.
    """
    values = np.ones(n_resamples)
    estimates = []
    for scores, power in ((_checked(numerator), 1.0), (_checked(denominator), -1.0)):
        drawn = scores[rng.integers(len(scores), size=(n_resamples, len(scores)))]
        values *= statistic(drawn) ** power
        estimates.append(float(statistic(scores)) ** power)
    low, high = quantiles(values, ((1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0))
    return Interval(estimates[0] * estimates[1], low, high)


def quantiles(values: Scores, shares: Sequence[float]) -> list[float]:
    """For each share the smallest value that at least so many of the values do not exceed.

    No interpolation: between a number and infinity there is nothing.
    """
    ordered = np.sort(_checked(values))
    # A share of n that is whole up to rounding stands for itself.
    places = np.ceil(np.asarray(shares) * len(ordered) - 1e-9).astype(int) - 1
    return [float(ordered[max(place, 0)]) for place in places]


def performance_profile(strata: Sequence[Scores], thresholds: Scores) -> FloatArray:
    """(n_thresholds,) share of runs whose score is above each threshold; each task counts alike."""
    taus = np.asarray(thresholds, dtype=np.float64)
    shares = [(_checked(scores)[:, None] > taus).mean(axis=0) for scores in strata]
    return np.asarray(np.mean(shares, axis=0))


def probability_of_improvement(ours: Sequence[Scores], theirs: Sequence[Scores]) -> float:
    """Chance that a run of ours beats one of theirs in the same task; an equal score counts half.

    The mean over tasks, which stand in the same order on both sides.
    """
    if len(ours) != len(theirs) or not len(ours):
        raise DataError(f"{len(ours)} tasks against {len(theirs)}; both sides need the same ones")
    chances = []
    for mine, other in zip(ours, theirs, strict=True):
        left, right = _checked(mine)[:, None], _checked(other)
        chances.append(np.mean((left > right) + 0.5 * (left == right)))
    return float(np.mean(chances))


def _checked(scores: Scores) -> FloatArray:
    array = np.asarray(scores, dtype=np.float64)
    if array.ndim == 0 or array.size == 0 or np.isnan(array).any():
        raise DataError(f"scores of shape {array.shape}; wanted at least one run, and no NaN")
    return array
