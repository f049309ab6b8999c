"""One sweep over points: responsibilities, and the sums that the next update needs.

Log responsibilities are one matrix product of the features of the points with the parameters, and
the sums are a second one. Points are taken in blocks that fit the cache of the processor.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tgm.distributions import FloatArray, Moments
from tgm.distributions.features import symmetric, upper_triangle
from tgm.distributions.gaussian import squared_distances
from tgm.estimators.covariance import ExpectedGaussians
from tgm.estimators.missing import marginal_statistics

BLOCK_NUMBERS = 1 << 16  # numbers in the arrays of a block: 0.5 MB, half of a second-level cache
BLOCK_ROWS = (256, 4096)  # least and most
FAR_FROM_MEAN = 1e7  # squared distance in deviations; above it, x - m is taken first


@dataclass(frozen=True, eq=False)
class Units:
    """The units of a model, in those of its points: (x - centre) / scale; both (O,)."""

    centre: FloatArray
    scale: FloatArray


@dataclass(frozen=True, eq=False)
class Statistics:
    """What a sweep over points found.

    Attributes:
        moments: of each component's points, (K,) sets.
        log_q: sum of r ln r, and of the expected ln q of missing values.
        log_density: sum over the points of ln of the sum over k of rho_nk.
    """

    moments: Moments
    log_q: float
    log_density: float

    def __add__(self, other: Statistics) -> Statistics:
        return Statistics(
            self.moments + other.moments,
            self.log_q + other.log_q,
            self.log_density + other.log_density,
        )


@dataclass(frozen=True, eq=False)
class Assigner:
    """ln rho_nk = peak_k - (x - mean_k)^T precision_k (x - mean_k) / 2, ready for blocks.

    Attributes:
        gaussians: the expected log densities; `peak` has the expected log weight added.
        blur: (O,) variance of what a recorded value leaves open: the rounding of the data.
        is_diagonal: whether the precisions are.
    """

    gaussians: ExpectedGaussians
    blur: FloatArray
    is_diagonal: bool

    def statistics(self, points: FloatArray, units: Units | None = None) -> Statistics:
        """The sums over points (N, O), taken in units if there are some; NaN is missing."""
        if np.isfinite(points.sum()):  # quicker than to look at each row
            return self._complete(points, units)
        complete = ~np.isnan(points).any(axis=1)
        if complete.all():
            return self._complete(points, units)
        partly = points[~complete]
        if units is not None:
            partly = (partly - units.centre) / units.scale
        result = Statistics(*marginal_statistics(self.gaussians, self.blur, partly))
        return self._complete(points[complete], units) + result if complete.any() else result

    def responsibilities(self, points: FloatArray) -> FloatArray:
        """(N, K) of complete points (N, O)."""
        parameters = self._parameters()
        columns = np.empty((len(self.gaussians.mean), len(points)))
        start = 0
        for block, space in self._blocks(points, None):
            resp, total, _, _ = self._assign(block, parameters, space)
            np.divide(resp, total, out=columns[:, start : start + len(total)])
            start += len(total)
        return columns.T

    def _complete(self, points: FloatArray, units: Units | None) -> Statistics:
        """The sums over complete points."""
        n_components, n_features = self.gaussians.mean.shape
        parameters = self._parameters()
        sums = np.zeros((n_components, _n_columns(n_features, self.is_diagonal)))
        log_density = log_joint = 0.0
        parts: list[Moments] = []
        for block, space in self._blocks(points, units):
            resp, total, log_total, values = self._assign(block, parameters, space)
            log_density += float(log_total.sum())
            if parameters is None:
                resp /= total
                moments = _moments_by_difference(self.gaussians.mean, resp, block)
                parts.append(moments)
                log_joint += float(np.sum(resp * values))
                continue
            # The smaller of the two factors is divided: both products are the same.
            if len(values) < n_components:
                values /= total
            else:
                resp /= total
            sums += resp @ values.T
        if parameters is not None:
            log_joint = float(np.sum(sums * parameters))
            parts = [self._moments(sums, n_features)]
        moments = parts[0]
        for part in parts[1:]:
            moments = moments + part
        blurred = moments.scatter + moments.weight[:, None, None] * np.diag(self.blur)
        moments = Moments(moments.weight, moments.mean, blurred)
        return Statistics(moments, log_joint - log_density, log_density)

    def _blocks(
        self, points: FloatArray, units: Units | None
    ) -> Iterator[tuple[FloatArray, FloatArray]]:
        """The points in blocks, each transposed, (O, n), with space for what is computed of it.

        The space, (F + K, n), is the same memory for each block: to get new memory from the system
        costs as much as the arithmetic.
        """
        n_components, n_features = self.gaussians.mean.shape
        width = n_components + _n_columns(n_features, self.is_diagonal)
        rows = int(np.clip(BLOCK_NUMBERS // width, *BLOCK_ROWS))
        space = np.empty((width, min(rows, len(points))))
        for start in range(0, len(points), rows):
            block = np.array(points[start : start + rows].T, order="C")
            if units is not None:  # here, where the block is in the cache
                block -= units.centre[:, None]
                block /= units.scale[:, None]
            yield block, space[:, : block.shape[1]]

    def _assign(
        self, block: FloatArray, parameters: FloatArray | None, space: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Responsibilities (K, n) times a total (n,), that total, ln of the sum of rho (n,).

        The last is the features (F, n) of the block, or without parameters ln rho (K, n).
        """
        log_joint, values = np.split(space, [len(self.gaussians.mean)])
        if parameters is not None:
            _fill_features(block, self.is_diagonal, values)
            np.matmul(parameters, values, out=log_joint)
        else:
            values = self._log_joint_by_difference(block)
            log_joint[:] = values
        highest = log_joint.max(axis=0)
        log_joint -= highest
        resp = np.exp(log_joint, out=log_joint)
        total = resp.sum(axis=0)
        return resp, total, np.log(total) + highest, values

    def _peaks(self) -> FloatArray:
        """(K,) less what the rounding of the data costs."""
        spread = np.einsum("kii,i->k", self.gaussians.precision, self.blur)
        return np.asarray(self.gaussians.peak - 0.5 * spread)

    def _parameters(self) -> FloatArray | None:
        """(K, F), such that ln rho = parameters @ features; None if that would lose digits."""
        own = self.gaussians
        linear = np.einsum("kij,kj->ki", own.precision, own.mean)
        square = np.sum(linear * own.mean, axis=1)
        reach = np.einsum("kii->k", own.precision)  # of points one deviation of the data away
        if max(float(square.max()), float(reach.max())) > FAR_FROM_MEAN:
            return None
        constant = (self._peaks() - 0.5 * square)[:, None]
        if self.is_diagonal:
            return np.hstack([constant, linear, -0.5 * np.einsum("kii->ki", own.precision)])
        rows, columns = upper_triangle(own.mean.shape[1])
        twice = np.where(rows == columns, 0.5, 1.0)
        return np.hstack([constant, linear, -own.precision[:, rows, columns] * twice])

    def _log_joint_by_difference(self, block: FloatArray) -> FloatArray:
        """ln rho (K, n), with x - m before the square: safe for tight components."""
        own = self.gaussians
        roots = np.swapaxes(np.linalg.cholesky(own.precision), -1, -2)
        distances = squared_distances(block.T, own.mean, roots)
        return np.ascontiguousarray((self._peaks() - 0.5 * distances).T)

    def _moments(self, sums: FloatArray, n_features: int) -> Moments:
        """The moments of the components from the sums (K, F) of the features."""
        weight = sums[:, 0]
        mean = sums[:, 1 : 1 + n_features] / np.where(weight > 0, weight, 1.0)[:, None]
        second = sums[:, 1 + n_features :]
        if self.is_diagonal:
            square = np.maximum(second - weight[:, None] * mean**2, 0.0)
            return Moments(weight, mean, square[:, :, None] * np.eye(n_features))
        between = weight[:, None, None] * mean[:, :, None] * mean[:, None, :]
        return Moments(weight, mean, symmetric(second, n_features) - between)


