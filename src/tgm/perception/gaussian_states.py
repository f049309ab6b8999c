"""Components that learn point by point: what a point adds can be taken back again."""

from __future__ import annotations

import math

import numpy as np

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.distributions.moments import Moments
from tgm.distributions.small import (
    inverse,
    log_det,
    mahalanobis_coefficients,
    second_order,
    shift_moments,
    well_conditioned,
)
from tgm.errors import DataError
from tgm.files.arrays import ANY, LARGEST_POINT, LARGEST_PRODUCT, ArrayReader, Arrays
from tgm.perception.component_prior import ComponentPrior

NOWHERE = -1e300  # the log density of a slot without a component
LOG_2PI = math.log(2 * math.pi)
LEAST_WEIGHT = 0.05  # a component with less data than this is empty
ROUNDING = 1e-6  # a weight below this is what is left of nothing


class GaussianStates:
    """Owner of the components' statistics, in slots.

    A slot holds one component or none; a free slot is used again, an id never. The log densities
    of all slots are one product of the features (1, x, upper triangle of x x^T) with `theta`, as in
    the batch mixture. Each is the Gaussian with the covariance of the component's predictive
    Student t, whose degrees of freedom are at least those of the prior. The same features of the
    means are kept, so that squared distances from all of them are one product too.
    """

    def __init__(self, prior: ComponentPrior) -> None:
        """No components yet."""
        n_features, capacity = prior.n_features, 16
        self.prior = prior
        self.weight = np.zeros(capacity)
        self.mean = np.zeros((capacity, n_features))
        self.scatter = np.zeros((capacity, n_features, n_features))
        self.is_alive = np.zeros(capacity, dtype=bool)
        self.ids = np.full(capacity, -1, dtype=np.intp)
        self.peak = np.zeros(capacity)  # log density at the mean
        self.n_slots = 0  # slots used so far, free ones between them included
        self.alive = np.empty(0, dtype=np.intp)
        """(n_alive,) slots that hold a component, in order."""
        self.next_id = 0
        n_products = 1 + n_features + n_features * (n_features + 1) // 2
        self._mean_features = np.zeros((capacity, n_products))
        self._theta = np.zeros((capacity, n_products))
        self._theta[:, 0] = NOWHERE
        self._refresh_at = np.zeros(capacity)  # weight at which theta is due again
        self._free: list[int] = []
        self.dirty: set[int] = set()
        """Slots that changed since the last record of them, by more than an observation."""
        self.told: dict[int, int] = {}
        """The id under which each slot was recorded; empty if nobody did, with this prior."""

    @property
    def n_features(self) -> int:
        """Length of an observation."""
        return self.mean.shape[1]

    @property
    def n_alive(self) -> int:
        """Number of components."""
        return len(self.alive)

    def moments(self, slot: int) -> Moments:
        """Weight, mean and scatter of one component."""
        return Moments(self.weight[slot], self.mean[slot].copy(), self.scatter[slot].copy())

    def log_densities(self, point: FloatArray) -> FloatArray:
        """(n_slots,) log predictive density of one point (n_features,) under each component."""
        return np.asarray(self._theta[: self.n_slots].dot(second_order(point)))

    def log_densities_of(self, points: FloatArray) -> FloatArray:
        """(n_points, n_slots) the same for points (n_points, n_features)."""
        rows, columns = np.triu_indices(self.n_features)
        features = np.concatenate(
            [np.ones((len(points), 1)), points, points[:, rows] * points[:, columns]], axis=1
        )
        return np.asarray(features @ self._theta[: self.n_slots].T)

    @property
    def mean_features(self) -> FloatArray:
        """(n_slots, n_products) `second_order` features of the means; free slots hold old ones."""
        return self._mean_features[: self.n_slots]

    def near(self, slot: int, square: float) -> list[int]:
        """The other components whose mean lies within a squared distance, in typical deviations."""
        coefficients = mahalanobis_coefficients(self.prior.precision, self.mean[slot])
        squares = self.mean_features.dot(np.array(coefficients))
        found = np.flatnonzero(squares < square).tolist()
        return [other for other in found if other != slot and self.is_alive[other]]

    def birth(self) -> int:
        """The slot of a new component without points."""
        if self._free:
            slot = self._free.pop()
        else:
            if self.n_slots == len(self.weight):
                self._grow()
            slot = self.n_slots
            self.n_slots += 1
        self.is_alive[slot] = True
        self.ids[slot] = self.next_id
        self.weight[slot] = self._refresh_at[slot] = 0.0
        self.next_id += 1
        self.dirty.add(slot)
        self.alive = np.flatnonzero(self.is_alive[: self.n_slots])
        return slot

    def remove(self, slot: int) -> None:
        """Empty a slot."""
        self.is_alive[slot] = False
        self.ids[slot] = -1
        self.weight[slot] = 0.0
        self._theta[slot] = 0.0
        self._theta[slot, 0] = NOWHERE
        self._free.append(slot)
        self.dirty.add(slot)
        self.alive = np.flatnonzero(self.is_alive[: self.n_slots])

    def add(self, slot: int, point: FloatArray, weight: float) -> None:
        """Add a weighted point (n_features,): knowledge is addition.

        Who adds it tells `dirty`, unless it is a new observation: records follow those themselves.
        """
        before = float(self.weight[slot])
        after = before + weight
        if before == 0.0:
            self.mean[slot] = point
            self.scatter[slot] = 0.0
        else:
            self._shift(slot, point, weight / after, weight * before / after)
        self.weight[slot] = after
        # A component is looked at anew when it has a twentieth more data, not at every point.
        if after >= self._refresh_at[slot]:
            self.refresh(slot)

    def take_back(self, slot: int, point: FloatArray, weight: float) -> None:
        """The inverse of `add`; a component that is left with nothing keeps its place."""
        before = float(self.weight[slot])
        after = before - weight
        if after < ROUNDING:
            self.weight[slot] = LEAST_WEIGHT
            self.scatter[slot] = 0.0
        else:
            self._shift(slot, point, -weight / after, -weight * before / after)
            self.weight[slot] = after
        self.dirty.add(slot)
        self.refresh(slot)

    def _shift(self, slot: int, point: FloatArray, share: float, spread: float) -> None:
        mean = self.mean[slot]
        shift_moments(mean, self.scatter[slot], point, share, spread)
        self._mean_features[slot] = second_order(mean)

    def set_moments(self, slot: int, moments: Moments) -> None:
        """Replace what a component knows."""
        self.weight[slot] = moments.weight
        self.mean[slot] = moments.mean
        self.scatter[slot] = moments.scatter
        self.dirty.add(slot)
        self.refresh(slot)

    def set_prior(self, prior: ComponentPrior) -> None:
        """Take another prior; every component is seen in its light, and to be recorded anew."""
        self.prior, self.told = prior, {}
        for slot in self.alive.tolist():
            self.dirty.add(slot)
            self.refresh(slot)

    def refresh(self, slot: int) -> None:
        """Bring the column of theta up to date with the statistics."""
        weight, mean = float(self.weight[slot]), self.mean[slot]
        covariance = self.prior.predictive_covariance(weight, self.scatter[slot])
        factor = self.prior.predictive_factor(weight)
        sound = well_conditioned(covariance, self.prior.inverse_scale, factor)
        if sound is not covariance:  # points that were taken back left rounding behind
            self.scatter[slot] = sound / factor - self.prior.inverse_scale
            covariance = sound
        peak = -0.5 * (len(mean) * LOG_2PI + log_det(covariance))
        square = mahalanobis_coefficients(inverse(covariance), mean)
        theta = [-0.5 * coefficient for coefficient in square]
        theta[0] += peak
        self.peak[slot] = peak
        self._theta[slot] = theta
        self._mean_features[slot] = second_order(mean)
        self._refresh_at[slot] = weight + max(0.5, 0.05 * weight)

    def covariances(self, slots: IntArray | BoolArray) -> FloatArray:
        """(n, n_features, n_features) expected covariances of components."""
        dof = self.prior.dof + self.weight[slots] - self.n_features
        total = self.prior.inverse_scale + self.scatter[slots]
        return np.asarray(total / dof[:, None, None])

    def to_arrays(self) -> Arrays:
        """Everything, slot by slot; theta too, which is made anew only now and then."""
        n_slots = self.n_slots
        return {
            "ids": self.ids[:n_slots],
            "next_id": np.array([self.next_id]),
            "weight": self.weight[:n_slots],
            "mean": self.mean[:n_slots],
            "scatter": self.scatter[:n_slots],
            "peak": self.peak[:n_slots],
            "refresh_at": self._refresh_at[:n_slots],
            "theta": self._theta[:n_slots],
            "free": np.array(self._free, dtype=np.intp),
            "dirty": np.array(sorted(self.dirty), dtype=np.intp),
            "told": np.array(sorted(self.told.items()), dtype=np.intp).reshape(-1, 2),
        }

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave; the prior is given already."""
        n_features = self.n_features
        ids = saved.whole("ids", ANY, low=-1)
        n_slots = len(ids)
        while len(self.weight) < n_slots:
            self._grow()
        self.n_slots = n_slots
        self.next_id = saved.count("next_id")
        self.ids[:n_slots] = ids
        self.is_alive[:n_slots] = ids >= 0
        self.alive = np.flatnonzero(self.is_alive[:n_slots])
        self._free = saved.whole("free", ANY, high=n_slots - 1).tolist()
        self._check_names()
        self.weight[:n_slots] = saved.floats("weight", n_slots, low=0.0)
        if (self.weight[self.alive] <= 0).any():
            raise DataError("array 'weight' holds 0 for a state that is there")
        self.mean[:n_slots] = saved.floats("mean", n_slots, n_features, size=LARGEST_POINT)
        self.scatter[:n_slots] = saved.scatter(
            "scatter", n_slots, n_features, n_features, beside=self.prior.inverse_scale
        )
        self.peak[:n_slots] = saved.floats("peak", n_slots)
        self._refresh_at[:n_slots] = saved.floats("refresh_at", n_slots, low=0.0)
        theta = saved.floats(
            "theta", n_slots, self._theta.shape[1], low=NOWHERE, size=LARGEST_PRODUCT
        )
        if (theta[self.alive, 0] <= NOWHERE).any():
            raise DataError("array 'theta' has no density for a state that is there")
        self._theta[:n_slots] = theta
        for slot in range(n_slots):
            self._mean_features[slot] = second_order(self.mean[slot])
        self.dirty = set(saved.whole("dirty", ANY, high=n_slots - 1).tolist())
        self.told = dict(saved.whole("told", ANY, 2).tolist())
        clean = set(self.alive.tolist()) - self.dirty
        if self.told and any(self.told.get(slot) != self.ids[slot] for slot in clean):
            raise DataError("array 'told' misses a state that was recorded")

    def _check_names(self) -> None:
        ids = self.ids[self.alive].tolist()
        if len(set(ids)) != len(ids):
            raise DataError("array 'ids' holds a name twice")
        if any(name >= self.next_id for name in ids):
            raise DataError(f"next_id is {self.next_id}, a name that is in use or was")
        if sorted(self._free) != np.flatnonzero(~self.is_alive[: self.n_slots]).tolist():
            raise DataError("array 'free' does not name the slots without a state")

    def _grow(self) -> None:
        for name in (
            "weight",
            "mean",
            "scatter",
            "is_alive",
            "peak",
            "_refresh_at",
            "_mean_features",
        ):
            values = getattr(self, name)
            setattr(self, name, np.concatenate([values, np.zeros_like(values)]))
        self.ids = np.concatenate([self.ids, np.full_like(self.ids, -1)])
        room = np.zeros_like(self._theta)
        room[:, 0] = NOWHERE
        self._theta = np.concatenate([self._theta, room])
