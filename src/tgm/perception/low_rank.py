"""A covariance of many features: their variances, and the few directions they share."""

from __future__ import annotations

import math

import numpy as np

from tgm.distributions import FloatArray
from tgm.distributions.threads import one_thread


def low_rank(variance: FloatArray, products: FloatArray, weight: float) -> FloatArray:
    """(n, n) a covariance with these variances (n,), and the correlations that are no chance.

    Correlations of `weight` points whose features are independent have eigenvalues up to
    (1 + sqrt(n / weight))^2. Directions above that are kept; the others are noise.

    Args:
        variance: (n,)
        products: (n, n) sums of products of offsets.
        weight: of how many points.
    """
    n = len(variance)
    squares = np.diag(products)
    # A feature of which nothing is left goes with no other.
    inverse = np.where(squares > 0, 1.0 / np.sqrt(np.where(squares > 0, squares, 1.0)), 0.0)
    correlations = np.clip(products * np.outer(inverse, inverse), -1.0, 1.0)
    with one_thread():
        values, vectors = np.linalg.eigh(correlations)
    edge = (1.0 + math.sqrt(n / max(weight, 1.0))) ** 2
    chosen = np.flatnonzero(values > edge)
    if not len(chosen):
        return np.diag(variance)
    factor = vectors[:, chosen] * np.sqrt(values[chosen] - 1.0)
    shared = np.square(factor).sum(axis=1)
    most = np.minimum(shared, 1.0 - 1.0 / n)
    factor *= np.sqrt(np.divide(most, shared, out=np.zeros(n), where=shared > 0.0))[:, None]
    correlation = factor @ factor.T
    np.fill_diagonal(correlation, 1.0)
    return np.asarray(correlation * np.sqrt(np.outer(variance, variance)))
