"""The fit: against the slow oracle, scikit-learn, and itself in other orders."""

from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest
from campaigns.formulas import as_mixture
from sklearn.mixture import BayesianGaussianMixture
from tests import oracles

from tgm.distributions import Moments, NormalWishart
from tgm.errors import DataError
from tgm.perception import (
    Mixture,
    fit,
    log_responsibilities,
    mean_shift,
    prior_from_clusters,
    responsibilities,
    variational,
)
from tgm.perception.mixture import Features

PARAMETERS = ("mean", "mean_precision", "dof", "inverse_scale")


def broad_prior(means, mean_precision=1.0, dof=4.0, concentration=1.0):
    n_components, n_features = means.shape
    components = NormalWishart(
        mean=means,
        mean_precision=np.full(n_components, mean_precision),
        dof=np.full(n_components, dof),
        inverse_scale=np.tile(np.eye(n_features), (n_components, 1, 1)),
    )
    return Mixture(np.full(n_components, concentration), components)


def assert_same_mixture(seen, wanted, tolerance):
    np.testing.assert_allclose(
        seen.weight_concentration, wanted.weight_concentration, rtol=tolerance
    )
    for name in PARAMETERS:
        np.testing.assert_allclose(
            getattr(seen.components, name),
            getattr(wanted.components, name),
            rtol=tolerance,
            atol=tolerance,
        )


def separable(seed, n_components=3, n_samples=90):
    rng = np.random.default_rng(seed)
    labels = np.arange(n_samples) % n_components
    centres = 12.0 * np.column_stack([np.arange(n_components), rng.normal(size=n_components)])
    return centres[labels] + rng.normal(size=(n_samples, 2)), labels


@pytest.mark.parametrize("seed", range(5))
def test_sweeps_agree_with_the_slow_oracle(seed):
    rng = np.random.default_rng(seed)
    belief = oracles.random_belief(rng, 3, 2)
    points = rng.normal(scale=2, size=(8, 2))
    result = fit(as_mixture(belief), points, tolerance=-np.inf, max_iterations=3)
    posterior, energies = belief, []
    for _ in range(4):
        log_resp = oracles.log_responsibilities(posterior, points)
        resp = np.array([[float(mp.exp(x)) for x in row] for row in log_resp])
        posterior = oracles.updated(belief, points, resp)
        terms = oracles.free_energy_terms(belief, posterior, points, resp)
        energies.append(float(oracles.free_energy(terms)))
    np.testing.assert_allclose(result.responsibilities, resp, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(result.free_energies, energies, rtol=1e-11)
    assert_same_mixture(result.posterior, as_mixture(posterior), 1e-10)
    assert result.n_iterations == 3
    assert not result.converged


@pytest.mark.parametrize("seed", range(20))
def test_separable_problems_agree_with_scikit_learn(seed):
    points, labels = separable(seed)
    prior = broad_prior(np.tile(points.mean(axis=0), (3, 1)), mean_precision=0.1)
    ours = fit(prior, points, initial_responsibilities=np.eye(3)[labels], tolerance=0)
    theirs = BayesianGaussianMixture(
        n_components=3,
        weight_concentration_prior_type="dirichlet_distribution",
        weight_concentration_prior=1.0,
        mean_precision_prior=0.1,
        mean_prior=points.mean(axis=0),
        degrees_of_freedom_prior=4.0,
        covariance_prior=np.eye(2),
        reg_covar=0,
        tol=1e-12,
        max_iter=1000,
        n_init=5,
        random_state=seed,
    ).fit(points)
    order = np.argsort(theirs.means_[:, 0])
    np.testing.assert_allclose(ours.posterior.components.mean, theirs.means_[order], atol=1e-6)
    np.testing.assert_allclose(ours.posterior.covariances, theirs.covariances_[order], atol=1e-6)
    np.testing.assert_allclose(
        ours.posterior.weight_concentration, theirs.weight_concentration_[order], rtol=1e-6
    )


@pytest.mark.parametrize("share", [0.0, 0.2, 0.7, 1.0])
def test_folding_in_any_split_equals_one_pass(share):
    rng = np.random.default_rng(3)
    points = rng.normal(size=(60, 2)) + 4 * rng.integers(2, size=(60, 1))
    prior = broad_prior(rng.normal(size=(4, 2)))
    whole = fit(prior, points)
    forget = rng.random(60) < share
    split = fit(prior, points, forget=forget)
    assert_same_mixture(split.posterior, whole.posterior, 1e-10)
    np.testing.assert_allclose(split.responsibilities, whole.responsibilities, atol=1e-10)
    np.testing.assert_allclose(split.free_energies, whole.free_energies, rtol=1e-10)
    forgotten = Moments.of_points(points[forget], split.responsibilities[forget])
    assert_same_mixture(split.folded, prior.update(forgotten), 1e-10)
    if share == 0:
        assert_same_mixture(split.folded, prior, 0)
    if share == 1:
        assert_same_mixture(split.folded, split.posterior, 0)


def test_folding_in_many_pieces_equals_one_pass():
    rng = np.random.default_rng(4)
    points, resp = rng.normal(size=(50, 3)) + 100, rng.dirichlet(np.ones(4), size=50)
    prior = broad_prior(rng.normal(size=(4, 3)) + 100)
    piecewise = prior
    for piece in np.array_split(rng.permutation(50), 7):
        piecewise = piecewise.update(Moments.of_points(points[piece], resp[piece]))
    assert_same_mixture(piecewise, prior.update(Moments.of_points(points, resp)), 1e-10)


def test_the_matrix_product_equals_the_differences():
    rng = np.random.default_rng(5)
    belief = oracles.random_belief(rng, 4, 3)
    mixture, points = as_mixture(belief), rng.normal(size=(20, 3)) + 7
    features = Features.of_points(points)
    assert features.values.shape == (20, 1 + 3 + 6)
    product = features.values @ mixture.natural_parameters(features.centre)
    np.testing.assert_allclose(product, mixture.log_joint(points), rtol=1e-11)


def test_responsibilities_are_probabilities_even_far_away():
    mixture = broad_prior(np.array([[0.0, 0.0], [1.0, 1.0]]))
    points = np.array([[0.0, 0.0], [1e9, -1e9], [1e-9, 0.0], [1e140, 0.0]])
    resp = responsibilities(mixture, points)
    np.testing.assert_allclose(resp.sum(axis=1), 1, atol=1e-12)
    assert np.all(resp >= 0)
    np.testing.assert_allclose(np.exp(log_responsibilities(mixture, points)), resp, rtol=1e-12)


def test_tight_components_far_from_the_origin_are_told_apart():
    means = np.array([[1e6, 1e6], [1e6 + 1e-3, 1e6]])
    prior = broad_prior(means)
    sharp = Mixture(
        prior.weight_concentration,
        NormalWishart(
            means, np.full(2, 10.0), np.full(2, 10.0), 1e-9 * np.tile(np.eye(2), (2, 1, 1))
        ),
    )
    points = np.vstack([means, [[-1e6, -1e6]]])
    resp = responsibilities(sharp, points)
    assert resp[0, 0] > 0.99
    assert resp[1, 1] > 0.99


def test_a_component_without_points_falls_back_to_its_prior_and_is_inactive():
    points, labels = separable(0, n_components=2)
    centres = [points[labels == k].mean(axis=0) for k in range(2)]
    prior = broad_prior(np.array([*centres, [-500.0, 500.0]]))
    result = fit(prior, points)
    assert result.converged
    assert result.active.tolist() == [True, True, False]
    lonely = np.array([2])
    assert_same_mixture(result.posterior.take(lonely), prior.take(lonely), 1e-12)


def test_some_component_is_active_with_fewer_points_than_components():
    result = fit(broad_prior(np.zeros((10, 2))), [[1.0, 2.0]])
    assert result.active.all()


def test_with_fewer_points_than_components_half_of_an_equal_share_is_needed():
    result = fit(broad_prior(np.zeros((8, 2))), [[1.0, 2.0], [2.0, 1.0]])
    shares = np.zeros((2, 8))
    shares[0] = [0.12, 0.13, 0.75, 0, 0, 0, 0, 0]
    shares[1, 2] = 1.0
    assert replace(result, responsibilities=shares).active.tolist() == [False, True, True] + 5 * [
        False
    ]


def test_erratum_1_all_cells_of_a_large_maze_stay():
    rng = np.random.default_rng(0)
    points = rng.integers(5, size=(1000, 2)) + rng.normal(scale=0.15, size=(1000, 2))
    result = fit(prior_from_clusters(points, mean_shift(points, 0.5)), points)
    assert result.active.sum() == 25
    found = np.unique(np.round(result.posterior.components.mean[result.active]), axis=0)
    assert len(found) == 25


def test_the_fit_stops_when_the_free_energy_does():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(90, 2))
    prior = broad_prior(points[:3])
    result = fit(prior, points)
    assert result.converged
    assert result.free_energy == result.free_energies[-1]
    assert len(result.free_energies) == result.n_iterations + 1
    falls = -np.diff(result.free_energies)
    assert falls[-1] <= 1e-8 * 90
    assert np.all(falls[:-1] > 1e-8 * 90)
    assert 5 < result.n_iterations < 500
    longer = fit(prior, points, tolerance=-np.inf, max_iterations=result.n_iterations + 7)
    assert longer.n_iterations == result.n_iterations + 7
    assert longer.converged is False


