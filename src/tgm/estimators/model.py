"""The mixture as a value: priors, and the moments of the points of each component."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from tgm.distributions import BoolArray, FloatArray, IntArray, Moments
from tgm.estimators.covariance import CovarianceKind, ExpectedGaussians
from tgm.estimators.shared_prior import SharedPrior, refine
from tgm.estimators.students import Predictive
from tgm.estimators.sweep import Assigner, Statistics
from tgm.estimators.weight_prior import WeightPrior

LEAST_POINTS = 0.5  # a component with fewer is removed


@dataclass(frozen=True, eq=False)
class Model:
    """A variational mixture after the data in `moments`; everything else follows from these.

    Attributes:
        kind: of the covariances.
        weight_prior: of the weights.
        prior: of every component.
        moments: of each component's points, (K,) sets.
        blur: (O,) variance of the rounding of the data.
    """

    kind: CovarianceKind
    weight_prior: WeightPrior
    prior: SharedPrior
    moments: Moments
    blur: FloatArray

    @property
    def n_components(self) -> int:
        """K."""
        return len(self.moments.weight)

    @cached_property
    def gaussians(self) -> ExpectedGaussians:
        """The expected log densities of the components."""
        return self.kind.gaussians(self.prior, self.moments)

    @cached_property
    def weights(self) -> FloatArray:
        """(K,) expected weights."""
        return self.weight_prior.mean(self.moments.weight)

    @cached_property
    def predictive(self) -> Predictive:
        """The density of a new point of each component."""
        return self.kind.predictive(self.prior, self.moments)

    @cached_property
    def assigner(self) -> Assigner:
        """For the responsibilities of points."""
        own = self.gaussians
        peak = own.peak + self.weight_prior.expected_log(self.moments.weight)
        return Assigner(replace(own, peak=peak), self.blur, self.kind.is_diagonal)

    @cached_property
    def evidence(self) -> FloatArray:
        """(K,) ln marginal likelihood of each component's points."""
        return self.kind.log_evidence(self.prior, self.moments)

    def free_energy(self, log_q: float) -> float:
        """F, where the posterior is the exact update of the prior by the moments.

        F = sum of r ln r (and of E[ln q] of missing values) - the log evidence of the assignments
        and of each component's points.
        """
        assignments = float(self.weight_prior.log_evidence(self.moments.weight))
        return log_q - assignments - float(self.evidence.sum())

    def with_data(self, moments: Moments) -> Model:
        """The same priors after other data."""
        return replace(self, moments=moments)

    def take(self, selection: IntArray | BoolArray) -> Model:
        """Some of the components."""
        return replace(self, moments=self.moments[selection])

    def refined(self) -> Model:
        """With the shared prior that the components' data has more evidence under."""
        own = self.gaussians
        prior, evidence = refine(
            self.prior,
            (own.mean, own.precision, own.mean_precision),
            self.evidence,
            lambda prior: self.kind.log_evidence(prior, self.moments),
        )
        if prior is self.prior:
            return self
        model = replace(self, prior=prior)
        vars(model)["evidence"] = evidence  # the cached property need not compute it again
        return model

    def updated(self, statistics: Statistics) -> Model:
        """After a sweep: the new moments, without empty components."""
        moments = statistics.moments
        alive = moments.weight > min(LEAST_POINTS, 0.5 * float(moments.weight.max()))
        if not alive.all():
            moments = moments[alive]
        return self.with_data(moments)
