"""What is believed of a state before its points: how wide it is, and how near another may lie."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tgm.distributions import FloatArray
from tgm.distributions.small import (
    inverse,
    log_det,
    squared_length,
    squared_radius,
    well_conditioned,
)
from tgm.files.arrays import ArrayReader, Arrays, number

LOG_PI = math.log(math.pi)


@dataclass(frozen=True, eq=False)
class ComponentPrior:
    """The prior that all components of the online mixture share.

    The covariance of a state follows an inverse Wishart law; its mean may lie anywhere, at a
    density of states per unit of volume. (A Normal-Wishart prior whose mean precision goes to
    zero while the density of the mean stays put.)

    Attributes:
        covariance: (n_features, n_features) typical covariance of a state: the scale of its
            predictive Student t when only its mean is known.
        dof: how many points that is worth; above n_features + 1.
        log_state_density: ln of the expected number of states per unit of volume.
        radius: standard deviations within which observations count as one place, in the plane;
            see `squared_radius` for other numbers of features.
    """

    covariance: FloatArray
    dof: float
    log_state_density: float
    radius: float

    def to_arrays(self) -> Arrays:
        """As named arrays."""
        return {
            "covariance": self.covariance,
            "dof": number(self.dof),
            "log_state_density": number(self.log_state_density),
            "radius": number(self.radius),
        }

    @classmethod
    def from_arrays(cls, saved: ArrayReader, n_features: int) -> ComponentPrior:
        """What `to_arrays` gave, checked."""
        return cls(
            saved.positive_definite("covariance", n_features, n_features),
            saved.number("dof", low=n_features + 1.0),
            saved.number("log_state_density"),
            saved.number("radius", low=0.1, high=100.0),
        )

    @property
    def n_features(self) -> int:
        """Length of an observation."""
        return len(self.covariance)

    @cached_property
    def inverse_scale(self) -> FloatArray:
        """(n_features, n_features) parameter of the inverse Wishart law."""
        return np.asarray(self.covariance * (self.dof - self.n_features + 1))

    @cached_property
    def inverse_scale_entries(self) -> list[float]:
        """The same, row by row."""
        return self.inverse_scale.ravel().tolist()

    @cached_property
    def precision(self) -> FloatArray:
        """(n_features, n_features) inverse of the typical covariance."""
        return inverse(self.covariance)

    @cached_property
    def _log_normaliser(self) -> float:
        """The part of the evidence that no data changes."""
        return 0.5 * self.dof * log_det(self.inverse_scale) - _log_multigamma(
            self.dof / 2, self.n_features
        )

    def predictive_covariance(self, weight: float, scatter: FloatArray) -> FloatArray:
        """Scale matrix of the next point's Student t after `weight` points of that scatter."""
        return np.asarray((self.inverse_scale + scatter) * self.predictive_factor(weight))

    def predictive_factor(self, weight: float) -> float:
        """What that matrix is of the sum of the inverse scale and the scatter."""
        return (1.0 + 1.0 / weight) / (self.dof + weight - self.n_features)

    def log_evidence(self, weight: float, scatter: FloatArray) -> float:
        """ln marginal likelihood of points (their number and scatter) as one component.

        Below one whole point there is no scatter to speak of: a fraction of a point counts for
        that fraction of its evidence.
        """
        if weight < 1.0:
            return weight * self.log_state_density
        n_features, after = self.n_features, self.dof + weight - 1.0
        total = self.inverse_scale + scatter
        return (
            self.log_state_density
            - 0.5 * n_features * math.log(weight)
            - 0.5 * (weight - 1.0) * n_features * LOG_PI
            + _log_multigamma(after / 2, n_features)
            + self._log_normaliser
            - 0.5 * after * log_det(well_conditioned(total, self.inverse_scale))
        )

    def squared_distance(self, offset: FloatArray) -> float:
        """Squared length of an offset (n_features,) in standard deviations of a state."""
        return squared_length(offset, self.precision)

    def log_repulsion(self, offset: FloatArray) -> float:
        """ln prior of two states that lie `offset` apart; low for two in one place."""
        return log_repulsion(self.squared_distance(offset), self.n_features, self.radius)


def log_repulsion(square: float, n_features: int, radius: float) -> float:
    """ln prior of two states at a squared distance, in deviations.

    ln (1 - exp(-z^2)) with z the squared distance over the squared radius: the prior is nearly 0
    well within the radius and nearly 1 beyond it. With more than two features both count from
    where points of one place lie anyhow.
    """
    beside = max(0, n_features - 2)
    z = max(0.0, square - beside) / (squared_radius(n_features, radius) - beside)
    return math.log(max(-math.expm1(-(z * z)), 1e-12))


def _log_multigamma(a: float, dimension: int) -> float:
    """ln Gamma_dimension(a), for one number: SciPy's takes ten times as long."""
    total = dimension * (dimension - 1) / 4.0 * LOG_PI
    for i in range(dimension):
        total += math.lgamma(a - i / 2.0)
    return total
