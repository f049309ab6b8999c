"""Logistic regression against integrals over its weights."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit

from tgm.distributions.logistic import LOOSE, fit_logistic, fit_with_variance, linear, quadratic


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(60, 1))
    labels = (rng.uniform(size=60) < expit(1.5 * inputs[:, 0])).astype(float)
    return inputs, labels


def test_the_evidence_is_the_integral_over_the_weights(data):
    inputs, labels = data

    def joint(weight, variance):
        odds = inputs[:, 0] * weight
        log_prior = -0.5 * weight**2 / variance - 0.5 * np.log(2.0 * np.pi * variance)
        return np.exp(labels @ odds - np.logaddexp(0.0, odds).sum() + log_prior)

    for variance in (1.0, 10.0):
        expected = np.log(quad(joint, -10.0, 20.0, args=(variance,), points=[1.5])[0])
        found = fit_with_variance(inputs, labels, variance, np.zeros(1))[1]
        assert found == pytest.approx(expected, abs=0.05)


def test_no_other_weights_fit_better(data):
    inputs, labels = data
    inputs = linear(inputs)
    weights, _ = fit_with_variance(inputs, labels, 1e3, np.zeros(2))
    slope = inputs.T @ (labels - expit(inputs @ weights)) - weights / 1e3
    np.testing.assert_allclose(slope, 0.0, atol=0.1)


def test_the_best_of_some_priors_wins_from_any_start(data):
    inputs, labels = data
    best = max(fit_with_variance(inputs, labels, v, np.zeros(1))[1] for v in LOOSE)
    assert fit_logistic(inputs, labels)[1] == pytest.approx(best, abs=1e-2)
    assert fit_logistic(inputs, labels, np.full(1, 5.0))[1] == pytest.approx(best, abs=1e-2)


def test_inputs_are_centred():
    assert linear(np.array([[0.5, 1.5]])).tolist() == [[1.0, 0.0, 1.0]]
    assert quadratic(np.array([[0.5, 2.5]])).tolist() == [[1.0, 0.0, 2.0, 0.0, 0.0, 4.0]]
