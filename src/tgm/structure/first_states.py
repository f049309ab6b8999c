"""States of many candidate scales at once: those of the first steps."""

from __future__ import annotations

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.perception.common_covariance import LOG_2PI


class FirstStates:
    """Normal states of unit variance, one set for each candidate, in units of its deviations.

    Attributes:
        mean: (n_candidates, n, n_dims) of at most n states.
        weight: (n_candidates, n) points; 0 where there is no state.
    """

    def __init__(self, first: FloatArray, n: int) -> None:
        """One state of one point (n_candidates, n_dims) for each candidate; n is the most."""
        n_candidates, n_dims = first.shape
        self._each = np.arange(n_candidates)
        self.mean = np.zeros((n_candidates, n, n_dims))
        self.weight = np.zeros((n_candidates, n))
        # What follows from the weight: the variance of a point, and its part of ln of a density.
        self._variance = np.ones((n_candidates, n))
        self._log_volume = np.zeros((n_candidates, n))
        self.add(first, np.zeros(n_candidates, dtype=np.intp), np.ones(n_candidates))

    def log_densities(self, point: FloatArray, n: int) -> FloatArray:
        """(n_candidates, n) of a point (n_candidates, n_dims) in the first n; of no use in none.

        N(x; m_j, 1 + 1/n_j)
        """
        offset = point[:, None, :] - self.mean[:, :n]
        found = np.einsum("ckd,ckd->ck", offset, offset)
        found /= self._variance[:, :n]
        found += self._log_volume[:, :n]
        found *= -0.5
        return np.asarray(found)

    def add(self, point: FloatArray, slot: IntArray, share: FloatArray) -> None:
        """Add a share (n_candidates,) of a point to one state of each candidate."""
        place = self._each, slot
        weight, mean = self.weight[place] + share, self.mean[place]
        self.weight[place] = weight
        self.mean[place] = mean + (share / weight)[:, None] * (point - mean)
        variance = 1.0 + 1.0 / weight
        self._variance[place] = variance
        self._log_volume[place] = point.shape[1] * (LOG_2PI + np.log(variance))
