"""Which correlations of many features are no chance."""

import numpy as np
import pytest
from tests.oracles import random_covariance

from tgm.perception.low_rank import low_rank

N = 12


def test_a_true_correlation_is_kept_and_chance_is_not():
    rng, n_points = np.random.default_rng(0), 400
    points = rng.normal(size=(n_points, N))
    variance = rng.uniform(0.5, 2.0, N)
    chance = points.T @ points
    np.testing.assert_array_equal(low_rank(variance, chance, n_points), np.diag(variance))
    common = rng.normal(size=(n_points, 1))  # six features go together
    points[:, :6] = np.sqrt(0.8) * common + np.sqrt(0.2) * points[:, :6]
    found = low_rank(variance, points.T @ points, n_points)
    correlation = found / np.sqrt(np.outer(variance, variance))
    np.testing.assert_allclose(np.diag(found), variance)
    together = correlation[:6, :6][np.triu_indices(6, 1)]
    np.testing.assert_allclose(together, 0.8, atol=0.2)
    others = correlation - np.eye(N)
    others[:6, :6] = 0.0
    assert np.abs(others).max() < 0.15
    assert np.linalg.eigvalsh(found).min() > 0


@pytest.mark.parametrize("n_points", [1, 3, 20, 1000])
@pytest.mark.parametrize("seed", range(5))
def test_the_covariance_is_positive_definite_whatever_was_seen(n_points, seed):
    rng = np.random.default_rng((seed, n_points))
    points = rng.multivariate_normal(np.zeros(N), random_covariance(rng, N), size=n_points)
    found = low_rank(rng.uniform(0.1, 3.0, N), points.T @ points, n_points)
    assert np.linalg.eigvalsh(found).min() > 0


def test_every_direction_is_kept_that_is_no_chance():
    n, n_points = 30, 10_000
    products = n_points * np.eye(n)
    for pair in range(12):  # of two features each
        one, other = 2 * pair, 2 * pair + 1
        products[one, other] = products[other, one] = n_points * (0.3 + 0.02 * pair)
    found = low_rank(np.ones(n), products, n_points)
    together = np.array([found[2 * pair, 2 * pair + 1] for pair in range(12)])
    # Half of two correlated features is their common direction: (1 + r) - 1 in two equal parts.
    np.testing.assert_allclose(together, 0.5 * (0.3 + 0.02 * np.arange(12)))
    assert np.abs(found[24:, 24:] - np.eye(6)).max() < 1e-12


def test_features_of_which_less_than_nothing_is_left_go_with_no_other():
    products = np.eye(N)
    products[0, :] = products[:, 0] = 0.5
    products[0, 0] = -1.0
    np.testing.assert_array_equal(low_rank(np.ones(N), products, 50.0), np.eye(N))
