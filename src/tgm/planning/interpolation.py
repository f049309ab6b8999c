"""Weights of local maximum entropy: a point as an average of support points near it.

w_i is proportional to exp(-|c_i - z|^2 / 2 b^2 + lambda (c_i - z)) with lambda such that the
average of the c_i is z. The weights are not negative, so that averaging contracts, and they are
exact for linear functions, which the averages of a kernel are not.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from tgm.distributions import FloatArray, IntArray

NEIGHBOURS_PER_FEATURE = 3  # support points of a weighted average, for each feature
MOST_NEWTON = 4  # of Newton's method; at the edge of the support there is no exact lambda
WIDTH = 0.7  # bandwidth, in spacings of the support
RIDGE = 0.01  # added to the curvature, in squares of the bandwidth: it bounds lambda at the edge
WELL_AVERAGED = 1e-4  # bandwidths by which an average may miss its point
LONGEST_NEWTON_STEP = 3.0  # step of Newton's method


class Interpolation:
    """Support points and the weights that points have on them."""

    def __init__(self, points: FloatArray, spacing: float) -> None:
        """Of support points (n_points, n_features) about `spacing` apart."""
        self.points, self.spacing = points, spacing
        n_points, n_features = points.shape
        self.width = min(NEIGHBOURS_PER_FEATURE * n_features + 2, n_points)
        self._tree = cKDTree(points)

    def nearest(self, z: FloatArray) -> IntArray:
        """(n,) the support point next to each z (n, n_features)."""
        return np.asarray(self._tree.query(z)[1])

    def weights(self, z: FloatArray) -> tuple[IntArray, FloatArray]:
        """The support points of each z (n, n_features) and their weights, both (n, width)."""
        distance, index = self._near(z)
        return index, max_entropy_weights(self.points[index] - z[:, None], distance, self.spacing)

    def kernel(self, z: FloatArray) -> tuple[IntArray, FloatArray]:
        """The same support points by how near they are: weights that are exact for constants."""
        distance, index = self._near(z)
        band = _band(distance, z.shape[1], self.spacing)
        return index, _normalised(-0.5 * np.square(distance / band))

    def _near(self, z: FloatArray) -> tuple[FloatArray, IntArray]:
        """Distances and indices (n, width) of the support points next to each z, sorted."""
        distance, index = self._tree.query(z, k=self.width)
        return distance.reshape(len(z), -1), index.reshape(len(z), -1)


def max_entropy_weights(offsets: FloatArray, distance: FloatArray, spacing: float) -> FloatArray:
    """Weights (n, width) of points at `offsets` (n, width, n_features), the nearest first."""
    n, _, n_features = offsets.shape
    band = _band(distance, n_features, spacing)
    offsets = offsets / band[..., None]
    closeness = -0.5 * np.square(distance / band)
    now = weights = _normalised(closeness)
    tilt, ridge = np.zeros((n, n_features, 1)), RIDGE * np.eye(n_features)
    left: IntArray | slice = slice(None)  # those that are not exact yet
    for _ in range(MOST_NEWTON):
        across = offsets.transpose(0, 2, 1)
        off = across @ now[:, :, None]
        is_off = (np.abs(off) > WELL_AVERAGED).any(axis=(1, 2))
        if not is_off.all():
            left = np.flatnonzero(is_off) if isinstance(left, slice) else left[is_off]
            if len(left) == 0:
                break
            off, offsets, now = off[is_off], offsets[is_off], now[is_off]
            tilt, closeness = tilt[is_off], closeness[is_off]
            across = offsets.transpose(0, 2, 1)
        curvature = (across * now[:, None]) @ offsets
        curvature -= off * off.transpose(0, 2, 1)
        curvature += ridge
        step = np.linalg.solve(curvature, off)
        length = np.sqrt(np.einsum("nfo,nfo->n", step, step))[:, None, None]
        tilt -= step * (LONGEST_NEWTON_STEP / np.maximum(length, LONGEST_NEWTON_STEP))
        weights[left] = now = _normalised(closeness + (offsets @ tilt)[:, :, 0])
    return weights


def _band(distance: FloatArray, n_features: int, spacing: float) -> FloatArray:
    """(n, 1) bandwidths, wider where support points are far apart."""
    least = min(n_features, distance.shape[1] - 1)
    return np.asarray(WIDTH * np.maximum(spacing, distance[:, least, None]))


def _normalised(log_weights: FloatArray) -> FloatArray:
    """Weights that sum to one; the nearest are never so far, nor tilts so long, that one is inf."""
    weights = np.exp(log_weights)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights
