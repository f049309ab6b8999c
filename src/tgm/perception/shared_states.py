"""Gaussian states of many features: a mean for each, and one covariance for all.

A state of 64 features would have a covariance of 2,080 numbers, for which no state is ever seen
often enough. The covariance that all states share has a variance for each feature, and a few
directions in which the noise of features goes together: diagonal plus low rank.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import gammaincc

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.distributions.moments import Moments
from tgm.distributions.small import squared_radius
from tgm.errors import DataError
from tgm.files.arrays import LARGEST_POINT, LARGEST_SQUARE, ArrayReader, Arrays, number
from tgm.files.schema import symmetric
from tgm.perception.common_covariance import CommonCovariance
from tgm.perception.component_prior import log_repulsion
from tgm.perception.gaussian_evidence import (
    FIRST_WEIGHT,
    log_density_anywhere,
    narrower_half,
    share_of_half,
    two_sides,
    widest,
)
from tgm.perception.gaussian_states import NEAR, REFRESH_SHARE
from tgm.perception.low_rank import low_rank
from tgm.perception.state_slots import LEAST_WEIGHT, NO_DENSITY, NO_WEIGHT, StateSlots

WIDE_DEVIATIONS = 4.0  # of the mean squared distance of a state's points, above what is usual


class SharedGaussianStates(StateSlots):
    """Owner of the means of states that share one covariance, in slots: an `ObservationModel`.

    The log density of x in a state of n points with mean m is that of N(m, (1 + 1/n) S), with the
    precision P of the common covariance S. With f = 1 / (1 + 1/n),

        ln p = -f/2 x'Px + f m'P x - f/2 m'Pm + peak:

    one product of the features (x'Px, Px, 1) with `theta` for all states.
    """

    PER_SLOT = ("weight", "mean", "spread", "peak", "_refresh_at", "_theta")

    def __init__(self, covariance: FloatArray, log_state_density: float, radius: float) -> None:
        """No states yet.

        Args:
            covariance: (n_features, n_features) first guess of the common covariance.
            log_state_density: ln of the expected number of states per unit of volume.
            radius: deviations within which observations count as one place, in the plane.
        """
        super().__init__()
        n_features, n_slots = len(covariance), len(self.ids)
        self.log_state_density = log_state_density
        self.radius = radius
        self.weight = np.zeros(n_slots)
        self.mean = np.zeros((n_slots, n_features))
        self.spread = np.zeros((n_slots, n_features))  # sums of squared offsets from the mean
        self.peak = np.zeros(n_slots)
        self._theta = np.zeros((n_slots, n_features + 2))
        self._refresh_at = np.zeros(n_slots)
        self._together = np.zeros((n_features, n_features))  # sums of products of offsets
        self._common = CommonCovariance(covariance)

    @property
    def n_features(self) -> int:
        """Length of an observation."""
        return self.mean.shape[1]

    @property
    def prior_covariance(self) -> FloatArray:
        """(n_features, n_features) what is believed of the covariance of a state."""
        return self._common.matrix

    @property
    def prior_dof(self) -> float:
        """No state has a covariance of its own: the common one is worth any number of points."""
        return 1e9

    @property
    def mean_features(self) -> FloatArray:
        """(n_slots, n_features) the means: `DiagonalDisplacements` asks for no products."""
        return self.mean[: self.n_slots]

    # --- densities --------------------------------------------------------------------------------

    def log_densities(
        self, point: FloatArray, departure: FloatArray | None = None, action: int | None = None
    ) -> FloatArray:
        """(n_slots,) log predictive density of one point (n_features,) under each state."""
        scaled = self._common.precision @ point
        features = np.concatenate([[scaled @ point], scaled, [1.0]])
        return np.asarray(self._theta[: self.n_slots] @ features)

    def log_densities_of(self, points: FloatArray) -> FloatArray:
        """(n_points, n_slots) the same for points (n_points, n_features)."""
        scaled = points @ self._common.precision
        squares = np.einsum("ni,ni->n", scaled, points)[:, None]
        features = np.concatenate([squares, scaled, np.ones((len(points), 1))], axis=1)
        return np.asarray(features @ self._theta[: self.n_slots].T)

    def log_repulsion(self, point: FloatArray, slot: int) -> float:
        """ln prior of a further state at `point`, beside the state in `slot`."""
        square = self._common.square(point - self.mean[slot])
        return log_repulsion(square, self.n_features, self.radius)

    def log_anywhere(self, point: FloatArray) -> float:
        """ln density of a state of which nothing is known but that there are others."""
        return log_density_anywhere(self.mean[self.alive], point, self._common.variance)

    def fit(self, points: FloatArray, slots: IntArray) -> FloatArray:
        """(n,) the chance that an observation of a state lies as far off as the point given."""
        square = self._common.squares(points - self.mean[slots]) / (1.0 + 1.0 / self.weight[slots])
        return np.asarray(gammaincc(self.n_features / 2, square / 2))

    def squared_distances(self, points: Sequence[FloatArray], slot: int) -> list[float]:
        """Squared distances of points from a state, in typical standard deviations."""
        return [self._common.square(point - self.mean[slot]) for point in points]

    def in_deviations(self, offset: FloatArray) -> FloatArray:
        """(n_features,) an offset times the precision: a product with it is a distance."""
        return np.asarray(self._common.precision @ offset)

    # --- learning ---------------------------------------------------------------------------------

    def birth(self) -> int:
        """The slot of a new state without points."""
        slot = super().birth()
        self._hide(slot)
        return slot

    def remove(self, slot: int) -> None:
        """Empty a slot."""
        super().remove(slot)
        self._hide(slot)

    def _hide(self, slot: int) -> None:
        """A slot without points has no density."""
        self.weight[slot] = self._refresh_at[slot] = 0.0
        self._theta[slot] = 0.0
        self._theta[slot, -1] = NO_DENSITY

    def add(self, slot: int, point: FloatArray, weight: float) -> None:
        """Add a weighted point (n_features,)."""
        before = float(self.weight[slot])
        after = before + weight
        if before == 0.0:
            self.mean[slot] = point
            self.spread[slot] = 0.0
        else:
            self._shift(slot, point, weight / after, weight * before / after)
        self.weight[slot] = after
        if after >= self._refresh_at[slot]:
            self.refresh(slot)

    def take_back(self, slot: int, point: FloatArray, weight: float) -> None:
        """The inverse of `add`; a state without points keeps its slot."""
        before = float(self.weight[slot])
        after = before - weight
        if after < NO_WEIGHT:
            self.weight[slot] = LEAST_WEIGHT
            self.spread[slot] = 0.0
        else:
            self._shift(slot, point, -weight / after, -weight * before / after)
            self.weight[slot] = after
        self.refresh(slot)

    def _shift(self, slot: int, point: FloatArray, share: float, spread: float) -> None:
        offset = point - self.mean[slot]
        self.mean[slot] += share * offset
        self.spread[slot] = np.maximum(self.spread[slot] + spread * offset**2, 0.0)
        self._together += spread * np.outer(offset, offset)

    def set_moments(self, slot: int, moments: Moments) -> None:
        """Replace the moments of a state."""
        self.weight[slot] = moments.weight
        self.mean[slot] = moments.mean
        self.spread[slot] = np.maximum(np.diag(moments.scatter), 0.0)
        self.refresh(slot)

    def refresh(self, slot: int) -> None:
        """Bring the density of a state up to date with its statistics."""
        weight, mean = float(self.weight[slot]), self.mean[slot]
        wider = 1.0 + 1.0 / weight
        self.peak[slot] = self._common.log_peak(wider)
        scaled = self._common.precision @ mean
        self._theta[slot, 0] = -0.5 / wider
        self._theta[slot, 1:-1] = mean / wider
        self._theta[slot, -1] = self.peak[slot] - 0.5 * float(scaled @ mean) / wider
        self._refresh_at[slot] = weight + max(0.5, REFRESH_SHARE * weight)

    # --- scale ------------------------------------------------------------------------------------

    def set_state_density(self, log_density: float) -> None:
        """Set ln of the expected number of states per unit of volume; no density changes by it."""
        self.log_state_density = log_density

    def learn_scale(self, first: FloatArray, typical_step: FloatArray) -> None:
        """Empirical Bayes: variances within states, and the directions in which they go together.

        `first` (n_features, n_features) is the first guess of the covariance.
        """
        slots = self.alive[self.weight[self.alive] > 1]
        if not len(slots):
            return
        weight, spread, guess = self.weight[slots], self.spread[slots], np.diag(first)
        freedom = weight - 1
        chosen = narrower_half((spread / self._common.variance).sum(axis=1), freedom)
        total = FIRST_WEIGHT + float(freedom[chosen].sum())
        found = spread[chosen].sum(axis=0) / share_of_half(freedom, self.n_features)
        most = widest(weight, np.sqrt(guess), typical_step)
        variance = np.minimum((FIRST_WEIGHT * guess + found) / total, most**2)
        covariance = low_rank(variance, self._together, float(freedom.sum()))
        self._common = CommonCovariance(covariance)
        for slot in self.alive.tolist():
            self.refresh(slot)

    def scale_to_arrays(self) -> Arrays:
        """What is believed of all states."""
        return {
            "covariance": self.prior_covariance,
            "together": self._together,
            "log_state_density": number(self.log_state_density),
            "radius": number(self.radius),
        }

    def restore_scale(self, saved: ArrayReader) -> None:
        """Take over what `scale_to_arrays` gave, checked; before `restore`."""
        n_features = self.n_features
        # Points that were taken back leave rounding: this need not be a scatter.
        wanted = {"together": symmetric(n_features, n_features)}
        self._together = saved.read(wanted)["together"]
        self.log_state_density = saved.number("log_state_density")
        self.radius = saved.number("radius", low=0.1, high=100.0)
        covariance = saved.positive_definite("covariance", n_features, n_features)
        self._common = CommonCovariance(covariance)

    # --- structure --------------------------------------------------------------------------------

    def moments(self, slot: int) -> Moments:
        """Weight, mean and scatter of the points of a state; the scatter as it is expected."""
        weight = self.weight[slot]
        return Moments(weight, self.mean[slot].copy(), self.expected_scatter(float(weight)))

    def near(self, slots: Sequence[int]) -> list[tuple[int, int]]:
        """Each of some states with all others whose mean lies within NEAR typical deviations."""
        means, squares = self.mean[: self.n_slots], self._common.squares
        found = np.array([squares(means - self.mean[slot]) for slot in slots])
        return self._pairs_within(slots, found, squared_radius(self.n_features, NEAR))

    def merge_gain(self, one: int, other: int) -> float:
        """Nats of evidence of the observations won by making two states one."""
        weights = float(self.weight[one]), float(self.weight[other])
        return self._merge_gain(*weights, self.mean[one] - self.mean[other])

    def _merge_gain(self, first: float, second: float, offset: FloatArray) -> float:
        """Evidence of one mean for n1 + n2 points instead of two, the covariance being known.

        -ln rho - ln |2 pi S| / 2 - d/2 ln(n / (n1 n2)) - n1 n2 / (2n) d'Pd - ln repulsion
        """
        harmonic, square = first * second / (first + second), self._common.square(offset)
        log_mean = self._common.log_peak(1.0 / harmonic) - 0.5 * harmonic * square
        repulsion = log_repulsion(square, self.n_features, self.radius)
        return log_mean - self.log_state_density - repulsion

    def is_wide(self, slot: int) -> bool:
        """Whether the points of a state lie further off than chance explains: it may be two."""
        n_features, weight = self.n_features, float(self.weight[slot])
        square = float((self.spread[slot] / self._common.variance).sum()) / weight
        return square > n_features + WIDE_DEVIATIONS * math.sqrt(2 * n_features / weight)

    def cut(self, points: FloatArray) -> BoolArray | None:
        """(n,) one side of the best cut of points (n, n_features) in two, or None."""
        return two_sides(points / np.sqrt(self._common.variance))

    def split_gain(self, first: Moments, second: Moments) -> float:
        """Nats of evidence of the observations won by seeing two sets of points as two states."""
        weights = float(first.weight), float(second.weight)
        return -self._merge_gain(*weights, first.mean - second.mean)

    def log_odds(self, first: Moments, second: Moments) -> Callable[[FloatArray], float]:
        """ln of how much more likely a point is in a state of the first moments than the second."""

        def log_density(moments: Moments, point: FloatArray) -> float:
            wider = 1.0 + 1.0 / float(moments.weight)
            square = self._common.square(point - moments.mean)
            return -0.5 * (square / wider + self.n_features * math.log(wider))

        return lambda point: log_density(first, point) - log_density(second, point)

    def expected_scatter(self, weight: float) -> FloatArray:
        """(n_features, n_features) the scatter to be expected of `weight` points of a state."""
        return np.asarray(self.prior_covariance * weight)

    def log_evidence(self, slot: int) -> float:
        """Nats that the points of a state add to the evidence."""
        weight = float(self.weight[slot])
        if weight < 1.0:
            return weight * self.log_state_density
        square = float((self.spread[slot] / self._common.variance).sum())
        log_points = (weight - 1.0) * self._common.log_peak() - 0.5 * square
        return self.log_state_density + log_points - 0.5 * self.n_features * math.log(weight)

    # --- reports and files ------------------------------------------------------------------------

    def covariances(self, slots: IntArray) -> FloatArray:
        """(n, n_features, n_features) the common covariance, for each state."""
        return np.broadcast_to(self.prior_covariance, (len(slots), *self.prior_covariance.shape))

    def covariance(self, slot: int) -> list[float]:
        """The covariance of one state, row by row, in plain numbers."""
        return self.prior_covariance.ravel().tolist()

    def to_arrays(self) -> Arrays:
        """Everything, slot by slot; theta too, which is computed only now and then."""
        n_slots = self.n_slots
        return self.slots_to_arrays() | {
            "weight": self.weight[:n_slots],
            "mean": self.mean[:n_slots],
            "spread": self.spread[:n_slots],
            "peak": self.peak[:n_slots],
            "refresh_at": self._refresh_at[:n_slots],
            "theta": self._theta[:n_slots],
        }

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave; the scale is given already."""
        self.restore_slots(saved)
        n_slots, n_features = self.n_slots, self.n_features
        self.weight[:n_slots] = saved.floats("weight", n_slots, low=0.0)
        if (self.weight[self.alive] <= 0).any():
            raise DataError("array 'weight' holds 0 for a state that is there")
        self.mean[:n_slots] = saved.floats("mean", n_slots, n_features, size=LARGEST_POINT)
        self.spread[:n_slots] = saved.floats(
            "spread", n_slots, n_features, low=0.0, size=LARGEST_SQUARE
        )
        self.peak[:n_slots] = saved.floats("peak", n_slots)
        self._refresh_at[:n_slots] = saved.floats("refresh_at", n_slots, low=0.0)
        theta = saved.floats("theta", n_slots, n_features + 2, low=NO_DENSITY, size=LARGEST_SQUARE)
        if (theta[self.alive, -1] <= NO_DENSITY).any():
            raise DataError("array 'theta' has no density for a state that is there")
        self._theta[:n_slots] = theta
