"""Gaussian beliefs about points that move and are seen with noise: predict, condition, smooth.

Each function takes n beliefs at once. The slope of a motion is the derivative of where a point
arrives by where it began: exact for linear motion, first order for others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tgm.distributions.arrays import FloatArray


class Gaussians(NamedTuple):
    """Beliefs about n points.

    Attributes:
        mean: (n, n_features)
        covariance: (n, n_features, n_features)
    """

    mean: FloatArray
    covariance: FloatArray


def predict(
    before: Gaussians, arrival: FloatArray, slope: FloatArray, noise: FloatArray
) -> Gaussians:
    """What is believed after a motion.

    covariance = F P F^T + Q

    Args:
        before: the beliefs before.
        arrival: (n, n_features) where the means arrive.
        slope: (n, n_features, n_features) F, the slopes of the motion there.
        noise: (n_features, n_features) Q, the covariance that each motion adds.
    """
    return Gaussians(arrival, slope @ before.covariance @ _transposed(slope) + noise)


def condition(
    expected: Gaussians, observed: FloatArray, noise: FloatArray
) -> tuple[Gaussians, FloatArray]:
    """What is believed after observations (n, n_features) with noise (n_features, n_features).

    Returns:
        the beliefs, and (n,) ln density of each observation before it was seen.
    """
    return conditioned(expected, observed, noise), log_densities(expected, observed, noise)


def conditioned(expected: Gaussians, observed: FloatArray, noise: FloatArray) -> Gaussians:
    """The beliefs of `condition` alone.

    K = P (P + R)^-1, mean + K (y - mean), P - K P
    """
    gain = expected.covariance @ np.linalg.inv(expected.covariance + noise)
    off = observed - expected.mean
    mean = expected.mean + (gain @ off[..., None])[..., 0]
    return Gaussians(mean, _symmetric(expected.covariance - gain @ expected.covariance))


def log_densities(expected: Gaussians, observed: FloatArray, noise: FloatArray) -> FloatArray:
    """(n,) ln density of each observation before it was seen."""
    off, total = observed - expected.mean, expected.covariance + noise
    square = np.sum(off * np.linalg.solve(total, off[..., None])[..., 0], axis=1)
    return np.asarray(-0.5 * (square + np.linalg.slogdet(2.0 * np.pi * total)[1]))


def looking_back(before: FloatArray, expected: FloatArray, slope: FloatArray) -> FloatArray:
    """(n, n_features, n_features) G = P F^T P'^-1: what points after a motion say of those before.

    Args:
        before: (n, n_features, n_features) P, the covariances before the motion.
        expected: (n, n_features, n_features) P', those that `predict` made of them.
        slope: (n, n_features, n_features) F.
    """
    return _transposed(np.asarray(np.linalg.solve(expected, slope @ before)))


def smooth(before: Gaussians, expected: Gaussians, after: Gaussians, back: FloatArray) -> Gaussians:
    """What is believed of points before a motion, once all that came after it is known.

    mean + G (mean_after - mean'), P + G (P_after - P') G^T; the covariance of points before and
    after is G P_after.

    Args:
        before: the beliefs before the motion, from all until then.
        expected: what `predict` made of them, mean' and P'.
        after: the beliefs after the motion, from everything.
        back: G, of `looking_back`.
    """
    mean = before.mean + (back @ (after.mean - expected.mean)[..., None])[..., 0]
    change = back @ (after.covariance - expected.covariance) @ _transposed(back)
    return Gaussians(mean, _symmetric(before.covariance + change))


def _transposed(matrices: FloatArray) -> FloatArray:
    return np.asarray(np.swapaxes(matrices, -1, -2), dtype=np.float64)


def _symmetric(matrices: FloatArray) -> FloatArray:
    return np.asarray(0.5 * (matrices + _transposed(matrices)))
