"""Ends of a world that flows, as functions of where a step arrives.

An end is a threshold on a feature or coordinate of the arrival, a half-space or the outside of a
slab in any direction, or a logistic law of squares and products; the evidence decides.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import betaln, expit

from tgm.distributions import BoolArray, FloatArray
from tgm.distributions.logistic import fit_logistic, linear, quadratic

RARE_ERRORS, NO_ERRORS = 0.5, 50.0  # pseudo-counts of arrivals that a threshold gets wrong or right
MOST_SLABS = 4  # slabs outside of which episodes end
ASSIGNED = 5  # rounds in which ends are assigned to the sides of a slab
STARTS = 2  # principal directions of ends with which a slab begins


class EndLaw(Protocol):
    """Where episodes end."""

    def probability(self, arrival: FloatArray) -> FloatArray:
        """(n,) probability that a step that arrives at (n, n_features) ends the episode."""


class NoEnds:
    """No end was seen."""

    def probability(self, arrival: FloatArray) -> FloatArray:
        """(n,) zeros."""
        return np.zeros(len(arrival))


class Thresholds(NamedTuple):
    """An episode ends outside of bounds in some directions; infinite where there is no threshold.

    Attributes:
        directions: (n_directions, n_features) coordinates, features.
        low, high: (n_directions,) bounds.
    """

    directions: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def n_finite(self) -> int:
        """How many bounds there are."""
        return int(np.isfinite(self.low).sum() + np.isfinite(self.high).sum())

    def probability(self, arrival: FloatArray) -> FloatArray:
        """(n,) zero or one."""
        value = arrival @ self.directions.T
        return ((value < self.low) | (value > self.high)).any(axis=1).astype(float)


class HalfSpaces(NamedTuple):
    """An episode ends in each of some half-spaces: the log odds of each are linear.

    Attributes:
        weights: (n_half_spaces, 1 + n_features) of one and the arrival.
    """

    weights: FloatArray

    def probability(self, arrival: FloatArray) -> FloatArray:
        """(n,) probability that it ends in at least one."""
        return np.asarray(1.0 - expit(-linear(arrival) @ self.weights.T).prod(axis=1))


class LogisticEnds(NamedTuple):
    """The log odds of an end are quadratic in the arrival."""

    weights: FloatArray

    def probability(self, arrival: FloatArray) -> FloatArray:
        """(n,) probability of an end."""
        return np.asarray(expit(quadratic(arrival) @ self.weights))


def learn_ends(
    departure: FloatArray, arrival: FloatArray, ended: BoolArray, directions: FloatArray
) -> EndLaw:
    """The law of ends of the highest evidence.

    Args:
        departure, arrival: (n, n_features)
        ended: (n,)
        directions: (n_directions, n_features) in which there may be thresholds.
    """
    if not ended.any():
        return NoEnds()
    thresholds, log_thresholds = _thresholds(departure, arrival, ended, directions)
    if log_thresholds > _log_errors(0, len(ended)) - 1e-9:  # no arrival is on the wrong side
        return thresholds
    goes_on, ends = np.concatenate([departure, arrival[~ended]]), arrival[ended]
    rules: list[tuple[EndLaw, float]] = [
        (thresholds, log_thresholds),
        _half_spaces(goes_on, ends),
        _logistic(goes_on, ends),
    ]
    return max(rules, key=lambda rule: rule[1])[0]


def region(inside: FloatArray, outside: FloatArray, directions: FloatArray) -> Thresholds | None:
    """Thresholds that hold points (n, n_features) and no others; None if there are none.

    Args:
        inside, outside: points, of which there is at least one each.
        directions: (n_directions, n_features) in which there may be thresholds.
    """
    arrival, ended = np.concatenate([inside, outside]), np.arange(len(inside) + len(outside))
    found, evidence = _thresholds(inside[:1], arrival, ended >= len(inside), directions)
    return found if evidence > _log_errors(0, len(arrival)) - 1e-9 else None


def _thresholds(
    departure: FloatArray, arrival: FloatArray, ended: BoolArray, directions: FloatArray
) -> tuple[Thresholds, float]:
    """Thresholds halfway between what went on and what ended beyond it, and their evidence."""
    goes_on = np.concatenate([departure, arrival[~ended]]) @ directions.T
    ends = arrival[ended] @ directions.T
    lowest, highest = goes_on.min(axis=0), goes_on.max(axis=0)
    low, high = np.full_like(lowest, -np.inf), np.full_like(highest, np.inf)
    beyond = np.concatenate([ends < lowest, ends > highest], axis=1)
    left, n_directions = np.ones(len(ends), dtype=bool), len(lowest)
    while left.any():
        counts = (beyond & left[:, None]).sum(axis=0)
        side = int(counts.argmax())
        if counts[side] == 0:
            break
        axis, values = side % n_directions, ends[left & beyond[:, side], side % n_directions]
        if side < n_directions:
            low[axis] = 0.5 * (lowest[axis] + values.max())
        else:
            high[axis] = 0.5 * (highest[axis] + values.min())
        left &= ~beyond[:, side]
    return Thresholds(directions, low, high), _log_errors(int(left.sum()), len(ended))


def _log_errors(n_errors: int, n: int) -> float:
    """ln evidence of a rule that is wrong so often; how often it is, is not known."""
    right = NO_ERRORS + n - n_errors
    return float(betaln(RARE_ERRORS + n_errors, right) - betaln(RARE_ERRORS, NO_ERRORS))


def _half_spaces(goes_on: FloatArray, ends: FloatArray) -> tuple[HalfSpaces, float]:
    """Slabs, one after the other, outside of which are ends that those before did not explain."""
    found: list[FloatArray] = []
    left, evidence = np.ones(len(ends), dtype=bool), 0.0
    while left.any() and len(found) < 2 * MOST_SLABS:
        planes, height, explained = _slab(goes_on, ends[left])
        if not explained.any():
            break
        found.extend(planes)
        evidence += height
        left[np.flatnonzero(left)[explained]] = False
    if not found:
        return HalfSpaces(np.zeros((0, 1 + ends.shape[1]))), -np.inf
    n_left, n = int(left.sum()), len(goes_on) + len(ends)
    return HalfSpaces(np.array(found)), evidence + (_log_errors(n_left, n) if n_left else 0.0)


def _slab(goes_on: FloatArray, ends: FloatArray) -> tuple[list[FloatArray], float, BoolArray]:
    """Two half-spaces with one normal, or one; their evidence, and which ends they explain.

    Begins with the directions in which ends are far out: that of the farthest end, and the
    principal ones.
    """
    centre = goes_on.mean(axis=0)
    spread = np.cov(goes_on.T, ddof=0).reshape(len(centre), -1)
    out = ends - centre
    outward = out @ np.linalg.pinv(spread)
    farthest = outward[np.einsum("ij,ij->i", outward, out).argmax()]
    principal = np.linalg.svd(outward, full_matrices=False)[2]
    tried = [
        _slab_along(goes_on, ends, np.where(out @ one > 0.0, 1.0, -1.0))
        for one in (farthest, *principal[:STARTS])
    ]
    n = len(goes_on) + len(ends)
    return max(tried, key=lambda one: one[1] + _log_errors(int((~one[2]).sum()), n))


def _slab_along(
    goes_on: FloatArray, ends: FloatArray, side: FloatArray
) -> tuple[list[FloatArray], float, BoolArray]:
    """The slab of ends that are on the sides (n_ends,) +1 or -1 at first.

    With the side of each end given it is one logistic regression: its inputs are (1, 0, z) on the
    upper side and (0, 1, -z) on the lower one. What goes on does so on both sides.
    """
    weights, explained = np.zeros(2 + ends.shape[1]), np.ones(len(ends), dtype=bool)
    for _ in range(ASSIGNED):
        sides = sorted(set(side[explained].tolist()))
        inputs = [_on_side(goes_on, np.full(len(goes_on), one)) for one in sides]
        inputs.append(_on_side(ends[explained], side[explained]))
        n_explained = int(explained.sum())
        labels = np.zeros(sum(map(len, inputs)))
        labels[-n_explained:] = 1.0
        weights, evidence = fit_logistic(np.concatenate(inputs), labels, weights)
        odds = np.array([_on_side(ends, np.full(len(ends), one)) @ weights for one in sides])
        now, nearer = odds.max(axis=0) > 0.0, np.array(sides)[odds.argmax(axis=0)]
        if not now.any() or ((now == explained).all() and (nearer == side)[now].all()):
            break
        explained, side = now, nearer
    planes = [np.array([weights[0 if one > 0.0 else 1], *(one * weights[2:])]) for one in sides]
    return planes, evidence, now


def _on_side(points: FloatArray, side: FloatArray) -> FloatArray:
    """(n, 2 + n_features) inputs of points on the sides (n,) +1 or -1 of a slab."""
    return np.column_stack([side > 0.0, side < 0.0, (points - 0.5) * side[:, None]])


def _logistic(goes_on: FloatArray, ends: FloatArray) -> tuple[LogisticEnds, float]:
    """The quadratic law, and its evidence."""
    labels = np.repeat([0.0, 1.0], [len(goes_on), len(ends)])
    weights, evidence = fit_logistic(quadratic(np.concatenate([goes_on, ends])), labels)
    return LogisticEnds(weights), evidence
