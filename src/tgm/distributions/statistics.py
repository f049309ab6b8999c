"""What data says about Gaussian components: weight, mean and scatter, which add up exactly."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from tgm.distributions.arrays import BoolArray, FloatArray, IntArray
from tgm.distributions.features import Features, symmetric
from tgm.errors import DataError

# A raw second moment this many times the scatter loses four digits when the two are
# subtracted; beyond that the scatter is summed again about the component's own mean.
CANCELLATION_LIMIT = 1e4


@dataclass(frozen=True, eq=False)
class Statistics:
    """Sufficient statistics of weighted points, one row per component.

    weight (K,): N_k, the sum of the responsibilities.
    mean (K, O): the weighted mean; zero where the weight is zero.
    scatter (K, O, O): N_k S_k, the weighted sum of (x - mean)(x - mean)^T.
    """

    weight: FloatArray
    mean: FloatArray
    scatter: FloatArray

    @classmethod
    def zeros(cls, n_components: int, n_features: int) -> Self:
        """The statistics of no data: adding them changes nothing."""
        return cls(
            weight=np.zeros(n_components),
            mean=np.zeros((n_components, n_features)),
            scatter=np.zeros((n_components, n_features, n_features)),
        )

    @classmethod
    def of_points(cls, points: FloatArray, resp: FloatArray) -> Self:
        """The statistics of points (N, O) with responsibilities (N, K)."""
        return cls.of_features(Features.of_points(points), resp)

    @classmethod
    def of_features(cls, features: Features, resp: FloatArray) -> Self:
        """The same from the features of the points: one matrix product."""
        n_features = features.points.shape[1]
        moments = resp.T @ features.values
        weight = moments[:, 0]
        filled = weight > 0
        divisor = np.where(filled, weight, 1.0)[:, None]
        offset = moments[:, 1 : 1 + n_features] / divisor
        between = weight[:, None, None] * offset[:, :, None] * offset[:, None, :]
        scatter = symmetric(moments[:, 1 + n_features :], n_features) - between
        for k in np.flatnonzero(filled & _cancels(between, scatter)):
            # The second look also mends the rounding of the mean itself.
            offset[k] += resp[:, k] @ (features.points - offset[k]) / weight[k]
            gaps = features.points - offset[k]
            scatter[k] = (gaps * resp[:, k, None]).T @ gaps
        mean = np.where(filled[:, None], features.centre + offset, 0.0)
        return cls(weight=weight, mean=mean, scatter=scatter * filled[:, None, None])

    def __add__(self, other: Self) -> Self:
        """The statistics of both data sets together."""
        weight = self.weight + other.weight
        share = other.weight / np.where(weight > 0, weight, 1.0)
        gap = other.mean - self.mean
        # Erratum 4: the term between the two means, missing from the print.
        between = (self.weight * share)[:, None, None] * gap[:, :, None] * gap[:, None, :]
        return type(self)(
            weight=weight,
            mean=self.mean + share[:, None] * gap,
            scatter=self.scatter + other.scatter + between,
        )

    def scaled(self, factor: float | FloatArray) -> Self:
        """The same data counted `factor` times: one number, or one per component (K,)."""
        factors = np.broadcast_to(np.asarray(factor, dtype=np.float64), self.weight.shape)
        if not np.all(np.isfinite(factors) & (factors >= 0)):
            raise DataError(f"factor is {factor}, and it must be finite and at least zero")
        return type(self)(
            weight=self.weight * factors,
            mean=np.where((factors > 0)[:, None], self.mean, 0.0),
            scatter=self.scatter * factors[:, None, None],
        )

    def shifted(self, offset: FloatArray) -> Self:
        """The statistics of the same data with `offset` (O,) added to every point."""
        mean = np.where((self.weight > 0)[:, None], self.mean + offset, 0.0)
        return type(self)(self.weight, mean, self.scatter)

    def take(self, indices: IntArray | BoolArray) -> Self:
        """The statistics of some of the components, in the order given."""
        return type(self)(self.weight[indices], self.mean[indices], self.scatter[indices])


def _cancels(between: FloatArray, scatter: FloatArray) -> BoolArray:
    """Which components (K,) lose too many digits in moment - between = scatter."""
    removed = np.einsum("kii->ki", between)
    left = np.einsum("kii->ki", scatter)
    return np.asarray(np.any(removed > CANCELLATION_LIMIT * left, axis=1))
