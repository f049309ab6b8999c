"""The Normal-Wishart: sampling, integrals, evidence point by point, and parameters refused."""

import numpy as np
import pytest
from campaigns.formulas import as_mixture
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_t, wishart
from tests.oracles import random_belief

from tgm.distributions import Moments, NormalWishart, normal_wishart
from tgm.errors import DataError

FIELDS = ("mean", "mean_precision", "dof", "inverse_scale")


def random_components(seed, n_components=3, n_features=2):
    return as_mixture(
        random_belief(np.random.default_rng(seed), n_components, n_features)
    ).components


@pytest.mark.parametrize("n_features", [1, 2, 3])
def test_expected_log_det_agrees_with_sampled_wisharts(n_features):
    components = random_components(n_features, 1, n_features)
    rng = np.random.default_rng(0)
    draws = wishart(df=components.dof[0], scale=components.scale[0]).rvs(20_000, random_state=rng)
    log_dets = np.linalg.slogdet(draws.reshape(-1, n_features, n_features))[1]
    error = log_dets.std() / np.sqrt(len(log_dets))
    assert abs(log_dets.mean() - normal_wishart.expected_log_det(components)[0]) < 4 * error
    np.testing.assert_allclose(
        draws.mean(axis=0).reshape(n_features, n_features),
        normal_wishart.expected_precision(components)[0],
        rtol=0.05,
        atol=0.05 * np.abs(components.scale).max() * components.dof[0],
    )


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 4))
def test_divergences_are_zero_for_equals_and_never_negative(seed, n_components, n_features):
    rng = np.random.default_rng(seed)
    p, q = (as_mixture(random_belief(rng, n_components, n_features)).components for _ in range(2))
    assert np.all(normal_wishart.kl(p, q) > 0)
    assert np.all(np.abs(normal_wishart.kl(p, p)) < 1e-10)


def test_covariance_is_the_inverse_of_the_expected_precision():
    components = random_components(4)
    product = normal_wishart.expected_covariance(components) @ normal_wishart.expected_precision(
        components
    )
    np.testing.assert_allclose(product, np.tile(np.eye(2), (3, 1, 1)), atol=1e-12)


def test_predictive_density_is_a_student_t():
    components = random_components(5, 2, 3)
    points = np.random.default_rng(5).normal(size=(4, 3))
    found = normal_wishart.predictive_log_density(components, points)
    for k in range(2):
        beta, dof = components.mean_precision[k], components.dof[k] + 1 - 3
        shape = components.inverse_scale[k] * (1 + beta) / (beta * dof)
        wanted = multivariate_t(components.mean[k], shape, df=dof).logpdf(points)
        np.testing.assert_allclose(found[:, k], wanted)


def test_evidence_is_the_product_of_predictions():
    prior = random_components(9, 1, 2)
    points = np.random.default_rng(9).normal(size=(5, 2))
    belief, wanted = prior, 0.0
    for point in points:
        wanted += normal_wishart.predictive_log_density(belief, point[None])[0, 0]
        one = Moments.of_points(point[None], np.ones((1, 1)))
        belief = normal_wishart.update(belief, one)
    together = Moments.of_points(points, np.ones((5, 1)))
    assert normal_wishart.log_evidence(prior, together)[0] == pytest.approx(wanted)
    for name in FIELDS:
        at_once = getattr(normal_wishart.update(prior, together), name)
        np.testing.assert_allclose(getattr(belief, name), at_once)


def test_an_update_by_hand():
    prior = NormalWishart(np.zeros((1, 1)), np.array([2.0]), np.array([3.0]), np.array([[[5.0]]]))
    seen = Moments.of_points(np.array([[1.0], [3.0]]), np.ones((2, 1)))  # mean 2, scatter 2
    after = normal_wishart.update(prior, seen)
    # m' = (0 + 2 2) / 4; W'^-1 = 5 + 2 + (2 2 / 4) 2^2
    assert (after.mean[0, 0], after.mean_precision[0], after.dof[0]) == (1.0, 4.0, 5.0)
    assert after.inverse_scale[0, 0, 0] == pytest.approx(11.0)


def test_updating_without_data_gives_the_prior_to_the_last_bit():
    prior = random_components(6)
    same = normal_wishart.update(prior, Moments.of_nothing(2, (3,)))
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(same, name), getattr(prior, name))
    np.testing.assert_array_equal(
        normal_wishart.log_evidence(prior, Moments.of_nothing(2, (3,))), 0
    )


def test_expected_log_density_agrees_with_sampled_components():
    components, rng = random_components(10, 1, 1), np.random.default_rng(10)
    precision = wishart(df=components.dof[0], scale=components.scale[0]).rvs(
        200_000, random_state=rng
    )
    deviation = 1 / np.sqrt(components.mean_precision[0] * precision)
    mean = components.mean[0, 0] + deviation * rng.normal(size=len(precision))
    x = components.mean[0, 0] + 0.7
    draws = 0.5 * np.log(precision / (2 * np.pi)) - 0.5 * precision * (x - mean) ** 2
    found = normal_wishart.expected_log_density(components, np.array([[x]]))[0, 0]
    assert abs(draws.mean() - found) < 4 * draws.std() / np.sqrt(len(draws))


def test_taking_joining_and_shifting_components():
    components = random_components(8)
    joined = normal_wishart.concatenate(
        [components.take(np.array([2])), components.take(np.array([0, 1]))]
    )
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(joined, name), getattr(components, name)[[2, 0, 1]])
    offset = np.array([1.0, -2.0])
    moved = components.shifted(offset)
    np.testing.assert_array_equal(moved.mean, components.mean + offset)
    for name in FIELDS[1:]:
        np.testing.assert_array_equal(getattr(moved, name), getattr(components, name))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mean_precision": np.array([1.0, 0.0])}, r"mean_precision\[1\] is 0.0"),
        ({"mean_precision": np.array([1.0])}, r"mean_precision has shape \(1,\)"),
        ({"dof": np.array([1.0, 3.0])}, r"dof\[0\] is 1.0.*above 1"),
        ({"dof": np.array([np.nan, 3.0])}, r"dof\[0\] is nan"),
        ({"dof": np.array([np.inf, 3.0])}, r"dof\[0\] is inf"),
        ({"inverse_scale": np.ones((2, 2, 2))}, r"inverse_scale"),
        ({"inverse_scale": np.ones((2, 2, 3))}, r"inverse_scale has shape \(2, 2, 3\)"),
        ({"inverse_scale": np.stack([np.eye(2), -np.eye(2)])}, r"inverse_scale\[1\].*positive"),
        ({"inverse_scale": np.full((2, 2, 2), np.nan)}, r"inverse_scale\[0\].*not finite"),
    ],
)
def test_impossible_parameters_are_named(change, message):
    valid = {
        "mean": np.zeros((2, 2)),
        "mean_precision": np.ones(2),
        "dof": np.full(2, 3.0),
        "inverse_scale": np.tile(np.eye(2), (2, 1, 1)),
    }
    with pytest.raises(DataError, match=message):
        normal_wishart.expected_log_det(NormalWishart(**{**valid, **change}))
