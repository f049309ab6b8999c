"""Anderson's acceleration: where rounds that each gain less are going to.

A round makes of a guess x_i its image g_i. The combination of the rounds so far, sum w_i g_i with
sum w_i = 1, is taken for which sum w_i (g_i - x_i) is shortest: where rounds are linear, that is
their end, once there are as many as numbers that are not known.
"""

from __future__ import annotations

import numpy as np

from tgm.distributions.arrays import FloatArray

SAME_CHANGE = 1e-8  # of the squares of changes, added: bounds weights where changes are parallel
LEAST_LOG_VARIANCE = -32.0  # of a direction, relative to its unit
MOST_LOG_VARIANCE = 5.0


def combination(changes: FloatArray) -> FloatArray:
    """Weights (n,), with the sum one, for which the weighted sum of changes (n, m) is shortest."""
    steps = np.diff(changes, axis=0)
    gram = steps @ steps.T
    gram += SAME_CHANGE * np.trace(gram) * np.eye(len(gram))
    back = np.zeros(len(steps))
    if gram.any():
        back = np.linalg.solve(gram, steps @ changes[-1])
    # The last one, less `back` times the difference of each and the one before it.
    weights = np.zeros(len(changes))
    weights[-1] = 1.0
    weights[1:] -= back
    weights[:-1] += back
    return weights


def log_covariance(covariance: FloatArray) -> FloatArray:
    """The logarithm of a symmetric matrix: any combination of logarithms is one of a covariance."""
    values, vectors = np.linalg.eigh(covariance)
    logs = np.log(np.maximum(values, np.exp(LEAST_LOG_VARIANCE)))
    return np.asarray((vectors * logs) @ vectors.T)


def covariance_of(log: FloatArray) -> FloatArray:
    """The covariance with this logarithm."""
    values, vectors = np.linalg.eigh(log)
    variances = np.exp(np.clip(values, LEAST_LOG_VARIANCE, MOST_LOG_VARIANCE))
    return np.asarray((vectors * variances) @ vectors.T)
