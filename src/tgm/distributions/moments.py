"""Weight, mean and scatter of weighted points: the sums that all learning is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tgm.distributions.arrays import BoolArray, FloatArray
from tgm.distributions.features import Features, symmetric
from tgm.errors import DataError

LEAST_REMAINDER = 1e-12  # share of the weight before; what remains below it is rounding
CANCELLATION_LIMIT = 1e4  # ratio of second moment to scatter; above it the scatter is summed again


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Moments of one set of weighted points, or of many sets at once (leading axes).

    `a + b` has the moments of both sets of points, `whole - part` those of the points that remain.
    The sums are kept about the mean: raw second moments lose their digits far from the origin.

    Attributes:
        weight: (...,) sum of the weights w; of shape () for one set of points.
        mean: (..., n_features) weighted mean m; any finite numbers where the weight is 0.
        scatter: (..., n_features, n_features) sum of w (x - m)(x - m)^T; 0 where the weight is 0.
    """

    weight: FloatArray
    mean: FloatArray
    scatter: FloatArray

    def __post_init__(self) -> None:
        weight = np.asarray(self.weight, dtype=np.float64)
        object.__setattr__(self, "weight", weight)
        n_features = self.mean.shape[-1]
        if self.mean.shape[:-1] != weight.shape:
            raise DataError(f"mean has shape {self.mean.shape}; weight has {weight.shape}")
        if self.scatter.shape != (*self.mean.shape, n_features):
            raise DataError(f"scatter has shape {self.scatter.shape}; mean has {self.mean.shape}")

    @classmethod
    def of_nothing(cls, n_features: int, shape: tuple[int, ...] = ()) -> Moments:
        """The moments of no points, one set or an array of sets of that shape."""
        mean = np.zeros((*shape, n_features))
        return cls(np.zeros(shape), mean, np.zeros((*mean.shape, n_features)))

    @classmethod
    def of_points(cls, points: FloatArray, weights: FloatArray | None = None) -> Moments:
        """The moments of points (n_points, n_features).

        Args:
            points: (n_points, n_features)
            weights: (n_points,) for one set of points, or (n_points, n_components)
                responsibilities for one set per component; each point counts 1 if not given.
        """
        if weights is None:
            weights = np.ones(len(points))
        if weights.ndim == 2:
            return cls.of_features(Features.of_points(points), weights)
        total = weights.sum()
        if total <= 0.0:
            return cls.of_nothing(points.shape[1])
        return cls(total, *_about_mean(points, weights, total, np.zeros(points.shape[1])))

    @classmethod
    def of_features(cls, features: Features, resp: FloatArray) -> Moments:
        """The moments of each component, from the features of the points: one matrix product.

        Args:
            features: of n_points points.
            resp: (n_points, n_components) responsibilities.
        """
        n_features = features.points.shape[1]
        sums = resp.T @ features.values
        weight = sums[:, 0]
        offset = sums[:, 1 : 1 + n_features] / np.where(weight > 0, weight, 1.0)[:, None]
        between = weight[:, None, None] * offset[:, :, None] * offset[:, None, :]
        scatter = symmetric(sums[:, 1 + n_features :], n_features) - between
        for k in np.flatnonzero((weight > 0) & _cancels(between, scatter)):
            offset[k], scatter[k] = _about_mean(features.points, resp[:, k], weight[k], offset[k])
        return cls(weight, features.centre + offset, scatter)

    @property
    def n_features(self) -> int:
        """Length of a point."""
        return int(self.mean.shape[-1])

    def __getitem__(self, index: Any) -> Moments:
        """The moments of some of the sets: an index, slice, mask or array for the leading axes."""
        return Moments(self.weight[index], self.mean[index], self.scatter[index])

    def __add__(self, other: Moments) -> Moments:
        """The moments of both sets of points together; leading axes broadcast."""
        weight = self.weight + other.weight
        divisor = np.where(weight > 0, weight, 1.0)
        gap = other.mean - self.mean
        mean = self.mean + gap * _column(other.weight / divisor)
        # Erratum 4: the term between the two means, missing from the print.
        between = _scaled_square(gap, self.weight * other.weight / divisor)
        # Where this set has no points, the other mean is taken unchanged, to the last bit.
        mean = np.where(_column(self.weight > 0), mean, other.mean)
        return Moments(weight, mean, self.scatter + other.scatter + between)

    def __sub__(self, part: Moments) -> Moments:
        """The moments of the points that remain when a part of them is taken away."""
        weight = self.weight - part.weight
        remains = weight > LEAST_REMAINDER * self.weight
        weight = np.where(remains, weight, 0.0)
        divisor = np.where(remains, weight, 1.0)
        mean = _column(self.weight) * self.mean - _column(part.weight) * part.mean
        mean = np.where(_column(remains), mean / _column(divisor), self.mean)
        whole = np.where(remains, self.weight, 1.0)
        between = _scaled_square(mean - part.mean, weight * part.weight / whole)
        scatter = self.scatter - part.scatter - between
        return Moments(weight, mean, np.where(_column(_column(remains)), scatter, 0.0))

    def sum(self, axis: int = 0) -> Moments:
        """The moments of all sets along a leading axis together."""
        if not 0 <= axis < self.weight.ndim:
            raise DataError(f"axis is {axis}; the leading axes are 0 to {self.weight.ndim - 1}")
        weight = self.weight.sum(axis=axis)
        divisor = np.where(weight > 0, weight, 1.0)
        # Average differences from one of the means: far from the origin that keeps the digits.
        origin = self.mean.take([0], axis=axis)
        shares = _column(self.weight / np.expand_dims(divisor, axis))
        mean = origin + np.sum(shares * (self.mean - origin), axis=axis, keepdims=True)
        within = self.scatter.sum(axis=axis)
        between = _scaled_square(self.mean - mean, self.weight).sum(axis=axis)
        return Moments(weight, mean.squeeze(axis), within + between)

    def shifted(self, offset: FloatArray) -> Moments:
        """The moments of the same points with `offset` (n_features,) added to each."""
        return Moments(self.weight, self.mean + offset, self.scatter)


def _column(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Values (...,) with a last axis of length one, to be multiplied with vectors."""
    return np.asarray(values)[..., None]


def _scaled_square(vectors: FloatArray, factors: FloatArray) -> FloatArray:
    """factor v v^T for vectors (..., n_features) and factors (...,)."""
    return np.asarray(vectors[..., :, None] * (vectors * _column(factors))[..., None, :])


def _about_mean(
    points: FloatArray, weights: FloatArray, total: float, near: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Mean and scatter of points (n_points, n_features), in two passes.

    Differences from a point `near` the mean are averaged, so that the mean keeps its digits.
    """
    mean = near + weights @ (points - near) / total
    gaps = points - mean
    return mean, (weights[:, None] * gaps).T @ gaps


def _cancels(between: FloatArray, scatter: FloatArray) -> BoolArray:
    """Which components (n_components,) lose too many digits in moment - between = scatter.

    At the limit the subtraction loses four of sixteen digits.
    """
    removed = np.einsum("kii->ki", between)
    left = np.einsum("kii->ki", scatter)
    return np.asarray(np.any(removed > CANCELLATION_LIMIT * left, axis=1))
