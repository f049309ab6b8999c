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

    K = P (P + R)^-1, mean + K (y - mean), P - K P

    Returns:
        the beliefs, and (n,) ln density of each observation before it was seen.
    """
    off = observed - expected.mean
    total = expected.covariance + noise
    # Of symmetric matrices: (P + R)^-1 P is the transposed gain.
    gain = _transposed(_solved(total, expected.covariance))
    mean = expected.mean + (gain @ off[..., None])[..., 0]
    covariance = _symmetric(expected.covariance - gain @ expected.covariance)
    square = np.sum(off * _solved(total, off[..., None])[..., 0], axis=1)
    log_det = np.linalg.slogdet(2.0 * np.pi * total)[1]
    return Gaussians(mean, covariance), np.asarray(-0.5 * (square + log_det))


def smooth(
    before: Gaussians, expected: Gaussians, after: Gaussians, slope: FloatArray
) -> tuple[Gaussians, FloatArray]:
    """What is believed of points before a motion, once all that came after it is known.

    G = P F^T P'^-1, mean + G (mean_after - mean'), P + G (P_after - P') G^T

    Args:
        before: the beliefs before the motion, from all until then.
        expected: what `predict` made of them, mean' and P'.
        after: the beliefs after the motion, from everything.
        slope: (n, n_features, n_features) F.

    Returns:
        the beliefs, and the covariance (n, n_features, n_features) of points before and after.
    """
    back = _transposed(_solved(expected.covariance, slope @ before.covariance))
    mean = before.mean + (back @ (after.mean - expected.mean)[..., None])[..., 0]
    change = back @ (after.covariance - expected.covariance) @ _transposed(back)
    covariance = _symmetric(before.covariance + change)
    return Gaussians(mean, covariance), back @ after.covariance


def _transposed(matrices: FloatArray) -> FloatArray:
    return np.asarray(np.swapaxes(matrices, -1, -2), dtype=np.float64)


def _solved(matrices: FloatArray, sides: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.solve(matrices, sides), dtype=np.float64)


def _symmetric(matrices: FloatArray) -> FloatArray:
    return np.asarray(0.5 * (matrices + _transposed(matrices)))
