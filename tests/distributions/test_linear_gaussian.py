"""Regression with unknown weights and noise, against a chain of predictive densities."""

import numpy as np
import pytest
from scipy.integrate import quad
from tests.oracles import regression_log_evidence, regression_predictive_covariance

from tgm.distributions.linear_gaussian import (
    RegressionPrior,
    RegressionSums,
    log_evidence,
    log_evidence_of_points,
    posterior,
)


@pytest.fixture(params=[(1, 1, 1), (3, 2, 7), (5, 3, 4)], ids=str)
def data(request):
    n_inputs, n_targets, n = request.param
    rng = np.random.default_rng(n_inputs)
    inputs = rng.normal(size=(n, n_inputs))
    targets = inputs @ rng.normal(size=(n_inputs, n_targets)) + 0.3 * rng.normal(
        size=(n, n_targets)
    )
    prior = RegressionPrior(
        rng.gamma(2.0, 1.0, n_inputs), rng.gamma(2.0, 1.0, n_targets), n_targets + 1.5
    )
    return inputs, targets, prior


def test_the_evidence_is_the_product_of_the_predictive_densities(data):
    inputs, targets, prior = data
    expected = float(
        regression_log_evidence(inputs, targets, prior.precision, prior.scale, prior.dof)
    )
    found = log_evidence(prior, RegressionSums.of(inputs, targets))
    assert found == pytest.approx(expected, abs=1e-9)
    gram = (inputs / prior.precision) @ inputs.T
    of_points = log_evidence_of_points(gram, targets, prior.scale, prior.dof)
    assert of_points == pytest.approx(expected, abs=1e-9)


def test_the_posterior_is_ridge_regression(data):
    inputs, targets, prior = data
    found = posterior(prior, RegressionSums.of(inputs, targets))
    system = inputs.T @ inputs + np.diag(prior.precision)
    np.testing.assert_allclose(found.weights, np.linalg.solve(system, inputs.T @ targets))
    doubt = np.einsum("ni,ij,nj->n", inputs, np.linalg.inv(system), inputs)
    np.testing.assert_allclose(found.doubt(inputs), doubt)


def test_the_predictive_covariance_is_noise_and_doubt(data):
    inputs, targets, prior = data
    found = posterior(prior, RegressionSums.of(inputs, targets))
    for at in (inputs[0], 3.0 * inputs[-1], np.zeros(inputs.shape[1])):
        wanted = regression_predictive_covariance(
            inputs, targets, prior.precision, prior.scale, prior.dof, at
        )
        np.testing.assert_allclose(found.predictive_covariance(at[None])[0], wanted)


def test_the_predictive_covariance_is_that_of_the_predictive_density():
    """The second moment of p(y | x, data), a ratio of two evidences, by quadrature."""
    rng = np.random.default_rng(3)
    inputs, targets = rng.normal(size=(6, 2)), rng.normal(size=(6, 1))
    prior, at = RegressionPrior(np.ones(2), np.ones(1), 2.5), np.array([0.4, -1.5])
    known = posterior(prior, RegressionSums.of(inputs, targets))
    before = log_evidence(prior, RegressionSums.of(inputs, targets))

    def density(y: float) -> float:
        after = RegressionSums.of(np.vstack([inputs, at]), np.vstack([targets, [[y]]]))
        return float(np.exp(log_evidence(prior, after) - before))

    mean = quad(lambda y: y * density(y), -np.inf, np.inf)[0]
    variance = quad(lambda y: (y - mean) ** 2 * density(y), -np.inf, np.inf)[0]
    assert mean == pytest.approx((at @ known.weights)[0], rel=1e-6)
    assert known.predictive_covariance(at[None])[0, 0, 0] == pytest.approx(variance, rel=1e-4)


def test_sums_are_added_and_taken_back(data):
    inputs, targets, _ = data
    whole, first = RegressionSums.of(inputs, targets), RegressionSums.of(inputs[:1], targets[:1])
    rest = whole - first
    again = RegressionSums.of(inputs[1:], targets[1:])
    for name in ("weight", "inputs", "products", "targets"):
        np.testing.assert_allclose(getattr(rest, name), getattr(again, name), atol=1e-12)
        np.testing.assert_allclose(getattr(again + first, name), getattr(whole, name), atol=1e-12)


def test_exact_data_leaves_a_noise_above_zero():
    inputs = np.random.default_rng(0).normal(size=(500, 3))
    prior = RegressionPrior(np.full(3, 1e-9), np.full(2, 1e-12), 3.0)
    found = posterior(prior, RegressionSums.of(inputs, inputs[:, :2] * 3.0))
    assert (np.linalg.eigvalsh(found.noise) > 0.0).all()
