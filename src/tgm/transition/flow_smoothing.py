"""Where steps of a world that flows truly were, if observations have noise.

The laws say how a point goes on, observations where it was about: a Kalman smoother weighs both.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.distributions.kalman import (
    Gaussians,
    conditioned,
    log_densities,
    looking_back,
    predict,
    smooth,
)
from tgm.transition.flow_model import FlowModel
from tgm.transition.flow_units import Steps

LONGEST_SMOOTHED = 100  # steps of a piece of an episode that is smoothed at once
LEAST_MOTION_VARIANCE = 1e-12  # of a motion, in squares of the span: covariances stay invertible


class Smoothed(NamedTuple):
    """Steps with the most likely points in place of those that were observed.

    Attributes:
        steps: n of them.
        departure: (n, n_features, n_features) covariance of where each began.
        moved: (n, n_features, n_features) covariance of its displacement.
        across: (n, n_features, n_features) covariance of where it began and its displacement.
        noise: (n_features, n_features) mean square of observations about the points.
        news: (n_features, n_features) mean square of what an observation changes in the belief.
        log_density: of all observations but the first of each piece.
    """

    steps: Steps
    departure: FloatArray
    moved: FloatArray
    across: FloatArray
    noise: FloatArray
    news: FloatArray
    log_density: float


def follows(steps: Steps) -> BoolArray:
    """(n,) whether each step began where the step before it arrived and went on."""
    found = np.zeros(len(steps.action), dtype=bool)
    same = (steps.departure[1:] == steps.arrival[:-1]).all(axis=1)
    found[1:] = same & ~steps.ended[:-1]
    return found


class _Filtered(NamedTuple):
    """What was believed of n steps when they were made: those at each position of a piece together.

    Attributes:
        left: where each began.
        expected: where it would arrive, before that was observed.
        reached: where it arrived.
        slope: (n, n_features, n_features) of the motion.
    """

    left: Gaussians
    expected: Gaussians
    reached: Gaussians
    slope: FloatArray


def smoothed(model: FlowModel, steps: Steps, is_next: BoolArray) -> Smoothed:
    """Smooth steps in local units; `is_next` (n,) says which follow the step before."""
    order, rows = _by_position(is_next)
    ordered = steps.chosen(order)
    then = _filtered(model, ordered, rows)
    left, reached, back = _looked_back(then, rows)
    news, first = then.reached.mean - then.expected.mean, rows[0]
    off = np.concatenate([ordered.arrival - reached.mean, (ordered.departure - left.mean)[first]])
    doubt = np.concatenate([reached.covariance, left.covariance[first]])
    log_density = log_densities(then.expected, ordered.arrival, model.observation_noise).sum()
    across, place = back @ reached.covariance, np.argsort(order)
    moved = reached.covariance + left.covariance - across - across.transpose(0, 2, 1)
    return Smoothed(
        steps._replace(departure=left.mean[place], arrival=reached.mean[place]),
        left.covariance[place],
        moved[place],
        (across - left.covariance)[place],
        off.T @ off / len(off) + doubt.mean(axis=0),
        news.T @ news / len(news),
        float(log_density),
    )


def _filtered(model: FlowModel, steps: Steps, rows: list[slice]) -> _Filtered:
    """Forward through all pieces at once; each begins with what its first observation says."""
    noise, spread, first = model.observation_noise, motion_noise(model), rows[0]
    left, expected, reached = (_empty(steps.departure.shape) for _ in range(3))
    slopes, n = np.empty_like(left.covariance), first.stop
    now = Gaussians(steps.departure[first], np.broadcast_to(noise, (n, *noise.shape)))
    for at in rows:
        n = at.stop - at.start
        now = Gaussians(now.mean[:n], now.covariance[:n])
        arrival, slope = model.motion(now.mean, steps.action[at])
        there = predict(now, arrival, slope, spread)
        _put(left, at, now)
        _put(expected, at, there)
        slopes[at] = slope
        now = conditioned(there, steps.arrival[at], noise)
        _put(reached, at, now)
    return _Filtered(left, expected, reached, slopes)


def _looked_back(then: _Filtered, rows: list[slice]) -> tuple[Gaussians, Gaussians, FloatArray]:
    """Backward: where steps began and arrived given everything, and what `looking_back` says."""
    back = looking_back(then.left.covariance, then.expected.covariance, then.slope)
    left, reached = (_empty(then.left.mean.shape) for _ in range(2))
    later = slice(0, 0)
    for at in reversed(rows):
        _put(reached, at, _of(then.reached, at))
        goes_on = slice(at.start, at.start + later.stop - later.start)
        _put(reached, goes_on, _of(left, later))  # where the next step began
        _put(
            left, at, smooth(_of(then.left, at), _of(then.expected, at), _of(reached, at), back[at])
        )
        later = at
    return left, reached, back


def _empty(shape: tuple[int, ...]) -> Gaussians:
    return Gaussians(np.empty(shape), np.empty((*shape, shape[1])))


def _of(whole: Gaussians, at: slice) -> Gaussians:
    return Gaussians(whole.mean[at], whole.covariance[at])


def motion_noise(model: FlowModel) -> FloatArray:
    """(n_features, n_features) covariance that a step adds to what is believed of a point."""
    return np.asarray(model.law.noise + LEAST_MOTION_VARIANCE * np.eye(len(model.law.noise)))


def _put(whole: Gaussians, at: slice, some: Gaussians) -> None:
    whole.mean[at], whole.covariance[at] = some


def _by_position(is_next: BoolArray) -> tuple[IntArray, list[slice]]:
    """The first steps of all pieces, then the second ones, and so on; longest pieces first.

    Returns:
        (n,) the steps in that order, and where each position is in it.
    """
    starts = np.flatnonzero(~is_next)
    lengths = np.diff([*starts, len(is_next)])
    pieces = [
        (start + cut, min(LONGEST_SMOOTHED, length - cut))
        for start, length in zip(starts.tolist(), lengths.tolist(), strict=True)
        for cut in range(0, length, LONGEST_SMOOTHED)
    ]
    pieces.sort(key=lambda piece: -piece[1])
    begin, length = np.array(pieces).T
    order = [begin[length > position] + position for position in range(int(length.max()))]
    ends = np.cumsum([len(at) for at in order]).tolist()
    return np.concatenate(order), [slice(*pair) for pair in zip([0, *ends], ends, strict=False)]
