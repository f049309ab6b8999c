"""Ends and rewards of a world that flows, as functions of where a step arrives.

An end is a threshold on a feature of the arrival, or a logistic law of its squares and products;
the evidence decides. A reward is constant, linear or quadratic, apart for steps that end.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import betaln, expit

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.distributions.linear_gaussian import (
    RegressionPrior,
    RegressionSums,
    log_evidence,
    posterior,
)

RARE_ERRORS, NO_ERRORS = 0.5, 50.0  # pseudo-counts of arrivals that a threshold gets wrong or right
LOOSE = (1e1, 1e3, 1e5)  # prior variances of the weights of a logistic law
NEWTON_ROUNDS = 25
LEAST_NOISE = 1e-4  # deviation of rewards, in deviations of all of them
LOOSE_REWARD = 1e4  # prior variance of the weights of a reward, in variances of its noise


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
    """An episode ends outside a box; infinite where a feature has no threshold."""

    low: FloatArray
    high: FloatArray

    def probability(self, arrival: FloatArray) -> FloatArray:
        """(n,) zero or one."""
        return ((arrival < self.low) | (arrival > self.high)).any(axis=1).astype(float)


class LogisticEnds(NamedTuple):
    """The log odds of an end are quadratic in the arrival."""

    weights: FloatArray

    def probability(self, arrival: FloatArray) -> FloatArray:
        """(n,) probability of an end."""
        return np.asarray(expit(quadratic(arrival) @ self.weights))


def learn_ends(departure: FloatArray, arrival: FloatArray, ended: BoolArray) -> EndLaw:
    """The law of ends of the highest evidence; all (n, n_features) but `ended` (n,)."""
    if not ended.any():
        return NoEnds()
    thresholds, log_thresholds = _thresholds(departure, arrival, ended)
    if log_thresholds > _log_errors(0, len(ended)) - 1e-9:  # no arrival is on the wrong side
        return thresholds
    logistic, log_logistic = _logistic(arrival, ended)
    return thresholds if log_thresholds > log_logistic else logistic


def _thresholds(
    departure: FloatArray, arrival: FloatArray, ended: BoolArray
) -> tuple[Thresholds, float]:
    """Thresholds halfway between what went on and what ended beyond it, and their evidence."""
    goes_on, ends = np.concatenate([departure, arrival[~ended]]), arrival[ended]
    lowest, highest = goes_on.min(axis=0), goes_on.max(axis=0)
    low, high = np.full_like(lowest, -np.inf), np.full_like(highest, np.inf)
    beyond = np.concatenate([ends < lowest, ends > highest], axis=1)
    left, n_features = np.ones(len(ends), dtype=bool), len(lowest)
    while left.any():
        counts = (beyond & left[:, None]).sum(axis=0)
        side = int(counts.argmax())
        if counts[side] == 0:
            break
        axis, values = side % n_features, ends[left & beyond[:, side], side % n_features]
        if side < n_features:
            low[axis] = 0.5 * (lowest[axis] + values.max())
        else:
            high[axis] = 0.5 * (highest[axis] + values.min())
        left &= ~beyond[:, side]
    return Thresholds(low, high), _log_errors(int(left.sum()), len(ended))


def _log_errors(n_errors: int, n: int) -> float:
    """ln evidence of a rule that is wrong so often; how often it is, is not known."""
    right = NO_ERRORS + n - n_errors
    return float(betaln(RARE_ERRORS + n_errors, right) - betaln(RARE_ERRORS, NO_ERRORS))


def _logistic(arrival: FloatArray, ended: BoolArray) -> tuple[LogisticEnds, float]:
    """The logistic law of the prior with the highest evidence, by Laplace's approximation."""
    inputs = quadratic(arrival)
    fits = [_fit_logistic(inputs, ended.astype(float), variance) for variance in LOOSE]
    weights, evidence = max(fits, key=lambda fit: fit[1])
    return LogisticEnds(weights), evidence