@pytest.mark.parametrize(
    ("points", "arguments", "message"),
    [
        ([[0.0, np.nan]], {}, "row 0, column 1 is nan"),
        ([[0.0, 0.0], [np.inf, 0.0]], {}, "row 1, column 0 is inf"),
        ([[0.0]], {}, "points have 1 features; the mixture has 2"),
        ([[0.0, 0.0]], {"forget": [0]}, "forget has dtype int64"),
        ([[0.0, 0.0]], {"forget": [True, False]}, r"shape \(2,\)"),
        ([[0.0, 0.0]], {"initial_responsibilities": [[1.0]]}, r"shape \(1, 1\)"),
        ([[0.0, 0.0]], {"initial_responsibilities": [[0.7, 0.7]]}, "row 0 sums to 1.4"),
        ([[0.0, 0.0]], {"initial_responsibilities": [[1.5, -0.5]]}, "smallest entry -0.5"),
        ([[0.0, 0.0]], {"initial_responsibilities": [[np.nan, 1.0]]}, "row 0 sums to nan"),
        (
            [[0.0, 0.0], [1e200, 0.0]],
            {},
            "row 1, column 0 is 1e.200; it must be finite and at most",
        ),
    ],
)
def test_impossible_input_is_named(points, arguments, message):
    with pytest.raises(DataError, match=message):
        fit(broad_prior(np.zeros((2, 2))), points, **arguments)


def test_a_free_energy_beyond_double_precision_names_the_span_of_the_points(monkeypatch):
    monkeypatch.setattr(variational, "collapsed_free_energy", lambda *_: np.inf)
    points = [[0.0, 1.0], [3.0, -1.0], [1.0, 0.0]]
    with pytest.raises(DataError, match=r"the free energy is inf: .*span \[3\.0, 2\.0\]"):
        fit(broad_prior(np.zeros((1, 2))), points)
