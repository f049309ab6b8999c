"""The moments of Gaussian states, in slots: their points can be added and taken back."""

from __future__ import annotations

import numpy as np

from tgm.distributions import FloatArray
from tgm.distributions.moments import Moments
from tgm.distributions.numbers import NumberByNumber
from tgm.distributions.small import put_plane_features, second_order
from tgm.perception.state_slots import StateSlots


class GaussianMoments(StateSlots, NumberByNumber):
    """Owner of weight, mean and scatter of each state, and of the arrays that follow from them.

    In the plane a step touches a few numbers of each array: they are read and written one by one.

    Attributes:
        weight: (n_slots,) points.
        mean, scatter: (n_slots, n_features) and (n_slots, n_features, n_features) of these points.
        peak: (n_slots,) log density at the mean.
    """

    PER_SLOT = ("weight", "mean", "scatter", "peak", "_refresh_at", "_mean_features", "_theta")
    VIEWED = ("weight", "mean", "scatter", "_refresh_at", "_mean_features", "_theta", "_query")
    _weight_numbers: memoryview[float]
    _mean_numbers: memoryview[float]
    _scatter_numbers: memoryview[float]
    _refresh_at_numbers: memoryview[float]
    _mean_features_numbers: memoryview[float]
    _theta_numbers: memoryview[float]
    _query_numbers: memoryview[float]

    def __init__(self, n_features: int) -> None:
        """No states yet."""
        super().__init__()
        n_slots = len(self.ids)
        self.weight = np.zeros(n_slots)
        self.mean = np.zeros((n_slots, n_features))
        self.scatter = np.zeros((n_slots, n_features, n_features))
        self.peak = np.zeros(n_slots)
        n_products = 1 + n_features + n_features * (n_features + 1) // 2
        self._mean_features = np.zeros((n_slots, n_products))
        self._moved: set[int] = set()  # slots whose features of the mean are of an earlier one
        self._theta = np.zeros((n_slots, n_products))
        self._query = np.ones(n_products)  # the features of a point that is asked for
        self._refresh_at = np.zeros(n_slots)  # weight at which theta is due again
        self._view()

    @property
    def n_features(self) -> int:
        """Length of an observation."""
        return self.mean.shape[1]

    def moments(self, slot: int) -> Moments:
        """Weight, mean and scatter of the points of a state."""
        return Moments(self.weight[slot], self.mean[slot].copy(), self.scatter[slot].copy())

    @property
    def mean_features(self) -> FloatArray:
        """(n_slots, n_products) `second_order` features of the means; free slots hold old ones."""
        if self.n_features == 2:
            means, features = self._mean_numbers, self._mean_features_numbers
            for slot in self._moved:
                put_plane_features(means[2 * slot], means[2 * slot + 1], features, 6 * slot)
        else:
            for slot in self._moved:
                self._mean_features[slot] = second_order(self.mean[slot])
        self._moved.clear()
        return self._mean_features[: self.n_slots]

    def _view(self) -> None:
        """Follow other arrays."""
        super()._view()
        self._theta_used = self._theta[: self.n_slots]

    def _grow(self) -> None:
        """Have twice as many slots."""
        super()._grow()
        self._view()
