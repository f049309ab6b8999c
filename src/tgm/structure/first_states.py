"""States of many candidate scales at once: those of the first steps.

All arrays have the dimensions first: there are few, and NumPy is slow where the last axis is short.
"""

from __future__ import annotations

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.perception.common_covariance import LOG_2PI


class FirstStates:
    """Normal states of unit variance, one set for each candidate, in units of its deviations.

    Attributes:
        mean: (n_dims, n_candidates, n) of at most n states.
        weight: (n_candidates, n) points; 0 where there is no state.
    """

    def __init__(self, first: FloatArray, n: int) -> None:
        """One state of one point (n_dims, n_candidates) for each candidate; n is the most."""
        n_dims, n_candidates = first.shape
        self._first_column = n * np.arange(n_candidates)
        # A column for each state of each candidate: its mean, its weight, and what follows from the
        # weight, the variance of a point and its part of ln of a density.
        self._table = np.zeros((n_dims + 3, n_candidates * n))
        rows = self._table.reshape(n_dims + 3, n_candidates, n)
        self.mean, self.weight = rows[:-3], rows[-3]
        self._variance, self._log_volume = rows[-2], rows[-1]
        self._variance[:], self._log_volume[:] = 1.0, np.inf  # without points there is no density
        self.add(first, np.zeros(n_candidates, dtype=np.intp), np.ones(n_candidates))

    def means(self, slot: IntArray) -> FloatArray:
        """(n_dims, n_candidates) the mean of one state of each candidate."""
        return self._table.take(self._first_column + slot, axis=1)[:-3]

    def log_densities(self, point: FloatArray, n: int) -> FloatArray:
        """(n_candidates, n) of a point (n_dims, n_candidates) in the first n; -inf in none.

        N(x; m_j, 1 + 1/n_j)
        """
        offset = point[..., None] - self.mean[..., :n]
        found = over_dims(np.square(offset, out=offset))
        found /= self._variance[:, :n]
        found += self._log_volume[:, :n]
        found *= -0.5
        return np.asarray(found)

    def add(self, point: FloatArray, slot: IntArray, share: FloatArray) -> None:
        """Add a share (n_candidates,) of a point to one state of each candidate."""
        place = self._first_column + slot
        columns = self._table.take(place, axis=1)
        mean, weight = columns[:-3], columns[-3]
        weight += share
        off = point - mean
        off *= share / weight
        mean += off
        variance = np.add(1.0, 1.0 / weight, out=columns[-2])
        np.log(variance, out=columns[-1])
        columns[-1] += LOG_2PI
        columns[-1] *= len(point)
        self._table[:, place] = columns


def over_dims(terms: FloatArray) -> FloatArray:
    """(...) the sum of terms (n_dims, ...) over the dimensions; fast for one and two."""
    if len(terms) > 2:
        return np.asarray(np.add.reduce(terms))
    return terms[0] if len(terms) == 1 else np.asarray(terms[0] + terms[1])
