"""Two Gaussian states or one: cuts, their evidence, and the covariance that states share."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammainc, gammaincinv

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.distributions.moments import Moments
from tgm.distributions.small import well_conditioned
from tgm.perception.component_prior import ComponentPrior

FIRST_WEIGHT = 10.0  # points that the first guess of the common covariance is worth
WIDEST = 1.25  # deviations of the first guess: what is learned is at most so wide
WIDE_STATES = 0.35  # typical steps: the deviation of a state from which some may have been joined
SURE_POINTS = 20.0  # points of a state; with more its rows tell it apart, and it may be wider


def merge_gain(prior: ComponentPrior, first: Moments, second: Moments) -> float:
    """Nats of evidence won by seeing two sets of points as one state.

    ln p(both as one) - ln p(first) - ln p(second) - ln repulsion, all marginal likelihoods of the
    points under the common prior.
    """
    together = _evidence(prior, first + second)
    apart = _evidence(prior, first) + _evidence(prior, second)
    return together - apart - prior.log_repulsion(first.mean - second.mean)


def widest_spread(precision: FloatArray, scatter: FloatArray, least: float = 0.0) -> float:
    """Sum of squares of points along their widest axis, in the deviations believed of a state.

    0 if the sum along all axes does not exceed `least`.

    Args:
        precision: (n_features, n_features) what is believed of a state.
        scatter: (n_features, n_features) of the points about their mean.
        least: that sum; most states are narrow, and it is found sooner.
    """
    if len(scatter) == 2:  # the larger root of the characteristic polynomial of the product
        ((p, q), (_, r)), ((xx, xy), (_, yy)) = precision.tolist(), scatter.tolist()
        a, b, c, d = p * xx + q * xy, p * xy + q * yy, q * xx + r * xy, q * xy + r * yy
        if a + d <= least:
            return 0.0
        apart = 0.5 * (a - d)
        return float(0.5 * (a + d) + math.sqrt(max(0.0, apart * apart + b * c)))
    if float(np.vdot(precision, scatter)) <= least:
        return 0.0
    return float(np.linalg.eigvals(precision @ scatter).real.max())


def two_sides(points: FloatArray) -> BoolArray | None:
    """(n,) one side of the best cut of points (n, n_features) in two, or None.

    Two-means, started from a cut across the longest axis.
    """
    centred = points - points.mean(axis=0)
    axis = np.linalg.eigh(centred.T @ centred)[1][:, -1]
    side = np.asarray(centred @ axis > 0)
    for _ in points:  # so many rounds are never needed, but rounding could go in a circle
        if side.all() or not side.any():
            return None
        here, there = points[side].mean(axis=0), points[~side].mean(axis=0)
        new = np.sum((points - here) ** 2, axis=1) < np.sum((points - there) ** 2, axis=1)
        if (new == side).all():
            return side
        side = np.asarray(new)
    return None if side.all() or not side.any() else side


def pooled_covariance(
    prior: ComponentPrior,
    weight: FloatArray,
    scatter: FloatArray,
    first: FloatArray,
    typical_step: FloatArray,
) -> FloatArray:
    """(n_features, n_features) covariance within states, learned from them and a first guess.

    Only the narrower half of the data counts: a state that is really two would inflate the
    covariance, and then hide in it. That half is narrower by chance too, which is corrected.

    Args:
        prior: of the states.
        weight, scatter: (n,) and (n, n_features, n_features) of states with more than one point.
        first: (n_features, n_features) the first guess.
        typical_step: (n_features,) how far a step leads.
    """
    freedom = weight - 1
    chosen = narrower_half(np.einsum("ij,kji->k", prior.precision, scatter), freedom)
    total = FIRST_WEIGHT + float(freedom[chosen].sum())
    found = scatter[chosen].sum(axis=0) / share_of_half(freedom, len(first))
    pooled = (FIRST_WEIGHT * first + found) / total
    # States that hold several places widen what is learned, and more of them are merged then.
    most = widest(weight, np.sqrt(np.diag(first)), typical_step)
    limit = np.minimum(1.0, most / np.sqrt(np.diag(pooled)))
    pooled = pooled * np.outer(limit, limit)
    return well_conditioned(np.asarray(pooled), first, FIRST_WEIGHT / total)


def widest(weight: FloatArray, first: FloatArray, typical_step: FloatArray) -> FloatArray:
    """(n_features,) the deviation that what is learned from states of these points may reach.

    States that are too narrow are made one again by their rows, those that hold several places hide
    in a covariance that grows with them. So it grows slowly, as the rows of states become known:
    with the root of the mean number of points of a state (n,). Up to WIDE_STATES of a step it is
    free: neighbours that were joined are wider than that, so it shows no such states.

    Args:
        weight: (n,) points of the states.
        first: (n_features,) the first guess of the deviation.
        typical_step: (n_features,) how far a step leads.
    """
    points = float(weight.sum()) / max(1, len(weight))
    grown = WIDEST * math.sqrt(max(1.0, points / SURE_POINTS)) * first
    return np.maximum(grown, WIDE_STATES * typical_step)


def narrower_half(squares: FloatArray, freedom: FloatArray) -> IntArray:
    """The states with the narrower half of the data.

    Args:
        squares: (n,) sums of squared distances from the mean of each state.
        freedom: (n,) points of each, less one.
    """
    order = np.argsort(squares / freedom)
    half = np.searchsorted(np.cumsum(freedom[order]), freedom.sum() / 2) + 1
    return np.asarray(order[:half])


def share_of_half(freedom: FloatArray, n_features: int) -> float:
    """Expected variance of the narrower half of states that are equally wide, over their own.

    The sum of squares of a state is Gamma distributed with shape k = n_features freedom / 2; the
    mean of X below its median m is E[X; X < m] / 0.5 = 2 P(k + 1, m).

    Args:
        freedom: (n,) points of each state, less one.
        n_features: of a point.
    """
    shape = 0.5 * n_features * freedom
    below = 2.0 * gammainc(shape + 1.0, gammaincinv(shape, 0.5))
    total = float(freedom.sum())
    return float(freedom @ below) / total if total > 0.0 else 1.0


def _evidence(prior: ComponentPrior, moments: Moments) -> float:
    return prior.log_evidence(float(moments.weight), moments.scatter)


def chance_width(n_features: int, weight: float) -> float:
    """The widest variance of `weight` points by chance, over that of points in the plane.

    The largest eigenvalue of a sample covariance lies at (1 + sqrt(n_features / weight))^2.
    """
    return ((1.0 + math.sqrt(n_features / weight)) / (1.0 + math.sqrt(2.0 / weight))) ** 2


def chance_spread(weight: float) -> float:
    """The widest variance in the plane that `weight` points hardly ever have by chance.

    The square of 1 + 2 sqrt(2 / weight), where the largest eigenvalue of a sample covariance is
    expected at that of 1 + sqrt(2 / weight).
    """
    return (1.0 + 2.0 * math.sqrt(2.0 / weight)) ** 2


def log_density_anywhere(means: FloatArray, point: FloatArray, variance: FloatArray) -> float:
    """ln density of a state of which nothing is known but that there are others.

    A Gaussian about the middle of all means and the point, as wide as their range.

    Args:
        means: (n_states, n_features) of the others.
        point: (n_features,)
        variance: (n_features,) of observations within a state: the range is at least three
            deviations.
    """
    low, high = np.minimum(means.min(axis=0), point), np.maximum(means.max(axis=0), point)
    spread = np.maximum((high - low) ** 2, 9.0 * variance)
    square = (point - (low + high) / 2) ** 2 / spread
    return -0.5 * float(np.sum(square + np.log(2 * math.pi * spread)))
