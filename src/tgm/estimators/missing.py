"""Points with missing features: what is missing is integrated out, exactly.

With x = (known o, missing m) and expected precision P, q(x_m | k) is normal with precision P_mm and
mean m_m - P_mm^-1 P_mo (x_o - m_o). Its moments stand in for the missing values in the sums.
"""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from tgm.distributions import BoolArray, FloatArray, Moments
from tgm.estimators.covariance import LOG_2PI, ExpectedGaussians
from tgm.estimators.students import patterns

ROWS = 2048  # of one pattern at a time


def marginal_statistics(
    gaussians: ExpectedGaussians, blur: FloatArray, points: FloatArray
) -> tuple[Moments, float, float]:
    """Moments of the components, sum of r ln r and of E[ln q] of what is missing, sum of ln rho.

    Args:
        gaussians: expected log densities, with the expected log weights in `peak`.
        blur: (O,) variance of the rounding of known values.
        points: (N, O), NaN where missing.
    """
    n_components, n_features = gaussians.mean.shape
    weight = np.zeros(n_components)
    first = np.zeros((n_components, n_features))
    second = np.zeros((n_components, n_features, n_features))
    log_q = log_density = 0.0
    for known, all_rows in patterns(points):
        pattern = _Pattern(gaussians, blur, known)
        for start in range(0, len(all_rows), ROWS):
            rows = points[all_rows[start : start + ROWS]][:, known]
            resp, offset, log_total = pattern.assign(rows)
            own = resp.sum(axis=0)
            weight += own
            weighted = offset * resp[:, :, None]
            first += weighted.sum(axis=0)
            # (K, O, n) @ (K, n, O)
            second += np.swapaxes(np.swapaxes(weighted, 0, 1), 1, 2) @ np.swapaxes(offset, 0, 1)
            second += own[:, None, None] * pattern.open_covariance
            log_q += float(xlogy(resp, resp).sum() + own @ pattern.log_q)
            log_density += float(log_total.sum())
    shift = first / np.where(weight > 0, weight, 1.0)[:, None]
    scatter = second - weight[:, None, None] * shift[:, :, None] * shift[:, None, :]
    return Moments(weight, gaussians.mean + shift, scatter), log_q, log_density


class _Pattern:
    """The marginal of the known features, and the conditional of the others given these."""

    def __init__(self, gaussians: ExpectedGaussians, blur: FloatArray, known: BoolArray) -> None:
        n_components, n_features = gaussians.mean.shape
        self._known = known
        n_known, n_missing = int(known.sum()), int((~known).sum())
        precision = gaussians.precision
        to_known = precision[:, ~known][:, :, known]
        inner = precision[:, ~known][:, :, ~known]
        covariance = np.linalg.inv(inner)
        log_det = np.linalg.slogdet(inner)[1]
        # Offsets of all features from the mean, as a linear function of those of the known ones.
        self._extend = np.zeros((n_components, n_features, n_known))
        self._extend[:, known] = np.eye(n_known)
        self._extend[:, ~known] = -covariance @ to_known
        self._marginal = (
            precision[:, known][:, :, known] + np.swapaxes(to_known, 1, 2) @ self._extend[:, ~known]
        )
        self._mean = gaussians.mean[:, known]
        rounding = np.einsum("kii,i->k", self._marginal, blur[known])
        self._peak = gaussians.peak + 0.5 * (n_missing * LOG_2PI - log_det) - 0.5 * rounding
        self.log_q = 0.5 * (log_det - n_missing * (LOG_2PI + 1.0))
        self.open_covariance = (self._extend * blur[known]) @ np.swapaxes(self._extend, 1, 2)
        missing = np.flatnonzero(~known)
        self.open_covariance[:, missing[:, None], missing] += covariance

    def assign(self, rows: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Responsibilities (n, K), expected offsets from the means (n, K, O), ln of the sum."""
        gap = rows[:, None, :] - self._mean
        # (K, n, o) for one product per component.
        by_component = np.ascontiguousarray(np.swapaxes(gap, 0, 1))
        distances = np.sum((by_component @ self._marginal) * by_component, axis=2).T
        log_joint = self._peak - 0.5 * distances
        highest = log_joint.max(axis=1, keepdims=True)
        resp = np.exp(log_joint - highest)
        total = resp.sum(axis=1, keepdims=True)
        resp /= total
        offset = np.swapaxes(by_component @ np.swapaxes(self._extend, 1, 2), 0, 1)
        return resp, offset, (np.log(total) + highest)[:, 0]
