"""The Dirichlet distribution: the last axis is the simplex, all others are batch axes."""

import numpy as np
from scipy.special import digamma, gammaln

from tgm.distributions.arrays import FloatArray


def mean(concentration: FloatArray) -> FloatArray:
    """E[D], of the shape of `concentration`."""
    return np.asarray(concentration / concentration.sum(axis=-1, keepdims=True))


def expected_log(concentration: FloatArray) -> FloatArray:
    """E[ln D_k] = psi(d_k) - psi(sum of d), of the shape of `concentration`."""
    total = concentration.sum(axis=-1, keepdims=True)
    return np.asarray(digamma(concentration) - digamma(total))


def log_normaliser(concentration: FloatArray) -> FloatArray:
    """ln B(d) = sum of ln Gamma(d_k) - ln Gamma(sum of d), over the last axis."""
    total = concentration.sum(axis=-1)
    return np.asarray(gammaln(concentration).sum(axis=-1) - gammaln(total))


def kl(p: FloatArray, q: FloatArray) -> FloatArray:
    """KL(Dir(p) || Dir(q)), over the last axis."""
    cross = np.sum((p - q) * expected_log(p), axis=-1)
    return np.asarray(log_normaliser(q) - log_normaliser(p) + cross)
