"""Acceleration of rounds: their combination, and covariances that are combined."""

import numpy as np
import pytest
from scipy.linalg import logm
from tests import oracles

from tgm.distributions.acceleration import combination, covariance_of, log_covariance


@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_combination_is_the_shortest(n):
    changes = np.random.default_rng(n).normal(size=(n, 9))
    found = combination(changes)
    np.testing.assert_allclose(found, oracles.shortest_combination(changes), atol=1e-6)
    assert found.sum() == pytest.approx(1.0)


def test_linear_rounds_end_once_there_are_as_many_as_unknown_numbers():
    rng = np.random.default_rng(0)
    slow, shift = np.diag([0.99, 0.9, 0.5]), rng.normal(size=3)
    guesses = rng.normal(size=(4, 3))
    images = guesses @ slow + shift
    end = np.linalg.solve(np.eye(3) - slow, shift)
    np.testing.assert_allclose(combination(images - guesses) @ images, end, rtol=1e-3)


def test_rounds_that_change_nothing_or_the_same_are_combined_too():
    np.testing.assert_array_equal(combination(np.zeros((3, 4))), [0.0, 0.0, 1.0])
    same = combination(np.ones((3, 4)))
    assert same.sum() == pytest.approx(1.0)
    parallel = combination(np.outer([4.0, 2.0, 1.0], np.ones(4)))
    assert np.abs(parallel).max() < 10.0


def test_logarithms_of_covariances():
    rng = np.random.default_rng(1)
    one, other = oracles.random_covariance(rng, 3), oracles.random_covariance(rng, 3)
    np.testing.assert_allclose(log_covariance(one), logm(one), atol=1e-10)
    np.testing.assert_allclose(covariance_of(log_covariance(one)), one, rtol=1e-10)
    beyond = 3.0 * log_covariance(one) - 2.0 * log_covariance(other)
    assert (np.linalg.eigvalsh(covariance_of(beyond)) > 0.0).all()
    assert (np.linalg.eigvalsh(3.0 * one - 2.0 * other) < 0.0).any()


def test_no_variance_is_zero_or_beyond_all_bounds():
    assert np.isfinite(log_covariance(np.diag([0.0, 1.0]))).all()
    assert (np.linalg.eigvalsh(covariance_of(np.diag([-1e6, 1e6]))) > 0.0).all()
    assert np.isfinite(covariance_of(np.diag([-1e6, 1e6]))).all()