def _fit_logistic(
    inputs: FloatArray, labels: FloatArray, variance: float
) -> tuple[FloatArray, float]:
    """Newton's method with halved steps; returns weights (n_inputs,) and the evidence."""
    n_inputs = inputs.shape[1]

    def log_joint(weights: FloatArray) -> float:
        odds = inputs @ weights
        fit = labels @ odds - np.logaddexp(0.0, odds).sum()
        return float(fit - 0.5 * weights @ weights / variance)

    def curvature(p: FloatArray) -> FloatArray:
        return np.asarray((inputs * (p * (1.0 - p))[:, None]).T @ inputs + ridge)

    ridge = np.eye(n_inputs) / variance
    weights, height = np.zeros(n_inputs), log_joint(np.zeros(n_inputs))
    for _ in range(NEWTON_ROUNDS):
        p = expit(inputs @ weights)
        slope = inputs.T @ (labels - p) - weights / variance
        step, share = np.linalg.solve(curvature(p), slope), 1.0
        while share > 1e-3 and log_joint(weights + share * step) < height:
            share *= 0.5
        weights, before = weights + share * step, height
        height = log_joint(weights)
        if height - before < 1e-3:
            break
    log_det = float(np.linalg.slogdet(curvature(expit(inputs @ weights)))[1])
    log_det += n_inputs * np.log(variance)
    return weights, height - 0.5 * log_det


class RewardLaw:
    """Expected rewards, of steps that go on and of steps that end.

    Attributes:
        forms: for both, 0 constant, 1 linear, 2 quadratic in the arrival.
        weights: for both, (n_inputs,) of the form.
    """

    def __init__(
        self,
        n_actions: int,
        forms: tuple[int, ...] = (0, 0),
        weights: tuple[FloatArray, ...] = (np.zeros(1), np.zeros(1)),
    ) -> None:
        """By default there are no rewards."""
        self.n_actions, self.forms, self.weights = n_actions, forms, weights

    @classmethod
    def of(
        cls,
        z: FloatArray,
        actions: IntArray,
        arrival: FloatArray,
        reward: FloatArray,
        ended: BoolArray,
        n_actions: int,
    ) -> RewardLaw:
        """Learn from steps: points (n, n_features), the others (n,)."""
        law = cls(n_actions)
        found = [
            law._learn(z[chosen], actions[chosen], arrival[chosen], reward[chosen])
            for chosen in (~ended, ended)
        ]
        law.forms, law.weights = tuple(one[0] for one in found), tuple(one[1] for one in found)
        return law

    def _learn(
        self, z: FloatArray, actions: IntArray, arrival: FloatArray, reward: FloatArray
    ) -> tuple[int, FloatArray]:
        """The number of the best form and its weights."""
        if len(reward) == 0 or np.ptp(reward) == 0.0:
            return 0, np.full(1, reward[0] if len(reward) else 0.0)
        best, highest, unit = (0, np.full(1, reward.mean())), -np.inf, reward.std()
        for form in range(3):
            inputs = self._inputs(form, z, actions, arrival)
            prior = RegressionPrior(
                np.full(inputs.shape[1], 1.0 / LOOSE_REWARD), np.full(1, LEAST_NOISE**2), 2.0
            )
            sums = RegressionSums.of(inputs, reward[:, None] / unit)
            evidence = log_evidence(prior, sums)
            if evidence > highest:
                best, highest = (form, posterior(prior, sums).weights[:, 0] * unit), evidence
        return best

    def _inputs(
        self, form: int, z: FloatArray, actions: IntArray, arrival: FloatArray
    ) -> FloatArray:
        """(n, n_inputs) of a form: 0 constant, 1 linear, 2 quadratic in the arrival."""
        if form == 0:
            return np.ones((len(z), 1))
        own = np.equal.outer(actions, np.arange(self.n_actions)).astype(float)
        at = np.concatenate([np.ones((len(z), 1)), arrival], 1) if form == 1 else quadratic(arrival)
        return np.concatenate([at, z, own], axis=1)

    def expected(
        self, z: FloatArray, actions: IntArray, arrival: FloatArray, p_end: FloatArray
    ) -> FloatArray:
        """(n,) expected reward of steps that end with probability `p_end`."""
        goes_on, ends = (
            weights[0] if form == 0 else self._inputs(form, z, actions, arrival) @ weights
            for form, weights in zip(self.forms, self.weights, strict=True)
        )
        return np.asarray((1.0 - p_end) * goes_on + p_end * ends)


def quadratic(points: FloatArray) -> FloatArray:
    """(n, n_inputs) one, the features, their squares and products."""
    centred = points - 0.5
    rows, columns = np.triu_indices(points.shape[1])
    products = centred[:, rows] * centred[:, columns]
    return np.concatenate([np.ones((len(points), 1)), centred, products], axis=1)
