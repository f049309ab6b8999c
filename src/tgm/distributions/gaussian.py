"""Gaussians by mean and covariance: densities and divergences, batched over components."""

import numpy as np

from tgm.distributions.arrays import FloatArray
from tgm.distributions.cholesky import factorise

LEAST_VARIANCE = 1e-12  # of a feature that has none


def kl(
    mean_p: FloatArray, covariance_p: FloatArray, mean_q: FloatArray, covariance_q: FloatArray
) -> FloatArray:
    """KL(p_k || q_k) for K pairs: means (K, O) and covariances (K, O, O) to (K,)."""
    n_features = mean_p.shape[-1]
    factor_p = factorise(covariance_p, "covariance_p")
    factor_q = factorise(covariance_q, "covariance_q")
    return np.asarray(
        0.5
        * (
            factor_q.trace_with(covariance_p)
            + factor_q.quadratic(mean_q - mean_p)
            - n_features
            + factor_q.log_det
            - factor_p.log_det
        )
    )


def pairwise_kl(
    means_a: FloatArray, covariances_a: FloatArray, means_b: FloatArray, covariances_b: FloatArray
) -> FloatArray:
    """KL(a_i || b_j) for every pair: (Ka, O), (Ka, O, O), (Kb, O), (Kb, O, O) to (Ka, Kb)."""
    n_features = means_a.shape[-1]
    factor_a = factorise(covariances_a, "covariances_a")
    factor_b = factorise(covariances_b, "covariances_b")
    trace = np.einsum("jkl,ikl->ij", factor_b.inverse, covariances_a)
    gaps = means_b[None, :, :] - means_a[:, None, :]
    whitened = np.einsum("jkl,ijl->ijk", factor_b.whitening, gaps)
    log_ratio = factor_b.log_det[None, :] - factor_a.log_det[:, None]
    return np.asarray(0.5 * (trace + np.sum(whitened**2, axis=-1) - n_features + log_ratio))


def log_density(points: FloatArray, means: FloatArray, covariances: FloatArray) -> FloatArray:
    """ln N(x_n; mean_k, covariance_k): (N, O), (K, O), (K, O, O) to (N, K)."""
    n_features = means.shape[-1]
    factor = factorise(covariances, "covariances")
    distances = squared_distances(points, means, factor.whitening)
    return np.asarray(-0.5 * (n_features * np.log(2 * np.pi) + factor.log_det + distances))


def squared_distances(points: FloatArray, means: FloatArray, whitening: FloatArray) -> FloatArray:
    """|U_k (x_n - mean_k)|^2: (N, O), (K, O), (K, O, O) to (N, K)."""
    distances = np.empty((len(points), len(means)))
    for k, (mean, matrix) in enumerate(zip(means, whitening, strict=True)):
        # Subtract before multiplying: far from the origin the expanded square would cancel.
        distances[:, k] = np.sum(((points - mean) @ matrix.T) ** 2, axis=1)
    return distances


def with_width(covariances: FloatArray) -> FloatArray:
    """Covariances (..., n, n) in which exact features, of variance 0, get the least variance.

    So that distances from states can be computed: from an exact one all others are very far.
    """
    variances = np.einsum("...ii->...i", covariances)
    least = np.where(variances == 0.0, LEAST_VARIANCE, 0.0)
    return covariances + least[..., None] * np.eye(covariances.shape[-1])
