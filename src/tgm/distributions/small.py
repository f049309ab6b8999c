"""Operations on one small matrix or point, fast for two features.

For two features a NumPy call costs more than the arithmetic, so each function has a closed form in
Python floats; for any other number of features it calls NumPy.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np
from scipy.special import gammainccinv

from tgm.distributions.arrays import FloatArray, IntArray

LEAST_UNEXPLAINED = 1e-12  # share of a variance not explained by other features; below: rounding
REPAIRED_EIGENVALUE = 1e-10  # least of a repaired correlation matrix, per feature


def log_det(matrix: FloatArray) -> float:
    """ln of the determinant of a positive definite matrix (n, n)."""
    if len(matrix) == 2:
        (a, b), (c, d) = matrix.tolist()
        determinant = a * d - b * c
        if determinant > 0.0:
            return math.log(determinant)
    return float(np.linalg.slogdet(matrix)[1])


def inverse(matrix: FloatArray) -> FloatArray:
    """The inverse of a positive definite matrix (n, n)."""
    if len(matrix) == 2:
        (a, b), (c, d) = matrix.tolist()
        determinant = a * d - b * c
        if determinant > 0.0:
            return np.array(
                ((d / determinant, -b / determinant), (-c / determinant, a / determinant))
            )
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


def well_conditioned(covariance: FloatArray, least: FloatArray, times: float = 1.0) -> FloatArray:
    """The covariance (n, n) itself, or a repaired copy if rounding made it not positive definite.

    In the copy no variance is below `times` that of the covariance `least` (n, n). The test is on
    the share of each feature's variance that the features before it do not explain, so that units
    do not matter.
    """
    if len(covariance) == 2:
        (a, b), (c, d) = covariance.tolist()
        if a > 0.0 and d > 0.0 and b * c <= (1.0 - LEAST_UNEXPLAINED) * a * d:
            return covariance
    else:
        try:
            left = np.linalg.cholesky(covariance).diagonal() ** 2
        except np.linalg.LinAlgError:
            left = np.zeros(len(covariance))
        if (left > LEAST_UNEXPLAINED * np.abs(covariance.diagonal())).all():
            return covariance
    deviation = np.sqrt(np.maximum(covariance.diagonal(), times * least.diagonal()))
    correlation = np.clip(covariance / deviation[:, None] / deviation, -1.0, 1.0)
    np.fill_diagonal(correlation, 1.0)
    values, vectors = np.linalg.eigh((correlation + correlation.T) / 2)
    repaired = (vectors * np.maximum(values, len(values) * REPAIRED_EIGENVALUE)) @ vectors.T
    repaired = repaired * deviation[:, None] * deviation
    return np.asarray((repaired + repaired.T) / 2)


def is_positive_definite(matrices: FloatArray, least: float = 0.0) -> bool:
    """Whether symmetric matrices (..., n, n) are all positive definite; units do not matter.

    The eigenvalues of the correlation matrices must be above `least`; a value slightly below 0
    allows for rounding.
    """
    variance = np.diagonal(matrices, axis1=-2, axis2=-1)
    if not (variance > 0).all():
        return False
    deviation = np.sqrt(variance)
    correlation = matrices / deviation[..., :, None] / deviation[..., None, :]
    return bool((np.linalg.eigvalsh(correlation) > least).all()) if matrices.size else True


def nearest_scatter(matrix: FloatArray) -> FloatArray:
    """(n, n) the nearest matrix without negative eigenvalues to a symmetric one (n, n)."""
    values, vectors = np.linalg.eigh(matrix)
    if values[0] >= 0.0:
        return matrix
    found = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return np.asarray((found + found.T) / 2)


def squared_length(offset: FloatArray, precision: FloatArray) -> float:
    """offset^T precision offset, for an offset (n,) and a symmetric matrix (n, n)."""
    if len(offset) == 2:
        x, y = offset.tolist()
        (a, b), (_, d) = precision.tolist()
        return float(a * x * x + 2.0 * b * x * y + d * y * y)
    return float(offset @ precision @ offset)


def squared_distances(
    points: Sequence[FloatArray], centre: FloatArray, precision: FloatArray
) -> list[float]:
    """`squared_length` of the way from a centre (n,) to each of some points (n,)."""
    if len(centre) != 2:
        return [squared_length(point - centre, precision) for point in points]
    (centre_x, centre_y), ((a, b), (_, d)) = centre.tolist(), precision.tolist()
    found = []
    for point in points:
        x, y = point.tolist()
        x, y = x - centre_x, y - centre_y
        found.append(a * x * x + 2.0 * b * x * y + d * y * y)
    return found


@functools.cache
def squared_radius(n_features: int, radius: float) -> float:
    """The squared radius of the ball that holds as much of a standard normal as in the plane.

    Outside the circle of `radius` standard deviations lies exp(-radius^2 / 2) of a normal in two
    features. With more of them a typical point lies further out: in 64, at a distance of 8.
    """
    if n_features == 2:
        return radius**2
    return float(2.0 * gammainccinv(n_features / 2, math.exp(-0.5 * radius**2)))


def second_order(point: FloatArray) -> FloatArray:
    """(1 + n + n (n + 1) / 2,) the features 1, x and the upper triangle of x x^T of a point."""
    if len(point) == 2:
        x, y = point.tolist()
        return np.array((1.0, x, y, x * x, x * y, y * y))
    rows, columns, _ = _upper_triangle(len(point))
    return np.concatenate(([1.0], point, point[rows] * point[columns]))


def put_plane_features(x: float, y: float, numbers: memoryview[float], first: int) -> None:
    """Write `second_order` features of a point (x, y) into numbers, from the `first` on."""
    numbers[first] = 1.0
    numbers[first + 1], numbers[first + 2] = x, y
    numbers[first + 3], numbers[first + 4], numbers[first + 5] = x * x, x * y, y * y


def second_orders(points: FloatArray) -> FloatArray:
    """(n_points, 1 + n + n (n + 1) / 2) the same of points (n_points, n)."""
    rows, columns, _ = _upper_triangle(points.shape[1])
    ones = np.ones((len(points), 1))
    return np.concatenate([ones, points, points[:, rows] * points[:, columns]], axis=1)


@functools.cache
def _upper_triangle(n: int) -> tuple[IntArray, IntArray, FloatArray]:
    """Rows and columns of the upper triangle, and how often each entry occurs in the matrix."""
    rows, columns = np.triu_indices(n)
    return rows, columns, np.where(rows == columns, 1.0, 2.0)


def mahalanobis_coefficients(precision: FloatArray, centre: FloatArray) -> list[float]:
    """Coefficients whose product with `second_order(x)` is (x - centre)^T precision (x - centre).

    `precision` (n, n) is symmetric. Squared distances of many points are then one product.
    """
    if len(centre) == 2:
        x, y = centre.tolist()
        (a, b), (_, d) = precision.tolist()
        to_x, to_y = a * x + b * y, b * x + d * y
        return [x * to_x + y * to_y, -2.0 * to_x, -2.0 * to_y, a, 2.0 * b, d]
    to = precision @ centre
    rows, columns, times = _upper_triangle(len(centre))
    upper = precision[rows, columns] * times
    return [float(centre @ to), *(-2.0 * to).tolist(), *upper.tolist()]


def plane_coefficients(
    covariance: list[float], mean: FloatArray
) -> tuple[list[float], float] | None:
    """`mahalanobis_coefficients` of the inverse of a covariance, and ln of its determinant.

    For two features, in plain numbers: `covariance` is given row by row. The same to the bit as by
    the functions above. None if it is not well conditioned.
    """
    a, b, c, d = covariance
    if not (a > 0.0 and d > 0.0 and b * c <= (1.0 - LEAST_UNEXPLAINED) * a * d):
        return None
    determinant = a * d - b * c
    if not determinant > 0.0:
        return None
    x, y = mean.tolist()
    a, b, d = d / determinant, -b / determinant, a / determinant
    to_x, to_y = a * x + b * y, b * x + d * y
    square = [x * to_x + y * to_y, -2.0 * to_x, -2.0 * to_y, a, 2.0 * b, d]
    return square, math.log(determinant)


def shift_moments(
    mean: FloatArray, scatter: FloatArray, point: FloatArray, share: float, spread: float
) -> None:
    """Add one point to a mean (n,) and a scatter (n, n), or take it away, in place.

    mean += share d, scatter += spread d d^T with d = point - mean. With share w / (N + w) and
    spread w N / (N + w) this adds a point of weight w to moments of weight N; with a negative w it
    takes the point away. The same sum as `Moments.__add__` without new arrays: the one step for
    rows of arrays that change with every observation.
    """
    if len(point) == 2:
        (x, y), (to_x, to_y) = mean.tolist(), point.tolist()
        to_x -= x
        to_y -= y
        mean[0], mean[1] = x + share * to_x, y + share * to_y
        (xx, xy), (_, yy) = scatter.tolist()
        scatter[0, 0], scatter[1, 1] = xx + spread * to_x * to_x, yy + spread * to_y * to_y
        scatter[0, 1] = scatter[1, 0] = xy + spread * to_x * to_y
        return
    difference = point - mean
    scatter += difference[:, None] * (difference * spread)
    mean += difference * share


def shift_plane(
    means: memoryview[float],
    scatters: memoryview[float],
    slot: int,
    point: FloatArray,
    share: float,
    spread: float,
) -> None:
    """`shift_moments` of two features, for the moments in one slot of many, given as numbers."""
    to_x, to_y = point.tolist()
    first, last = 2 * slot, 2 * slot + 1
    x, y = means[first], means[last]
    to_x -= x
    to_y -= y
    means[first], means[last] = x + share * to_x, y + share * to_y
    entry = 4 * slot
    scatters[entry] += spread * to_x * to_x
    scatters[entry + 1] = scatters[entry + 2] = scatters[entry + 1] + spread * to_x * to_y
    scatters[entry + 3] += spread * to_y * to_y
