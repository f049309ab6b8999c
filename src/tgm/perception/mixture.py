"""The belief about a Gaussian mixture: Dirichlet weights and Normal-Wishart components."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from tgm.distributions import (
    BoolArray,
    Features,
    FloatArray,
    IntArray,
    Moments,
    NormalWishart,
    dirichlet,
    normal_wishart,
)
from tgm.distributions.features import upper_triangle
from tgm.errors import DataError
from tgm.files.arrays import ArrayReader, Arrays

__all__ = ["Features", "Mixture", "concatenate"]


@dataclass(frozen=True, eq=False)
class Mixture:
    """A variational Gaussian mixture. Prior, folded and posterior are values of this type.

    weight_concentration (K,): d, above 0. components: K Normal-Wishart distributions.
    """

    weight_concentration: FloatArray
    components: NormalWishart

    def __post_init__(self) -> None:
        seen, wanted = self.weight_concentration.shape, (self.components.n_components,)
        if seen != wanted:
            raise DataError(f"weight_concentration has shape {seen}; the components want {wanted}")
        for index in np.flatnonzero(~(self.weight_concentration > 0)):
            value = self.weight_concentration[index]
            raise DataError(f"weight_concentration[{index}] is {value}; it must be above 0")

    @property
    def n_components(self) -> int:
        """K."""
        return self.components.n_components

    @property
    def n_features(self) -> int:
        """O."""
        return self.components.n_features

    @property
    def expected_log_weights(self) -> FloatArray:
        """E[ln D], of shape (K,)."""
        return dirichlet.expected_log(self.weight_concentration)

    @property
    def covariances(self) -> FloatArray:
        """Each component's expected precision, inverted: (K, O, O)."""
        return normal_wishart.expected_covariance(self.components)

    def shifted(self, offset: FloatArray) -> Self:
        """The same mixture with `offset` (O,) added to every mean."""
        return replace(self, components=self.components.shifted(offset))

    def take(self, indices: IntArray | BoolArray) -> Self:
        """Some of the components, in the order given."""
        return type(self)(self.weight_concentration[indices], self.components.take(indices))

    def update(self, moments: Moments) -> Self:
        """The mixture after the data in `moments`, one set of points per component."""
        return type(self)(
            weight_concentration=self.weight_concentration + moments.weight,
            components=normal_wishart.update(self.components, moments),
        )

    def log_joint(self, points: FloatArray) -> FloatArray:
        """ln rho of points (N, O): expected log weight plus expected log density, (N, K)."""
        density = normal_wishart.expected_log_density(self.components, points)
        return np.asarray(self.expected_log_weights + density)

    @cached_property
    def _log_peaks(self) -> FloatArray:
        """(K,) ln rho at the mean of each component, computed once."""
        peaks = normal_wishart.expected_log_density_at_mean(self.components)
        return np.asarray(self.expected_log_weights + peaks)

    def natural_parameters(self, centre: FloatArray) -> FloatArray:
        """theta (F, K), such that ln rho = phi @ theta for features phi about `centre`.

        -(v/2) (x - m)^T W (x - m), expanded in x; each entry of x x^T above the diagonal counts
        twice.
        """
        precision = normal_wishart.expected_precision(self.components)
        mean = self.components.mean - centre
        linear = np.einsum("kij,kj->ki", precision, mean)
        constant = self._log_peaks - 0.5 * np.sum(linear * mean, axis=1)
        rows, columns = upper_triangle(self.n_features)
        quadratic = -precision[:, rows, columns] * np.where(rows == columns, 0.5, 1.0)
        return np.vstack([constant, linear.T, quadratic.T])

    def to_arrays(self) -> Arrays:
        """As named arrays."""
        return {
            "weight_concentration": self.weight_concentration,
            "mean": self.components.mean,
            "mean_precision": self.components.mean_precision,
            "dof": self.components.dof,
            "inverse_scale": self.components.inverse_scale,
        }

    @classmethod
    def from_arrays(cls, saved: ArrayReader, n_components: int, n_features: int) -> Self:
        """What `to_arrays` gave, checked."""
        components = NormalWishart(
            saved.floats("mean", n_components, n_features),
            saved.floats("mean_precision", n_components),
            saved.floats("dof", n_components),
            saved.positive_definite("inverse_scale", n_components, n_features, n_features),
        )
        _ = components.factor  # not positive definite: refused here, not at the first belief
        return cls(saved.floats("weight_concentration", n_components), components)


def concatenate(parts: Sequence[Mixture]) -> Mixture:
    """All components of all parts, in order, in one mixture."""
    return Mixture(
        weight_concentration=np.concatenate([part.weight_concentration for part in parts]),
        components=normal_wishart.concatenate([part.components for part in parts]),
    )
