"""The moments of some points: knowledge that is added and taken away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tgm.distributions.arrays import FloatArray

NOTHING = 1e-12  # a weight below this is what rounding leaves of none


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Weight, mean and scatter of weighted points.

    `Statistics` holds the same for all components of a mixture at once.

    Attributes:
        weight: the sum of the weights w.
        mean: (n_features,) the weighted mean m; of no points, anything.
        scatter: (n_features, n_features) the sum of w (x - m)(x - m)^T.
    """

    weight: float
    mean: FloatArray
    scatter: FloatArray

    @classmethod
    def of_nothing(cls, n_features: int) -> Moments:
        """The moments of no points: adding them changes nothing."""
        return cls(0.0, np.zeros(n_features), np.zeros((n_features, n_features)))

    @classmethod
    def of_points(cls, points: FloatArray, weights: FloatArray | None = None) -> Moments:
        """The moments of points (n, n_features) with weights (n,); all one if not given."""
        if weights is None:
            weights = np.ones(len(points))
        total = float(weights.sum())
        if total <= 0.0:
            return cls.of_nothing(points.shape[1])
        mean = weights @ points / total
        centred = points - mean
        return cls(total, mean, (weights[:, None] * centred).T @ centred)

    def __add__(self, other: Moments) -> Moments:
        """The moments of both sets of points together."""
        if self.weight <= 0.0 or other.weight <= 0.0:
            return other if self.weight <= 0.0 else self
        weight = self.weight + other.weight
        gap = other.mean - self.mean
        # Erratum 4: the term between the two means, missing from the print.
        between = gap[:, None] * (gap * (self.weight * other.weight / weight))
        return Moments(
            weight,
            self.mean + gap * (other.weight / weight),
            self.scatter + other.scatter + between,
        )

    def __sub__(self, part: Moments) -> Moments:
        """The moments of the points that are left when a part of them is taken away."""
        weight = self.weight - part.weight
        if weight <= NOTHING:
            return Moments(0.0, self.mean, np.zeros_like(self.scatter))
        mean = (self.weight * self.mean - part.weight * part.mean) / weight
        between = np.outer(mean - part.mean, mean - part.mean)
        between *= weight * part.weight / self.weight
        return Moments(weight, mean, self.scatter - part.scatter - between)
