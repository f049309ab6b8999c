"""The model in the units of the data: the estimator computes in deviations from the mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from tgm.distributions import FloatArray, IntArray
from tgm.estimators.model import Model

ROWS = 1 << 14  # at a time
FARTHEST = 1e100  # deviations; what is farther off counts as there, so that squares are numbers


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model with the units that it is in: x = centre + scale z."""

    model: Model
    centre: FloatArray
    scale: FloatArray

    def log_densities(self, points: FloatArray) -> FloatArray:
        """ln of weight times predictive density of points (N, O) in the data's units: (N, K)."""
        log_weights = np.log(self.model.weights)
        # The density of a feature that is missing is not part of it.
        units = np.where(np.isnan(points), 0.0, np.log(self.scale)).sum(axis=1, keepdims=True)
        with np.errstate(over="ignore"):
            scaled = np.clip((points - self.centre) / self.scale, -FARTHEST, FARTHEST)
        parts = [
            self.model.predictive.log_density(scaled[start : start + ROWS])
            for start in range(0, len(scaled), ROWS)
        ]
        return np.asarray(np.concatenate(parts) + log_weights - units)

    def log_density(self, points: FloatArray) -> FloatArray:
        """ln p(x_n), (N,)."""
        return np.asarray(logsumexp(self.log_densities(points), axis=1))

    def probabilities(self, points: FloatArray) -> FloatArray:
        """p(k | x_n), (N, K)."""
        joint = self.log_densities(points)
        joint -= joint.max(axis=1, keepdims=True)
        probability = np.exp(joint)
        return np.asarray(probability / probability.sum(axis=1, keepdims=True))

    def draw(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
        """n points (n, O) and their components (n,)."""
        labels = np.asarray(rng.choice(self.model.n_components, size=n, p=self.model.weights))
        return self.centre + self.scale * self.model.predictive.draw(labels, rng), labels

    @property
    def means(self) -> FloatArray:
        """(K, O)"""
        return np.asarray(self.centre + self.scale * self.model.gaussians.mean)

    @property
    def precisions(self) -> FloatArray:
        """(K, O, O) expected."""
        precision = self.model.gaussians.precision
        return np.asarray(precision / self.scale[:, None] / self.scale)

    @property
    def covariances(self) -> FloatArray:
        """(K, O, O) the inverses of the expected precisions."""
        covariance = np.linalg.inv(self.model.gaussians.precision)
        covariance = (covariance + np.swapaxes(covariance, 1, 2)) / 2
        return np.asarray(covariance * self.scale[:, None] * self.scale)

    def free_energy(self, free_energy: float, known: FloatArray) -> float:
        """F in the data's units, for as many known values (O,) of each feature."""
        return free_energy + float(known @ np.log(self.scale))


def in_order(model: Model) -> Model:
    """The most populous component first; equal ones by their means."""
    moments = model.moments
    order = np.lexsort([*moments.mean.T[::-1], -moments.weight])
    return model.take(order)
