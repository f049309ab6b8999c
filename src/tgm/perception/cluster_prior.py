"""The published prior of a mixture from clusters, made finite on degenerate data."""

import numpy as np
import numpy.typing as npt

from tgm.distributions import BoolArray, FloatArray, Moments, NormalWishart
from tgm.errors import DataError
from tgm.perception.mean_shift import Clusters
from tgm.perception.mixture import Mixture
from tgm.perception.points import as_points

ADDED_VARIANCE = 1e-4  # share of a variance, added to it where a covariance was shrunk
LEAST_VARIANCE_SHARE = 1e-12  # of the variance over all points; a smaller variance is rounding
SINGULAR_BELOW = 1e-6  # eigenvalue of a correlation matrix; the log determinant is inaccurate there


def prior_from_clusters(points: npt.ArrayLike, clusters: Clusters) -> Mixture:
    """The published prior from the clusters of points (N, O).

    d = beta = 2K, v = 2K + O - 0.99, m = the cluster's mean, W = its covariance's inverse / v.
    A cluster without points keeps its centre as mean.
    """
    array = as_points(points)
    n_components, n_features = clusters.centres.shape
    _check(clusters, array)
    one_hot = np.equal.outer(clusters.labels, np.arange(n_components)).astype(np.float64)
    moments = Moments.of_points(array, one_hot)
    empty = moments.weight == 0
    strength = np.full(n_components, 2.0 * n_components)
    dof = strength + n_features - 0.99
    covariance = _covariances(moments, _overall_variance(array))
    components = NormalWishart(
        mean=np.where(empty[:, None], clusters.centres, moments.mean),
        mean_precision=strength,
        dof=dof,
        inverse_scale=covariance * dof[:, None, None],
    )
    return Mixture(weight_concentration=strength, components=components)


def _check(clusters: Clusters, points: FloatArray) -> None:
    n_samples, n_features = points.shape
    if clusters.labels.shape != (n_samples,):
        raise DataError(f"labels have shape {clusters.labels.shape}; wanted ({n_samples},)")
    if clusters.centres.shape[1] != n_features:
        raise DataError(f"centres have {clusters.centres.shape[1]} features, points {n_features}")
    low, high = clusters.labels.min(), clusters.labels.max()
    if low < 0 or high >= clusters.n_clusters:
        raise DataError(f"labels run from {low} to {high}; wanted 0 to {clusters.n_clusters - 1}")


def _covariances(moments: Moments, overall: FloatArray) -> FloatArray:
    """A covariance for each cluster, positive definite, (K, O, O).

    Erratum 12: a cluster with at most O points, or whose covariance S is singular, is shrunk
    towards the pooled covariance P of all clusters, which counts as O + 1 points:
    (n S + (O + 1) P) / (n + O + 1) + ADDED_VARIANCE diag(u). P is the scatter within all clusters
    over the number of points; u is the diagonal of P, or the overall variance of a feature that
    varies within no cluster.
    """
    weight, scatter = moments.weight, moments.scatter
    n_pooled = scatter.shape[1] + 1
    pooled = scatter.sum(axis=0) / weight.sum()
    within = np.diag(pooled)
    unit = np.where(within > LEAST_VARIANCE_SHARE * overall, within, overall)
    own = scatter / np.where(weight > 0, weight, 1.0)[:, None, None]
    shrunk = (scatter + n_pooled * pooled) / (weight + n_pooled)[:, None, None]
    is_sound = (weight >= n_pooled) & ~_is_singular(own, LEAST_VARIANCE_SHARE * overall)
    return np.where(is_sound[:, None, None], own, shrunk + ADDED_VARIANCE * np.diag(unit))


def _is_singular(covariances: FloatArray, flat: FloatArray) -> BoolArray:
    """Which covariances (K, O, O) have a constant feature or linearly dependent features.

    A feature is constant if its variance is at most that of `flat` (O,).
    """
    variances = np.einsum("kii->ki", covariances)
    has_flat = np.any(variances <= flat, axis=1)
    spread = np.sqrt(np.where(variances > 0, variances, 1.0))
    correlation = covariances / (spread[:, :, None] * spread[:, None, :])
    return np.asarray(has_flat | (np.linalg.eigvalsh(correlation)[:, 0] < SINGULAR_BELOW))


def _overall_variance(points: FloatArray) -> FloatArray:
    """The variance of each feature over all points, (O,), never zero.

    A constant feature gets the largest variance of the other features, or 1 if all are constant.
    """
    variance = points.var(axis=0)
    # Not variance == 0: the rounded mean of equal numbers can differ from that number.
    varies = np.ptp(points, axis=0) > 0
    substitute = variance[varies].max() if varies.any() else 1.0
    variance = np.where(varies, variance, substitute)
    if not np.all(np.isfinite(variance) & (variance > 0)):
        column = int(np.argmin(np.isfinite(variance) & (variance > 0)))
        raise DataError(
            f"points column {column} spans {np.ptp(points[:, column])}; the square of that is "
            f"outside double precision: rescale the column"
        )
    return variance
