"""The prior that all components share, learned from them by the evidence itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tgm.distributions import FloatArray, NormalWishart, normal_wishart

FIRST_STRENGTH = 3.0  # points that the typical covariance is worth, at first
STRENGTHS = (2.0, 4096.0)  # least and largest
LARGEST_MEAN_PRECISION = 1.0  # the prior of the mean is never worth more than one point
LEAST_MEAN_PRECISION = 1e-9
LEAST_COMMON_VARIANCE = 1e-12  # of the variance of all points


@dataclass(frozen=True, eq=False)
class SharedPrior:
    """One Normal-Wishart prior for every component.

    Attributes:
        mean: (n_features,) the expected mean.
        mean_precision: points that it is worth.
        strength: points that the typical covariance is worth.
        covariance: (n_features, n_features) inverse of the expected precision.
    """

    mean: FloatArray
    mean_precision: float
    strength: float
    covariance: FloatArray

    @classmethod
    def of_data(cls, mean: FloatArray, covariance: FloatArray) -> SharedPrior:
        """Components are about as wide as all the points; learning the prior narrows them."""
        return cls(mean, LARGEST_MEAN_PRECISION, FIRST_STRENGTH, covariance)

    @cached_property
    def component(self) -> NormalWishart:
        """The prior of one component with a full covariance; it updates any number of them."""
        dof = self.strength + len(self.mean) - 1.0
        return NormalWishart(
            mean=self.mean[None],
            mean_precision=np.array([self.mean_precision]),
            dof=np.array([dof]),
            inverse_scale=dof * self.covariance[None],
        )

    @cached_property
    def log_normaliser(self) -> FloatArray:
        """(1,) of the prior of one component, computed once."""
        return normal_wishart.log_normaliser(self.component)

    def components_by_feature(self, n_components: int) -> NormalWishart:
        """The prior of K components with independent features: K times O of one feature each."""
        n_features = len(self.mean)
        variance = self.strength * np.diag(self.covariance)
        total = n_components * n_features
        return NormalWishart(
            mean=np.tile(self.mean, n_components)[:, None],
            mean_precision=np.full(total, self.mean_precision),
            dof=np.full(total, self.strength),
            inverse_scale=np.tile(variance, n_components)[:, None, None],
        )


def refine(
    prior: SharedPrior,
    expectations: tuple[FloatArray, FloatArray, FloatArray],
    known: FloatArray,
    evidence: Callable[[SharedPrior], FloatArray],
) -> tuple[SharedPrior, FloatArray]:
    """The prior under which the components' data has more evidence than under the given one.

    Maximising the evidence over the parameters of the prior: the typical covariance is the
    harmonic mean of the components' covariances, the precision of the mean is the inverse of the
    mean squared distance, in deviations of the component, of the means from the prior's.

    Args:
        prior: the prior now.
        expectations: of the posterior: means (K, O), precisions (K, O, O), mean_precision (K,).
        known: (K,) the evidence under the prior now.
        evidence: (K,) ln of the marginal likelihood of each component's data under a prior.

    Returns:
        The prior, and the evidence (K,) under it.
    """
    means, precisions, mean_precision = expectations
    n_features = means.shape[1]
    gap = means - prior.mean
    distance = np.einsum("ki,kij,kj->k", gap, precisions, gap) + n_features / mean_precision
    precision = float(np.clip(n_features / distance.mean(), LEAST_MEAN_PRECISION, 1.0))
    covariance = np.linalg.inv(precisions.mean(axis=0))
    covariance = (covariance + covariance.T) / 2 + LEAST_COMMON_VARIANCE * np.eye(n_features)
    best, highest = prior, known
    changes: list[dict[str, object]] = [{"covariance": covariance}, {"mean_precision": precision}]
    for change in changes:
        best, highest = _better(best, highest, evidence, change)
    for factor in (2.0, 0.5):
        strength = float(np.clip(best.strength * factor, *STRENGTHS))
        before = best.strength
        best, highest = _better(best, highest, evidence, {"strength": strength})
        if best.strength != before:
            break
    return best, highest


def _better(
    prior: SharedPrior,
    highest: FloatArray,
    evidence: Callable[[SharedPrior], FloatArray],
    change: dict[str, object],
) -> tuple[SharedPrior, FloatArray]:
    """The prior with a change if that has more evidence, else as it is."""
    candidate = replace(prior, **change)  # type: ignore[arg-type]
    value = evidence(candidate)
    return (candidate, value) if value.sum() > highest.sum() else (prior, highest)
