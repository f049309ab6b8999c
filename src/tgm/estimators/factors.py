"""Factor analysis of many correlation matrices at once: the few directions that features share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tgm.distributions import FloatArray, IntArray

MOST_FACTORS = 8
FEATURES_PER_DIRECTION = 3  # fewer features do not determine a direction and their own variances
STEPS = 12  # of expectation maximisation; more change little
LEAST_UNIQUE = 1e-3  # share of a feature's variance that is its own


@dataclass(frozen=True, eq=False)
class Factors:
    """Correlations C_k = loadings_k loadings_k^T + diag(unique_k).

    Attributes:
        loadings: (K, O, Q) columns that are not used are 0.
        unique: (K, O) the share of each feature's variance that is its own.
        log_det: (K,) ln |C_k|.
        gain: (K,) nats won over independent features, less the price of the loadings; 0 or more.
    """

    loadings: FloatArray
    unique: FloatArray
    log_det: FloatArray
    gain: FloatArray

    @property
    def inverse(self) -> FloatArray:
        """(K, O, O) C_k^-1 = U^-1 - G (I + L^T G)^-1 G^T, where G = U^-1 L."""
        scaled, small = _small(self.loadings, self.unique)
        own = (1.0 / self.unique)[:, :, None] * np.eye(self.unique.shape[1])
        return np.asarray(own - scaled @ np.linalg.inv(small) @ np.swapaxes(scaled, 1, 2))


def factors(correlations: FloatArray, weight: FloatArray) -> Factors:
    """The directions that are no chance, with loadings near those of largest likelihood.

    Correlations of N points with O independent features have eigenvalues up to (1 + sqrt(O / N))^2.
    Directions above that are tried, at most MOST_FACTORS. They stay if the likelihood gains more
    than half of ln N for each free number in them.

    Args:
        correlations: (K, O, O) seen, with ones on the diagonal.
        weight: (K,) of how many points.
    """
    n_sets, n_features, _ = correlations.shape
    loadings, rank = _first_loadings(correlations, weight)
    unique, log_det, gain = np.ones((n_sets, n_features)), np.zeros(n_sets), np.zeros(n_sets)
    tried = np.flatnonzero(rank)
    seen, own = correlations[tried], loadings[tried]
    loadings[:] = 0.0
    variance = np.maximum(1.0 - np.square(own).sum(axis=2), LEAST_UNIQUE)
    for _ in range(STEPS):
        own, variance = _step(seen, own, variance)
    determinant, distance = _fit(seen, own, variance)
    size, used = weight[tried], rank[tried]
    n_free = n_features * used - used * (used - 1) / 2  # a rotation of the directions is none
    won = -0.5 * size * (determinant + distance - n_features) - 0.5 * n_free * np.log(size)
    kept = won > 0
    tried = tried[kept]
    loadings[tried], unique[tried] = own[kept], variance[kept]
    log_det[tried], gain[tried] = determinant[kept], won[kept]
    return Factors(loadings, unique, log_det, gain)


def _first_loadings(correlations: FloatArray, weight: FloatArray) -> tuple[FloatArray, IntArray]:
    """(K, O, Q) loadings by principal components, and (K,) how many directions are no chance."""
    n_features = correlations.shape[1]
    most = max(1, min(MOST_FACTORS, n_features // FEATURES_PER_DIRECTION))
    values, vectors = np.linalg.eigh(correlations)
    values, vectors = values[:, : -most - 1 : -1], vectors[:, :, : -most - 1 : -1]
    edge = (1.0 + np.sqrt(n_features / np.maximum(weight, 1.0))) ** 2
    chosen = (values > edge[:, None]) & (weight >= 2.0)[:, None]
    root = np.sqrt(np.where(chosen, np.maximum(values - 1.0, 0.0), 0.0))
    return vectors * root[:, None, :], np.count_nonzero(chosen, axis=1)


def _small(loadings: FloatArray, unique: FloatArray) -> tuple[FloatArray, FloatArray]:
    """G = U^-1 L, (K, O, Q), and I + L^T G, (K, Q, Q)."""
    scaled = loadings / unique[:, :, None]
    return scaled, np.eye(loadings.shape[2]) + np.swapaxes(loadings, 1, 2) @ scaled


def _step(
    seen: FloatArray, loadings: FloatArray, unique: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """One step of expectation maximisation: loadings and unique shares of more likelihood."""
    scaled, small = _small(loadings, unique)
    spread = np.linalg.inv(small)
    back = spread @ np.swapaxes(scaled, 1, 2)  # E[factors | x] = back x
    product = seen @ np.swapaxes(back, 1, 2)
    loadings = product @ np.linalg.inv(spread + back @ product)
    return loadings, np.maximum(1.0 - np.sum(loadings * product, axis=2), LEAST_UNIQUE)


def _fit(
    seen: FloatArray, loadings: FloatArray, unique: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """(K,) ln |C| and (K,) trace of C^-1 times what was seen, whose diagonal is 1."""
    scaled, small = _small(loadings, unique)
    log_det = np.log(unique).sum(axis=1) + np.linalg.slogdet(small)[1]
    inner = np.swapaxes(scaled, 1, 2) @ seen @ scaled
    explained = np.einsum("kij,kji->k", np.linalg.inv(small), inner)
    return np.asarray(log_det), np.asarray((1.0 / unique).sum(axis=1) - explained)
