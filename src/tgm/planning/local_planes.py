"""Planes of moving least squares: what acting reads from the values at support points.

The plane of least squares, weighted by w_i = exp(-|c_i - z|^2 / 2 b^2) about z, has the slope
Cov_w(c)^-1 Cov_w(c, v) and passes through the weighted means of points and values. Like weights of
local maximum entropy it is exact for linear functions, and costs no iterations; it is no average,
so that values are not swept with it.
"""

from __future__ import annotations

import numpy as np

from tgm.distributions import FloatArray
from tgm.planning.interpolation import Interpolation

FLAT_PLANE = 3e-3  # squares of the spacing, added to a covariance: bounds slopes


def plane_values(
    interpolation: Interpolation, values: tuple[FloatArray, ...], z: FloatArray
) -> FloatArray:
    """(n, n_functions, m) values at z (n, m, n_features) of functions (n_points,) each.

    All m points of a row are on one plane, that about their mean: what differs between them is
    the slope alone.
    """
    points, spacing = interpolation.points, interpolation.spacing
    index, weights = interpolation.kernel(z.mean(axis=1))
    near, known, each = points[index], np.stack([one[index] for one in values], 2), weights[:, None]
    centre, height = each @ near, each @ known
    off = near - centre
    weighted = (off * weights[..., None]).swapaxes(1, 2)
    ridge = FLAT_PLANE * spacing**2 * np.eye(points.shape[1])
    slope = np.linalg.solve(weighted @ off + ridge, weighted @ (known - height))
    return np.asarray((height + (z - centre) @ slope).swapaxes(1, 2))