def _n_columns(n_features: int, is_diagonal: bool) -> int:
    """F, the number of features of the second order."""
    if is_diagonal:
        return 1 + 2 * n_features
    return 1 + n_features + n_features * (n_features + 1) // 2


def _fill_features(block: FloatArray, is_diagonal: bool, values: FloatArray) -> None:
    """Write 1, x and the squares or the upper triangle of x x^T of a block (O, n): (F, n)."""
    n_features = len(block)
    values[0] = 1.0
    values[1 : 1 + n_features] = block
    if is_diagonal:
        np.multiply(block, block, out=values[1 + n_features :])
        return
    at = 1 + n_features
    for i in range(n_features):
        np.multiply(block[i], block[i:], out=values[at : at + n_features - i])
        at += n_features - i


def _moments_by_difference(means: FloatArray, resp: FloatArray, block: FloatArray) -> Moments:
    """The moments of responsibilities (K, n) and a block (O, n), about the means (K, O)."""
    weight = resp.sum(axis=1)
    mean, scatter = means.copy(), np.zeros((*means.shape, means.shape[1]))
    for k in np.flatnonzero(weight > 0):
        offset = block - means[k][:, None]
        shift = offset @ resp[k] / weight[k]
        mean[k] += shift
        offset -= shift[:, None]
        scatter[k] = (offset * resp[k]) @ offset.T
    return Moments(weight, mean, scatter)
