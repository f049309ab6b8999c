"""The variational free energy: the nine expectations of Appendix B, per component.

Erratum 1: the print has K for the dimension in seven of them; here it is O throughout.
"""

from dataclasses import dataclass, fields

import numpy as np
from scipy.special import gammaln, xlogy

from tgm.distributions import FloatArray, Moments, normal_wishart
from tgm.perception.mixture import Mixture


@dataclass(frozen=True, eq=False)
class FreeEnergy:
    """F = E_Q[ln Q] - E_Q[ln P], each term split over the components, (K,).

    The Dirichlet's ln Gamma(sum of d) belongs to no component: each carries an equal share.
    """

    log_q_weights: FloatArray
    log_q_mean: FloatArray
    log_q_precision: FloatArray
    log_q_assignments: FloatArray
    log_p_weights: FloatArray
    log_p_mean: FloatArray
    log_p_precision: FloatArray
    log_p_assignments: FloatArray
    log_p_points: FloatArray

    def by_term(self) -> dict[str, float]:
        """Each expectation, summed over components; F adds the log_q_, subtracts the log_p_."""
        return {field.name: float(getattr(self, field.name).sum()) for field in fields(self)}

    def by_component(self) -> FloatArray:
        """The part of the free energy of each component, (K,); the parts sum to the total."""
        terms = [
            getattr(self, field.name) * (1 if field.name.startswith("log_q_") else -1)
            for field in fields(self)
        ]
        return np.asarray(np.sum(terms, axis=0))

    @property
    def total(self) -> float:
        """F."""
        return float(self.by_component().sum())


def free_energy(
    prior: Mixture, posterior: Mixture, points: FloatArray, resp: FloatArray
) -> FreeEnergy:
    """The free energy of points (N, O) and responsibilities (N, K).

    `points` are all points, forgotten and kept, and `prior` is the prior before both: erratum 5,
    E[ln Q(Z)] sums over all points.
    """
    moments = Moments.of_points(points, resp)
    return free_energy_of(prior, posterior, moments, xlogy(resp, resp).sum(axis=0))


def free_energy_of(
    prior: Mixture, posterior: Mixture, moments: Moments, log_q_assignments: FloatArray
) -> FreeEnergy:
    """The same from the moments of the points and sum over n of r ln r, (K,)."""
    log_weights = posterior.expected_log_weights
    return FreeEnergy(
        log_q_weights=_log_weights(posterior, log_weights),
        log_q_mean=_log_mean(posterior, posterior),
        log_q_precision=_log_precision(posterior, posterior),
        log_q_assignments=log_q_assignments,
        log_p_weights=_log_weights(prior, log_weights),
        log_p_mean=_log_mean(prior, posterior),
        log_p_precision=_log_precision(prior, posterior),
        log_p_assignments=moments.weight * log_weights,
        log_p_points=_log_points(posterior, moments),
    )


def collapsed_free_energy(prior: Mixture, moments: Moments, log_q_assignments: FloatArray) -> float:
    """F where the posterior is the exact update of the prior: most of the nine terms cancel.

    F = sum of r ln r - ln B(d') + ln B(d) - the components' log evidence.
    """
    evidence = normal_wishart.log_evidence(prior.components, moments)
    before = prior.weight_concentration
    after = before + moments.weight
    weights = gammaln(after) - gammaln(before)
    total = gammaln(after.sum()) - gammaln(before.sum())
    return float(np.sum(log_q_assignments - evidence - weights) + total)


def _log_weights(mixture: Mixture, log_weights: FloatArray) -> FloatArray:
    """E_Q[ln Dir(D; d)] for the d of `mixture`."""
    concentration = mixture.weight_concentration
    shared = gammaln(concentration.sum()) / mixture.n_components
    return np.asarray(shared - gammaln(concentration) + (concentration - 1) * log_weights)


def _log_mean(mixture: Mixture, posterior: Mixture) -> FloatArray:
    """E_Q[ln N(mu; m, (beta Lambda)^-1)] for the m and beta of `mixture`."""
    own, q = mixture.components, posterior.components
    n_features, beta = own.n_features, own.mean_precision
    distance = q.dof * q.factor.quadratic(own.mean - q.mean)
    return np.asarray(
        0.5
        * (
            n_features * np.log(beta / (2 * np.pi))
            + normal_wishart.expected_log_det(q)
            - n_features * beta / q.mean_precision
            - beta * distance
        )
    )


def _log_precision(mixture: Mixture, posterior: Mixture) -> FloatArray:
    """E_Q[ln Wishart(Lambda; W, v)] for the W and v of `mixture`."""
    own, q = mixture.components, posterior.components
    log_det = normal_wishart.expected_log_det(q)
    trace = q.dof * q.factor.trace_with(own.inverse_scale)
    return np.asarray(
        0.5 * (own.dof - own.n_features - 1) * log_det
        - 0.5 * trace
        - normal_wishart.wishart_log_normaliser(own)
    )


def _log_points(posterior: Mixture, moments: Moments) -> FloatArray:
    """E_Q[ln P(X | Z, mu, Lambda)]."""
    q, weight = posterior.components, moments.weight
    within = q.factor.trace_with(moments.scatter)
    between = weight * q.factor.quadratic(moments.mean - q.mean)
    at_mean = normal_wishart.expected_log_density_at_mean(q)
    return np.asarray(weight * at_mean - 0.5 * q.dof * (within + between))
