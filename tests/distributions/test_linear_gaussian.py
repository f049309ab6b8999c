"""Regression with unknown weights and noise, against a chain of predictive densities."""

import numpy as np
import pytest
from tests.oracles import regression_log_evidence

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
