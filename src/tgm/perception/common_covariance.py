"""One covariance that all states share, with what is computed from it once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tgm.distributions import FloatArray

LOG_2PI = math.log(2 * math.pi)


@dataclass(frozen=True, eq=False)
class CommonCovariance:
    """A covariance matrix (n_features, n_features)."""

    matrix: FloatArray

    @cached_property
    def precision(self) -> FloatArray:
        """(n_features, n_features) its inverse."""
        return np.asarray(np.linalg.inv(self.matrix))

    @cached_property
    def variance(self) -> FloatArray:
        """(n_features,) its diagonal."""
        return np.diag(self.matrix)

    @cached_property
    def _log_det(self) -> float:
        return float(np.linalg.slogdet(self.matrix)[1])

    def log_peak(self, wider: float = 1.0) -> float:
        """ln density at the mean of a Gaussian with `wider` times this covariance."""
        return -0.5 * (len(self.matrix) * (LOG_2PI + math.log(wider)) + self._log_det)

    def square(self, offset: FloatArray) -> float:
        """Squared length of an offset (n_features,), in deviations."""
        return float(offset @ self.precision @ offset)

    def squares(self, offsets: FloatArray) -> FloatArray:
        """(n,) the same of offsets (n, n_features)."""
        return np.asarray(np.einsum("ni,ij,nj->n", offsets, self.precision, offsets))
