"""Logistic regression: log odds that are linear in some inputs, and its evidence."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.special import expit

from tgm.distributions.arrays import FloatArray, IntArray

LOOSE = (1e1, 1e3, 1e5)  # prior variances of the weights
NEWTON_ROUNDS = 25
NEWTON_CONVERGED = 1e-3  # nats


def fit_logistic(
    inputs: FloatArray, labels: FloatArray, start: FloatArray | None = None
) -> tuple[FloatArray, float]:
    """Weights (n_inputs,) of the prior with the highest evidence, and that evidence.

    Args:
        inputs: (n, n_inputs)
        labels: (n,) zero or one.
        start: weights to begin with.
    """
    weights = np.zeros(inputs.shape[1]) if start is None else start
    best, highest = weights, -np.inf
    for variance in LOOSE:
        weights, evidence = fit_with_variance(inputs, labels, variance, weights)
        if evidence > highest:
            best, highest = weights, evidence
    return best, highest


def fit_with_variance(
    inputs: FloatArray, labels: FloatArray, variance: float, start: FloatArray
) -> tuple[FloatArray, float]:
    """Newton's method with halved steps, and Laplace's approximation of the evidence."""
    n_inputs = inputs.shape[1]
    ridge = np.eye(n_inputs) / variance

    def log_joint(odds: FloatArray, weights: FloatArray) -> float:
        fit = labels @ odds - np.logaddexp(0.0, odds).sum()
        return float(fit - 0.5 * weights @ weights / variance)

    weights, odds = start, inputs @ start
    height = log_joint(odds, weights)
    for _ in range(NEWTON_ROUNDS):
        p = expit(odds)
        slope = inputs.T @ (labels - p) - weights / variance
        step = np.linalg.solve((inputs * (p * (1.0 - p))[:, None]).T @ inputs + ridge, slope)
        along, share, before = inputs @ step, 1.0, height
        height = log_joint(odds + along, weights + step)
        while share > 1e-3 and height < before:
            share *= 0.5
            height = log_joint(odds + share * along, weights + share * step)
        weights, odds = weights + share * step, odds + share * along
        if height - before < NEWTON_CONVERGED:
            break
    p = expit(odds)
    curvature = (inputs * (p * (1.0 - p))[:, None]).T @ inputs + ridge
    log_det = float(np.linalg.slogdet(curvature)[1]) + n_inputs * np.log(variance)
    return weights, height - 0.5 * log_det


def linear(points: FloatArray) -> FloatArray:
    """(n, 1 + n_features) one and the features."""
    return np.concatenate([np.ones((len(points), 1)), points - 0.5], axis=1)


def quadratic(points: FloatArray) -> FloatArray:
    """(n, n_inputs) one, the features, their squares and products."""
    centred = points - 0.5
    rows, columns = _pairs(points.shape[1])
    products = centred[:, rows] * centred[:, columns]
    return np.concatenate([np.ones((len(points), 1)), centred, products], axis=1)


@cache
def _pairs(n_features: int) -> tuple[IntArray, IntArray]:
    """Both features of each square and product."""
    rows, columns = np.triu_indices(n_features)
    return rows, columns
