"""The free energy: nine terms, their split over components, and that it never rises."""

import numpy as np
import pytest
from campaigns.formulas import as_mixture
from campaigns.free_energy import LIMIT, fit_problem, largest_rise, random_points, random_prior
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import oracles

from tgm.distributions import Moments, dirichlet, normal_wishart
from tgm.perception import fit, free_energy
from tgm.perception.free_energy import collapsed_free_energy


@settings(max_examples=300)
@given(st.integers(0, 2**32 - 1))
def test_a_sweep_never_raises_the_free_energy(seed):
    assert largest_rise(fit_problem(seed)) <= LIMIT


@pytest.mark.parametrize("seed", range(20))
def test_the_fit_reports_the_free_energy_of_its_nine_terms(seed):
    rng = np.random.default_rng(seed)
    points = random_points(rng, 30, 2)
    result = fit(random_prior(rng, points, 4), points, forget=rng.random(30) < 0.5)
    whole = free_energy(result.prior, result.posterior, points, result.responsibilities)
    assert whole.total == pytest.approx(result.free_energy, rel=1e-8)


def small_problem(seed=0):
    rng = np.random.default_rng(seed)
    prior = oracles.random_belief(rng, 3, 2)
    points, resp = rng.normal(size=(6, 2)), rng.dirichlet(np.ones(3), size=6)
    return prior, points, resp


def test_terms_and_components_sum_to_the_total():
    prior, points, resp = small_problem()
    posterior = as_mixture(oracles.updated(prior, points, resp))
    whole = free_energy(as_mixture(prior), posterior, points, resp)
    signed = [x if name.startswith("log_q_") else -x for name, x in whole.by_term().items()]
    assert len(signed) == 9
    assert sum(signed) == pytest.approx(whole.total)
    assert whole.by_component().shape == (3,)
    assert whole.by_component().sum() == pytest.approx(whole.total)


def test_each_component_carries_its_own_terms():
    """With one component at a time the split must be the oracle's, term by term."""
    prior, points, resp = small_problem(1)
    posterior = oracles.updated(prior, points, resp)
    whole = free_energy(as_mixture(prior), as_mixture(posterior), points, resp)
    for k in range(3):
        log_q_mean = oracles.expected_log_mean_density(posterior, posterior, k)
        log_p_precision = oracles.expected_log_wishart_density(prior, posterior, k)
        assert whole.log_q_mean[k] == pytest.approx(float(log_q_mean))
        assert whole.log_p_precision[k] == pytest.approx(float(log_p_precision))
        assert whole.log_q_assignments[k] == pytest.approx(np.sum(resp[:, k] * np.log(resp[:, k])))


def test_the_parameter_terms_are_the_divergences_from_the_prior():
    prior, points, resp = small_problem(2)
    p, q = as_mixture(prior), as_mixture(oracles.updated(prior, points, resp))
    whole = free_energy(p, q, points, resp)
    weights = dirichlet.kl(q.weight_concentration, p.weight_concentration)
    assert np.sum(whole.log_q_weights - whole.log_p_weights) == pytest.approx(float(weights))
    np.testing.assert_allclose(
        whole.log_q_mean + whole.log_q_precision - whole.log_p_mean - whole.log_p_precision,
        normal_wishart.kl(q.components, p.components),
    )


def test_certain_responsibilities_have_no_entropy():
    prior, points, _ = small_problem(3)
    resp = np.eye(3)[[0, 1, 2, 0, 1, 2]]
    whole = free_energy(as_mixture(prior), as_mixture(prior), points, resp)
    np.testing.assert_array_equal(whole.log_q_assignments, 0)
    assert np.isfinite(whole.total)


def test_erratum_5_forgotten_points_count_in_the_entropy():
    prior, points, resp = small_problem(4)
    mixture = as_mixture(prior)
    moments = Moments.of_points(points, resp)
    posterior = mixture.update(moments)
    whole = free_energy(mixture, posterior, points, resp)
    assert whole.by_term()["log_q_assignments"] == pytest.approx(np.sum(resp * np.log(resp)))
    collapsed = collapsed_free_energy(mixture, moments, np.sum(resp * np.log(resp), axis=0))
    assert collapsed == pytest.approx(whole.total, rel=1e-12)


def test_the_posterior_is_the_minimum():
    """Any other belief about the parameters, at the same responsibilities, is worse."""
    prior, points, resp = small_problem(5)
    mixture = as_mixture(prior)
    seen = Moments.of_points(points, resp)
    best = mixture.update(seen)
    lowest = free_energy(mixture, best, points, resp).total
    for factor in (0.5, 0.9, 1.1, 2.0):
        repeated = Moments(seen.weight * factor, seen.mean, seen.scatter * factor)
        other = mixture.update(repeated)
        assert free_energy(mixture, other, points, resp).total > lowest
