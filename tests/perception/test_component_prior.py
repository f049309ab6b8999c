"""The evidence of a state against the chain of predictions it stands for."""

import math

import numpy as np
import pytest
from scipy.stats import multivariate_t
from tests.oracles import random_covariance

from tgm.perception.component_prior import ComponentPrior


def random_prior(rng: np.random.Generator, n_features: int) -> ComponentPrior:
    return ComponentPrior(
        covariance=random_covariance(rng, n_features),
        dof=n_features + 1 + rng.gamma(2.0, 5.0),
        log_state_density=rng.normal(),
        radius=rng.uniform(1, 4),
    )


def scatter_of(points: np.ndarray) -> np.ndarray:
    centred = points - points.mean(axis=0)
    return centred.T @ centred


def chained_evidence(prior: ComponentPrior, points: np.ndarray) -> float:
    """The first point anywhere, each later one by the Student t of those before it."""
    n_features = points.shape[1]
    inverse_scale = prior.covariance * (prior.dof - n_features + 1)
    total = prior.log_state_density
    for n in range(1, len(points)):
        before = points[:n]
        dof = prior.dof + n - n_features
        shape = (inverse_scale + scatter_of(before)) * (1 + 1 / n) / dof
        total += multivariate_t(before.mean(axis=0), shape, df=dof).logpdf(points[n])
    return float(total)


@pytest.mark.parametrize("n_features", [1, 2, 4])
@pytest.mark.parametrize("seed", range(15))
def test_the_evidence_is_the_product_of_sequential_predictions(n_features, seed):
    rng = np.random.default_rng((seed, n_features))
    prior = random_prior(rng, n_features)
    points = rng.multivariate_normal(
        rng.normal(scale=5, size=n_features), prior.covariance, size=rng.integers(1, 30)
    ).reshape(-1, n_features)
    evidence = prior.log_evidence(len(points), scatter_of(points))
    assert evidence == pytest.approx(chained_evidence(prior, points), abs=1e-8)
    # In whatever order they came.
    shuffled = rng.permutation(points)
    assert evidence == pytest.approx(chained_evidence(prior, shuffled), abs=1e-8)


def test_a_fraction_of_a_point_is_a_fraction_of_its_evidence():
    prior = ComponentPrior(np.eye(2), 5.0, -3.0, 3.0)
    assert prior.log_evidence(0.25, np.zeros((2, 2))) == -0.75
    # And where a whole point begins there is no step.
    assert prior.log_evidence(1.0, np.zeros((2, 2))) == pytest.approx(-3.0)
    assert prior.log_evidence(1.0 - 1e-9, np.zeros((2, 2))) == pytest.approx(-3.0, abs=1e-6)


@pytest.mark.parametrize("n_features", [1, 2, 4])
def test_the_predictive_covariance_by_hand(n_features):
    rng = np.random.default_rng(n_features)
    covariance, scatter = (random_covariance(rng, n_features) for _ in range(2))
    prior = ComponentPrior(covariance, 10.0, 0.0, 3.0)
    # After one point the expected covariance counts twice: for the point and for its state's mean.
    first = prior.predictive_covariance(1.0, np.zeros_like(scatter))
    np.testing.assert_allclose(first, 2 * covariance)
    expected = (covariance * (11 - n_features) + scatter) * 1.25 / (14 - n_features)
    np.testing.assert_allclose(prior.predictive_covariance(4.0, scatter), expected)


def test_the_predictive_covariance_goes_to_that_of_the_points():
    prior = ComponentPrior(np.eye(2), 20.0, 0.0, 3.0)
    spread = np.array([[3.0, 1.0], [1.0, 2.0]])
    np.testing.assert_allclose(prior.predictive_covariance(1e7, spread * 1e7), spread, rtol=1e-4)


def test_repulsion_by_hand():
    prior = ComponentPrior(np.diag([4.0, 1.0]), 5.0, 0.0, radius=2.0)
    # (4, 0) is two standard deviations away, z = 4 / 4 = 1; (0, 4) is four, z = 4.
    assert prior.squared_distance(np.array([4.0, 0.0])) == pytest.approx(4)
    one, four = (prior.log_repulsion(np.array(x)) for x in ((4.0, 0.0), (0.0, 4.0)))
    assert one == pytest.approx(math.log(1 - math.exp(-1)))
    assert four == pytest.approx(math.log(1 - math.exp(-16)), rel=1e-6)
    # In one and the same place it stays finite, and very unlikely.
    assert prior.log_repulsion(np.zeros(2)) == pytest.approx(math.log(1e-12))


@pytest.mark.parametrize("factor", [1e-3, 7.0, 1e4])
def test_units_change_the_evidence_by_the_jacobian_only(factor):
    rng = np.random.default_rng(3)
    prior, points = random_prior(rng, 3), rng.normal(size=(12, 3))
    other = ComponentPrior(
        prior.covariance * factor**2,
        prior.dof,
        prior.log_state_density - 3 * math.log(factor),
        prior.radius,
    )
    evidence = prior.log_evidence(12.0, scatter_of(points))
    scaled = other.log_evidence(12.0, scatter_of(points * factor))
    assert scaled == pytest.approx(evidence - 12 * 3 * math.log(factor), abs=1e-7)
    offset = rng.normal(size=3)
    assert other.log_repulsion(offset * factor) == pytest.approx(prior.log_repulsion(offset))
