"""Gaussian states that learn point by point: what a point adds can be taken back again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import add

import numpy as np
from scipy.special import gammaincc

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.distributions.moments import Moments
from tgm.distributions.small import (
    inverse,
    log_det,
    mahalanobis_coefficients,
    plane_coefficients,
    put_plane_features,
    second_order,
    second_orders,
    shift_moments,
    shift_plane,
    squared_distances,
    squared_radius,
    well_conditioned,
)
from tgm.errors import DataError
from tgm.files.arrays import LARGEST_POINT, LARGEST_PRODUCT, ArrayReader, Arrays
from tgm.perception.common_covariance import LOG_2PI
from tgm.perception.component_prior import ComponentPrior
from tgm.perception.gaussian_evidence import (
    chance_spread,
    chance_width,
    log_density_anywhere,
    merge_gain,
    pooled_covariance,
    two_sides,
    widest_spread,
)
from tgm.perception.gaussian_moments import GaussianMoments
from tgm.perception.state_slots import LEAST_WEIGHT, NO_DENSITY, NO_WEIGHT

REFRESH_SHARE = 0.05  # of its points; a state that has grown by it has its density computed again
NEAR = 4.7  # deviations, in the plane, within which two states are worth comparing
WIDE = 2.5  # times the believed variance, in the plane, from which a split is worth a look
LEAST_WIDE = 1.5  # times that variance, in a state of many points: its variance is known better


class GaussianStates(GaussianMoments):
    """Owner of the states' statistics, in slots: an `ObservationModel`.

    A slot holds one state or none; a free slot is used again, an id never. The log densities of
    all slots are one product of the features (1, x, upper triangle of x x^T) with `theta`, as in
    the batch mixture. Each is the Gaussian with the covariance of the state's predictive Student t,
    whose degrees of freedom are at least those of the prior. The same features of the means are
    kept, so that squared distances from all of them are one product too.
    """

    def __init__(self, prior: ComponentPrior) -> None:
        """No states yet."""
        super().__init__(prior.n_features)
        self.prior = prior

    @property
    def prior_covariance(self) -> FloatArray:
        """(n_features, n_features) what is believed of the covariance of a state."""
        return self.prior.covariance

    @property
    def prior_dof(self) -> float:
        """Points that the prior covariance is worth in a state."""
        return self.prior.dof - self.n_features

    def scale_to_arrays(self) -> Arrays:
        """The prior that all states share."""
        return self.prior.to_arrays()

    def restore_scale(self, saved: ArrayReader) -> None:
        """Take over what `scale_to_arrays` gave, checked."""
        self.prior = ComponentPrior.from_arrays(saved, self.n_features)

    def log_densities(
        self, point: FloatArray, departure: FloatArray | None = None, action: int | None = None
    ) -> FloatArray:
        """(n_slots,) log predictive density of one point (n_features,) under each state.

        A state looks the same wherever it is entered from: the context is not used.
        """
        if len(point) == 2:
            x, y = point.tolist()
            put_plane_features(x, y, self._query_numbers, 0)
            features = self._query
        else:
            features = second_order(point)
        found: FloatArray = self._theta_used.dot(features)
        return found

    def log_densities_of(self, points: FloatArray) -> FloatArray:
        """(n_points, n_slots) the same for points (n_points, n_features)."""
        return np.asarray(second_orders(points) @ self._theta[: self.n_slots].T)

    def log_repulsion(self, point: FloatArray, slot: int) -> float:
        """ln prior of a further state at `point`, beside the state in `slot`."""
        return self.prior.log_repulsion(point - self.mean[slot])

    def log_anywhere(self, point: FloatArray) -> float:
        """ln density of a state of which nothing is known but that there are others."""
        return log_density_anywhere(self.mean[self.alive], point, np.diag(self.prior.covariance))

    def fit(self, points: FloatArray, slots: IntArray) -> FloatArray:
        """(n,) the chance that an observation of a state lies as far off as the point given.

        points: (n, n_features), slots: (n,) the state of each.
        """
        offset = points - self.mean[slots]
        square = np.einsum("ni,ij,nj->n", offset, self.prior.precision, offset)
        square /= 1.0 + 1.0 / self.weight[slots]  # the mean is not sure either
        return np.asarray(gammaincc(self.n_features / 2, square / 2))

    def squared_distances(self, points: Sequence[FloatArray], slot: int) -> list[float]:
        """Squared distances of points from a state, in typical standard deviations."""
        return squared_distances(points, self.mean[slot], self.prior.precision)

    def in_deviations(self, offset: FloatArray) -> FloatArray:
        """(n_features,) an offset times the typical precision: a product with it is a distance."""
        return np.asarray(self.prior.precision @ offset)

    def near(self, slots: Sequence[int]) -> list[tuple[int, int]]:
        """Each of some states with all others whose mean lies within NEAR typical deviations."""
        precision = self.prior.precision
        coefficients = [mahalanobis_coefficients(precision, self.mean[slot]) for slot in slots]
        squares = np.array(coefficients) @ self.mean_features.T
        return self._pairs_within(slots, squares, squared_radius(self.n_features, NEAR))

    def birth(self) -> int:
        """The slot of a new state without points."""
        slot = super().birth()
        self._theta_used = self._theta[: self.n_slots]
        self.weight[slot] = self._refresh_at[slot] = 0.0
        self._hide(slot)
        return slot

    def remove(self, slot: int) -> None:
        """Empty a slot."""
        super().remove(slot)
        self.weight[slot] = 0.0
        self._hide(slot)

    def _hide(self, slot: int) -> None:
        """A slot without points has no density."""
        self._theta[slot] = 0.0
        self._theta[slot, 0] = NO_DENSITY

    def add(self, slot: int, point: FloatArray, weight: float) -> None:
        """Add a weighted point (n_features,)."""
        before = self._weight_numbers[slot]
        after = before + weight
        if before == 0.0:
            self.mean[slot] = point
            self.scatter[slot] = 0.0
        else:
            share, spread = weight / after, weight * before / after
            if len(point) == 2:
                shift_plane(self._mean_numbers, self._scatter_numbers, slot, point, share, spread)
            else:
                shift_moments(self.mean[slot], self.scatter[slot], point, share, spread)
            self._moved.add(slot)
        self._weight_numbers[slot] = after
        # The density is computed again when a state has a twentieth more data, not at every point.
        if after >= self._refresh_at_numbers[slot]:
            self.refresh(slot)

    def take_back(self, slot: int, point: FloatArray, weight: float) -> None:
        """The inverse of `add`; a state without points keeps its slot."""
        before = float(self.weight[slot])
        after = before - weight
        if after < NO_WEIGHT:
            self.weight[slot] = LEAST_WEIGHT
            self.scatter[slot] = 0.0
        else:
            spread = -weight * before / after
            shift_moments(self.mean[slot], self.scatter[slot], point, -weight / after, spread)
            self.weight[slot] = after
        self.refresh(slot)

    def set_moments(self, slot: int, moments: Moments) -> None:
        """Replace the moments of a state."""
        self.weight[slot] = moments.weight
        self.mean[slot] = moments.mean
        self.scatter[slot] = moments.scatter
        self.refresh(slot)

    def set_prior(self, prior: ComponentPrior) -> None:
        """Take another prior and compute all states again with it."""
        self.prior = prior
        for slot in self.alive.tolist():
            self.refresh(slot)

    def set_state_density(self, log_density: float) -> None:
        """Set ln of the expected number of states per unit of volume; no density changes by it."""
        if log_density != self.prior.log_state_density:
            self.prior = replace(self.prior, log_state_density=log_density)

    def learn_scale(self, first: FloatArray, typical_step: FloatArray) -> None:
        """Empirical Bayes: the common covariance follows the scatter within states.

        `first` (n_features, n_features) is the first guess of it, `typical_step` (n_features,) how
        far a step leads.
        """
        slots = self.alive[self.weight[self.alive] > 1]
        weight, scatter = self.weight[slots], self.scatter[slots]
        covariance = pooled_covariance(self.prior, weight, scatter, first, typical_step)
        self.set_prior(replace(self.prior, covariance=covariance))

    def refresh(self, slot: int) -> None:
        """Bring the density of a state up to date with its statistics."""
        weight = self._weight_numbers[slot]
        theta, peak, scatter = self._coefficients(weight, self.mean[slot], self.scatter[slot])
        if scatter is not None:
            self.scatter[slot] = scatter
        self.peak[slot] = peak
        for place, coefficient in enumerate(theta, slot * len(theta)):
            self._theta_numbers[place] = coefficient
        self._moved.add(slot)
        self._refresh_at_numbers[slot] = weight + max(0.5, REFRESH_SHARE * weight)

    def _coefficients(
        self, weight: float, mean: FloatArray, scatter: FloatArray
    ) -> tuple[list[float], float, FloatArray | None]:
        """Theta of a state of these moments, its peak, and its scatter if that was repaired."""
        found, repaired, factor = None, None, self.prior.predictive_factor(weight)
        if len(mean) == 2:
            total = map(add, self.prior.inverse_scale_entries, scatter.ravel().tolist())
            found = plane_coefficients([entry * factor for entry in total], mean)
        if found is None:
            covariance = self.prior.predictive_covariance(weight, scatter)
            sound = well_conditioned(covariance, self.prior.inverse_scale, factor)
            if sound is not covariance:  # points that were taken back left rounding behind
                repaired = sound / factor - self.prior.inverse_scale
            found = mahalanobis_coefficients(inverse(sound), mean), log_det(sound)
        square, log_volume = found
        peak = -0.5 * (len(mean) * LOG_2PI + log_volume)
        theta = [-0.5 * coefficient for coefficient in square]
        theta[0] += peak
        return theta, peak, repaired

    # --- structure --------------------------------------------------------------------------------

    def merge_gain(self, one: int, other: int) -> float:
        """Nats of evidence of the observations won by making two states one."""
        return merge_gain(self.prior, self.moments(one), self.moments(other))

    def is_wide(self, slot: int) -> bool:
        """Whether a state is so much wider than is believed of one that it may be two."""
        n_features, weight = self.n_features, self._weight_numbers[slot]
        wide = min(WIDE, max(LEAST_WIDE, chance_spread(weight)))
        # Not wide in all directions together: then not in one. This costs less to see.
        least = (wide + max(0, n_features - 2)) * weight
        widest = widest_spread(self.prior.precision, self.scatter[slot], least)
        return widest > wide * chance_width(n_features, weight) * weight

    def cut(self, points: FloatArray) -> BoolArray | None:
        """(n,) one side of the best cut of points (n, n_features) in two, or None."""
        return two_sides(points)

    def split_gain(self, first: Moments, second: Moments) -> float:
        """Nats of evidence of the observations won by seeing two sets of points as two states."""
        return -merge_gain(self.prior, first, second)

    def log_odds(self, first: Moments, second: Moments) -> Callable[[FloatArray], float]:
        """ln of how much more likely a point is in a state of the first moments than the second."""
        here, there = (
            np.array(self._coefficients(float(m.weight), m.mean, m.scatter)[0])
            for m in (first, second)
        )
        theta = here - there
        return lambda point: float(theta.dot(second_order(point)))

    def expected_scatter(self, weight: float) -> FloatArray:
        """(n_features, n_features) the scatter to be expected of `weight` points of a state."""
        return np.asarray(self.prior.covariance * weight)

    def log_evidence(self, slot: int) -> float:
        """Nats that the points of a state add to the evidence."""
        return self.prior.log_evidence(float(self.weight[slot]), self.scatter[slot])

    def covariances(self, slots: IntArray) -> FloatArray:
        """(n, n_features, n_features) expected covariances of states."""
        dof = self.prior.dof + self.weight[slots] - self.n_features
        total = self.prior.inverse_scale + self.scatter[slots]
        return np.asarray(total / dof[:, None, None])

    def covariance(self, slot: int) -> list[float]:
        """The expected covariance of one state, row by row, in plain numbers."""
        dof = self.prior.dof - self.n_features + self.weight.item(slot)
        total = map(add, self.scatter[slot].ravel().tolist(), self.prior.inverse_scale_entries)
        return [entry / dof for entry in total]

    def to_arrays(self) -> Arrays:
        """Everything, slot by slot; theta too, which is computed only now and then."""
        n_slots = self.n_slots
        return self.slots_to_arrays() | {
            "weight": self.weight[:n_slots],
            "mean": self.mean[:n_slots],
            "scatter": self.scatter[:n_slots],
            "peak": self.peak[:n_slots],
            "refresh_at": self._refresh_at[:n_slots],
            "theta": self._theta[:n_slots],
        }

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave; the prior is given already."""
        self.restore_slots(saved)
        self._view()
        n_slots, n_features = self.n_slots, self.n_features
        self.weight[:n_slots] = saved.floats("weight", n_slots, low=0.0)
        if (self.weight[self.alive] <= 0).any():
            raise DataError("array 'weight' holds 0 for a state that is there")
        self.mean[:n_slots] = saved.floats("mean", n_slots, n_features, size=LARGEST_POINT)
        self.scatter[:n_slots] = saved.scatter(
            "scatter", n_slots, n_features, n_features, beside=self.prior.inverse_scale
        )
        self.peak[:n_slots] = saved.floats("peak", n_slots)
        self._refresh_at[:n_slots] = saved.floats("refresh_at", n_slots, low=0.0)
        n_products = self._theta.shape[1]
        theta = saved.floats("theta", n_slots, n_products, low=NO_DENSITY, size=LARGEST_PRODUCT)
        if (theta[self.alive, 0] <= NO_DENSITY).any():
            raise DataError("array 'theta' has no density for a state that is there")
        self._theta[:n_slots] = theta
        self._mean_features[:n_slots] = second_orders(self.mean[:n_slots])
