"""Three kinds of components: full, diagonal and low-rank covariance.

Each kind turns the shared prior and the moments of the components' points into a log evidence, into
the expected log density that responsibilities need, and into the predictive density of new points.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tgm.distributions import FloatArray, Moments, NormalWishart, normal_wishart
from tgm.estimators.factors import Factors, factors
from tgm.estimators.shared_prior import SharedPrior
from tgm.estimators.students import IndependentStudents, Predictive, Students

LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class ExpectedGaussians:
    """E[ln N(x; mu_k, Lambda_k^-1)] = peak_k - (x - mean_k)^T precision_k (x - mean_k) / 2.

    peak (K,), mean (K, O), precision (K, O, O), mean_precision (K,): beta of each component.
    """

    peak: FloatArray
    mean: FloatArray
    precision: FloatArray
    mean_precision: FloatArray


class CovarianceKind(Protocol):
    """What the mixture needs to know of its components."""

    is_diagonal: bool

    def log_evidence(self, prior: SharedPrior, moments: Moments) -> FloatArray:
        """ln marginal likelihood of each component's points, (K,)."""

    def gaussians(self, prior: SharedPrior, moments: Moments) -> ExpectedGaussians:
        """The expected log densities of the components."""

    def predictive(self, prior: SharedPrior, moments: Moments) -> Predictive:
        """The density of a new point of each component."""

    def n_parameters(self, n_features: int) -> int:
        """Of the covariance of one component."""


class Full:
    """Normal-Wishart components."""

    is_diagonal = False

    def log_evidence(self, prior: SharedPrior, moments: Moments) -> FloatArray:
        """ln marginal likelihood of each component's points, (K,)."""
        after = normal_wishart.log_normaliser(self._posterior(prior, moments))
        constant = -0.5 * moments.n_features * LOG_2PI * moments.weight
        return np.asarray(constant + after - prior.log_normaliser)

    def gaussians(self, prior: SharedPrior, moments: Moments) -> ExpectedGaussians:
        """The expected log densities of the components."""
        posterior = self._posterior(prior, moments)
        return ExpectedGaussians(
            normal_wishart.expected_log_density_at_mean(posterior),
            posterior.mean,
            normal_wishart.expected_precision(posterior),
            posterior.mean_precision,
        )

    def predictive(self, prior: SharedPrior, moments: Moments) -> Predictive:
        """A Student t for each component."""
        posterior = self._posterior(prior, moments)
        beta = posterior.mean_precision
        dof = posterior.dof + 1 - posterior.n_features
        factor = (1 + beta) / (beta * dof)
        return Students(dof, posterior.mean, posterior.inverse_scale * factor[:, None, None])

    def n_parameters(self, n_features: int) -> int:
        """Of the covariance of one component."""
        return n_features * (n_features + 1) // 2

    def _posterior(self, prior: SharedPrior, moments: Moments) -> NormalWishart:
        return normal_wishart.update(prior.component, moments)


class Diagonal:
    """Independent features: a Normal-Wishart of one feature for each component and feature."""

    is_diagonal = True

    def log_evidence(self, prior: SharedPrior, moments: Moments) -> FloatArray:
        """ln marginal likelihood of each component's points, (K,)."""
        shape = moments.mean.shape
        evidence = normal_wishart.log_evidence(
            prior.components_by_feature(shape[0]), _by_feature(moments)
        )
        return np.asarray(evidence.reshape(shape).sum(axis=1))

    def gaussians(self, prior: SharedPrior, moments: Moments) -> ExpectedGaussians:
        """The expected log densities of the components."""
        shape = moments.mean.shape
        posterior = self._posterior(prior, moments)
        peak = normal_wishart.expected_log_density_at_mean(posterior).reshape(shape)
        precision = normal_wishart.expected_precision(posterior).reshape(shape)
        return ExpectedGaussians(
            peak.sum(axis=1),
            posterior.mean.reshape(shape),
            precision[:, :, None] * np.eye(shape[1]),
            posterior.mean_precision.reshape(shape)[:, 0],
        )

    def predictive(self, prior: SharedPrior, moments: Moments) -> Predictive:
        """A product of Student t, one for each feature."""
        shape = moments.mean.shape
        posterior = self._posterior(prior, moments)
        beta = posterior.mean_precision
        variance = posterior.inverse_scale[:, 0, 0] * (1 + beta) / (beta * posterior.dof)
        return IndependentStudents(
            posterior.dof.reshape(shape)[:, 0],
            posterior.mean.reshape(shape),
            variance.reshape(shape),
        )

    def n_parameters(self, n_features: int) -> int:
        """Of the covariance of one component."""
        return n_features

    def _posterior(self, prior: SharedPrior, moments: Moments) -> NormalWishart:
        components = prior.components_by_feature(len(moments.weight))
        return normal_wishart.update(components, _by_feature(moments))


class LowRank:
    """Variances of their own for all features, and the few directions in which they go together.

    Departs from the textbook: the variances are integrated out as in `Diagonal`; the correlations
    are a point estimate whose gain in likelihood pays half of ln N for each number in it.
    """

    is_diagonal = False

    def __init__(self) -> None:
        """Nothing to set: which directions are real is decided by the data."""
        self._variances = Diagonal()

    def log_evidence(self, prior: SharedPrior, moments: Moments) -> FloatArray:
        """ln marginal likelihood of each component's points, (K,), approximately."""
        evidence = self._variances.log_evidence(prior, moments)
        return np.asarray(evidence + self._factors(prior, moments).gain)

    def gaussians(self, prior: SharedPrior, moments: Moments) -> ExpectedGaussians:
        """The expected log densities of the components."""
        own = self._variances.gaussians(prior, moments)
        found = self._factors(prior, moments)
        root = np.sqrt(np.einsum("kii->ki", own.precision))
        precision = found.inverse * root[:, :, None] * root[:, None, :]
        return ExpectedGaussians(
            own.peak - 0.5 * found.log_det, own.mean, precision, own.mean_precision
        )

    def predictive(self, prior: SharedPrior, moments: Moments) -> Predictive:
        """A Student t for each component, of the variances' degrees of freedom."""
        own = self.gaussians(prior, moments)
        covariance = np.linalg.inv(own.precision)
        dof = prior.strength + moments.weight
        return Students(dof, own.mean, covariance * (1 + 1 / own.mean_precision)[:, None, None])

    def n_parameters(self, n_features: int) -> int:
        """Of the covariance of one component, with one direction."""
        return 2 * n_features

    def _factors(self, prior: SharedPrior, moments: Moments) -> Factors:
        """The correlations of each component; points of the prior have none."""
        total = moments.scatter + prior.strength * np.diag(np.diag(prior.covariance))
        scale = 1.0 / np.sqrt(np.einsum("kii->ki", total))
        return factors(total * scale[:, :, None] * scale[:, None, :], moments.weight)


def _by_feature(moments: Moments) -> Moments:
    """Each feature of each component as a set of points of its own, (K times O) of them."""
    n_features = moments.n_features
    return Moments(
        np.repeat(moments.weight, n_features),
        moments.mean.reshape(-1, 1),
        np.einsum("kii->ki", moments.scatter).reshape(-1, 1, 1),
    )


KINDS: dict[str, type[Full] | type[Diagonal] | type[LowRank]] = {
    "full": Full,
    "diag": Diagonal,
    "low_rank": LowRank,
}
