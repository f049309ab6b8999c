"""Factor analysis of components: likelihood, price, and what is no chance."""

import numpy as np
import pytest
from sklearn.decomposition import FactorAnalysis
from sklearn.metrics import adjusted_rand_score
from tests import oracles

import tgm
from tgm.estimators.factors import factors


def standardised(n_points, n_features, n_directions, seed, noise=0.5):
    """Points (N, O) of mean 0 and variance 1 that go together in some directions."""
    rng = np.random.default_rng(seed)
    loadings = rng.normal(size=(n_features, n_directions))
    points = rng.normal(size=(n_points, n_directions)) @ loadings.T
    points += noise * rng.uniform(0.5, 2.0, n_features) * rng.normal(size=points.shape)
    points -= points.mean(axis=0)
    return points / points.std(axis=0)


def of_points(*sets):
    weight = np.array([float(len(points)) for points in sets])
    return factors(np.stack([points.T @ points / len(points) for points in sets]), weight)


@pytest.mark.parametrize(("n_features", "n_directions"), [(4, 1), (9, 2), (30, 3)])
def test_gain_inverse_and_determinant_are_those_of_the_dense_matrix(n_features, n_directions):
    points = standardised(300, n_features, n_directions, seed=n_features)
    found = of_points(points)
    used = np.count_nonzero(np.abs(found.loadings[0]).sum(axis=0))
    assert used == n_directions
    dense = found.loadings[0] @ found.loadings[0].T + np.diag(found.unique[0])
    np.testing.assert_allclose(found.inverse[0], np.linalg.inv(dense), rtol=1e-6, atol=1e-8)
    assert found.log_det[0] == pytest.approx(np.linalg.slogdet(dense)[1])
    price = 0.5 * np.log(300) * (n_features * used - used * (used - 1) / 2)
    assert found.gain[0] == pytest.approx(oracles.gain_of_correlations(points, dense) - price)


@pytest.mark.parametrize("seed", range(5))
def test_the_likelihood_is_nearly_the_largest(seed):
    points = standardised(400, 12, 2, seed)
    found = of_points(points)
    dense = found.loadings[0] @ found.loadings[0].T + np.diag(found.unique[0])
    peer = FactorAnalysis(2, tol=1e-8, max_iter=5000, svd_method="lapack").fit(points)
    best = oracles.gain_of_correlations(points, peer.get_covariance())
    assert oracles.gain_of_correlations(points, dense) > 0.995 * best


@pytest.mark.parametrize("n_points", [1, 5, 40, 2000])
def test_chance_is_no_direction(n_points):
    rng = np.random.default_rng(n_points)
    points = rng.normal(size=(n_points, 20))
    found = factors(np.corrcoef(points.T)[None] if n_points > 1 else np.ones((1, 20, 20)),
                    np.array([float(n_points)]))  # fmt: skip
    np.testing.assert_array_equal(found.gain, [0.0])
    np.testing.assert_array_equal(found.inverse[0], np.eye(20))


def test_each_set_is_alone():
    sets = [standardised(100, 9, 2, 0), standardised(50, 9, 1, 1),
            np.random.default_rng(2).normal(size=(80, 9))]  # fmt: skip
    sets[2] /= np.sqrt(np.square(sets[2]).mean(axis=0))
    together = of_points(*sets)
    for index, points in enumerate(sets):
        alone = of_points(points)
        np.testing.assert_allclose(together.gain[index], alone.gain[0], rtol=1e-9)
        np.testing.assert_allclose(together.inverse[index], alone.inverse[0], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("n_directions", [0, 2])
def test_clusters_of_many_features_that_go_together_are_found(n_directions):
    rng, n_features = np.random.default_rng(7), 24
    means = 3.0 * rng.normal(size=(4, n_features))
    loadings = rng.normal(size=(4, n_features, n_directions))
    labels = rng.integers(4, size=800)
    points = means[labels] + 0.3 * rng.normal(size=(800, n_features))
    points += np.einsum("nij,nj->ni", loadings[labels], rng.normal(size=(800, n_directions)))
    train, test = points[:400], points[400:]
    model = tgm.VariationalMixture(covariance_type="low_rank").fit(train)
    assert model.n_components_ == 4
    assert adjusted_rand_score(labels[400:], model.predict(test)) > 0.99
    assert model.score(test) > tgm.VariationalMixture().fit(train).score(test)
