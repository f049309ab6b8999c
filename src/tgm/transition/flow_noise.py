"""Noise of observations in a world that flows: whether there is any, how much, and laws despite it.

Displacements between noisy points have errors that a point shares with the next one: what is left
of a step by the laws is correlated with what is left of the step before. Laws fitted to noisy
points are also biased, so that they are learned by expectation and maximisation: smooth the points
with the laws, then fit the laws to what is expected of the points.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tgm.distributions import BoolArray
from tgm.distributions.linear_gaussian import RegressionSums
from tgm.transition.flow_law import FlowLaw
from tgm.transition.flow_model import FlowModel
from tgm.transition.flow_smoothing import Smoothed, smoothed
from tgm.transition.flow_units import TINY, Steps

AT_ONCE = 500  # steps whose slopes are held in memory
SHARE_OF_MOTION = 0.1  # of what laws leave, that is ascribed to the motion at first
NEGLIGIBLE_NOISE = 1e-3  # median of what laws leave, in spans, below which it is no noise
NOISE_FIRST_ROUNDS = 8  # of expectation and maximisation, before noise is believed


class Denoised(NamedTuple):
    """Laws learned despite noise of observations.

    Attributes:
        model: with the noise.
        smoothed: the steps without it.
    """

    model: FlowModel
    smoothed: Smoothed


class Suspicion(NamedTuple):
    """Observations may have noise.

    Attributes:
        model: with noise, from which rounds of expectation and maximisation begin.
        needed: log density above which there is noise.
    """

    model: FlowModel
    needed: float


def suspected(model: FlowModel, steps: Steps, is_next: BoolArray) -> Suspicion | None:
    """Whether steps look as if observations had noise.

    With noise R of observations what the laws leave has the covariance -R with what was left of
    the step before. There is noise if laws with it predict better, less what its numbers cost.
    """
    off = steps.arrival - steps.departure - model.displacement(steps.departure, steps.action)
    n, n_features = off.shape
    spread, n_next = off.T @ off / n, int(is_next.sum())
    variance, cost = np.diag(spread), 0.5 * n_features * math.log(n)
    if (np.median(np.abs(off), axis=0) < NEGLIGIBLE_NOISE).all():
        return None
    lagged = -np.sum(off[1:] * off[:-1] * is_next[1:, None], axis=0) / max(n_next, 1)
    share = np.clip(lagged / np.maximum(variance, TINY), 0.0, 0.5)
    if -0.5 * n_next * float(np.log1p(-np.square(share)).sum()) <= cost:
        return None
    noisy = model.frozen()
    noisy.law = _looser(model.law)
    # Nearly all of it, twice: learned from there on, it is right sooner than from too little.
    noisy.observation_noise = 0.5 * (1.0 - SHARE_OF_MOTION) * np.diag(variance)
    noisy.law.noise = SHARE_OF_MOTION * spread
    plain = -0.5 * n * (float(np.linalg.slogdet(2.0 * math.pi * spread)[1]) + n_features)
    return Suspicion(noisy, plain + cost)


def with_noise(model: FlowModel, steps: Steps, is_next: BoolArray) -> tuple[Denoised, float] | None:
    """A model with noise of observations, if it explains the steps better; else None.

    Returns:
        what was learned, and the nats by which it predicts better.
    """
    found = suspected(model, steps, is_next)
    if found is None:
        return None
    noisy, needed = found
    learned = learn_despite_noise(noisy, steps, is_next, NOISE_FIRST_ROUNDS, needed)
    gain = learned.smoothed.log_density - needed
    return (learned, gain) if gain > 0.0 else None


def _looser(law: FlowLaw) -> FlowLaw:
    """Laws whose weights may be as large as before, though the noise of the motion is smaller."""
    shape = law.shape._replace(looseness=law.shape.looseness / SHARE_OF_MOTION)
    looser = FlowLaw(shape, law.centres, law.unit, law.n_actions)
    looser.sums = law.sums
    looser.fit()
    return looser


def learn_despite_noise(
    model: FlowModel, steps: Steps, is_next: BoolArray, n_rounds: int, needed: float = -math.inf
) -> Denoised:
    """Improve laws and noise of a model by rounds of expectation and maximisation.

    The best round counts: slopes are exact only in linear laws, and a wall that is found or lost
    changes the laws at once. There are no more rounds if gains like the last one would not reach
    the log density `needed`: rounds gain less and less.
    """
    best = Denoised(model, smoothed(model, steps, is_next))
    now, gain = best, math.inf
    for left in range(n_rounds, 0, -1):
        if now.smoothed.log_density + left * gain < needed:
            break
        before, after = now.smoothed.log_density, improved(now)
        now = Denoised(after, smoothed(after, steps, is_next))
        gain = now.smoothed.log_density - before
        if now.smoothed.log_density > best.smoothed.log_density:
            best = now
    return finished(best)


def improved(now: Denoised) -> FlowModel:
    """Laws and noise fitted to what is expected of the points."""
    after, found = now.model.frozen(), now.smoothed
    after.observation_noise = found.noise
    after.fit(expected_sums(after.law, found), found.steps)
    return after


def finished(best: Denoised) -> Denoised:
    """The same with ends and rewards of the smoothed steps."""
    learned = best.model.frozen()
    learned.news = best.smoothed.news
    learned.learn_outcomes(best.smoothed.steps)
    return Denoised(learned, best.smoothed)


def expected_sums(law: FlowLaw, found: Smoothed) -> RegressionSums:
    """What regression needs of points that are not known exactly.

    E[x x^T] = x x^T + J P J^T and E[x y^T] = x y^T + J C, with the slopes J of the inputs, the
    covariance P of where a step began and C of that and its displacement.
    """
    steps = found.steps
    moved = (steps.arrival - steps.departure) / law.unit
    sums = RegressionSums.of(law.inputs(steps.departure, steps.action), moved)
    inputs, products = np.zeros_like(sums.inputs), np.zeros_like(sums.products)
    roots = np.linalg.cholesky(found.departure)
    for begin in range(0, len(moved), AT_ONCE):
        some = slice(begin, begin + AT_ONCE)
        slopes = law.input_slopes(steps.departure[some], steps.action[some])
        rows = (slopes @ roots[some]).transpose(0, 2, 1).reshape(-1, slopes.shape[1])
        inputs += rows.T @ rows
        products += np.tensordot(slopes, found.across[some] / law.unit, ([0, 2], [0, 1]))
    targets = found.moved.sum(axis=0) / np.outer(law.unit, law.unit)
    doubt = RegressionSums(0.0, inputs, products, targets)
    return sums + doubt
