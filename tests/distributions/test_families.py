"""What the families promise beyond their formulas: sampling, divergences, shapes, errors."""

import numpy as np
import pytest
from campaigns.formulas import as_mixture
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wishart
from tests.oracles import random_belief, random_covariance

from tgm.distributions import Moments, NormalWishart, dirichlet, gaussian, normal_wishart
from tgm.errors import DataError


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


def test_gaussian_kl_agrees_with_sampling():
    rng = np.random.default_rng(1)
    means, covariances = rng.normal(size=(2, 2)), np.array([random_covariance(rng, 2)] * 2)
    covariances[1] *= 2
    draws = rng.multivariate_normal(means[0], covariances[0], size=50_000)
    log_density = gaussian.log_density(draws, means, covariances)
    gaps = log_density[:, 0] - log_density[:, 1]
    seen = gaussian.kl(means[:1], covariances[:1], means[1:], covariances[1:])[0]
    assert abs(gaps.mean() - seen) < 4 * gaps.std() / np.sqrt(len(gaps))


def test_gaussian_kl_by_hand_and_its_direction():
    one, two = np.array([[0.0]]), np.array([[1.0]])
    narrow, wide = np.array([[[1.0]]]), np.array([[[4.0]]])
    # (sigma_p^2 / sigma_q^2 + gap^2 / sigma_q^2 - 1 + ln(sigma_q^2 / sigma_p^2)) / 2
    wanted = (1 / 4 + 1 / 4 - 1 + np.log(4)) / 2
    assert gaussian.kl(one, narrow, two, wide)[0] == pytest.approx(wanted)
    assert gaussian.pairwise_kl(one, narrow, two, wide)[0, 0] == pytest.approx(wanted)
    wanted = (4 + 1 - 1 - np.log(4)) / 2
    assert gaussian.kl(two, wide, one, narrow)[0] == pytest.approx(wanted)


@settings(max_examples=100)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 4))
def test_divergences_are_zero_for_equals_and_never_negative(seed, n_components, n_features):
    rng = np.random.default_rng(seed)
    p, q = (random_belief(rng, n_components, n_features) for _ in range(2))
    ours, other = as_mixture(p).components, as_mixture(q).components
    assert dirichlet.kl(p.d, q.d) >= -1e-12
    assert np.all(normal_wishart.kl(ours, other) > 0)
    assert np.all(gaussian.pairwise_kl(p.m, p.inverse_w, q.m, q.inverse_w) > 0)
    assert abs(dirichlet.kl(p.d, p.d)) < 1e-12
    assert np.all(np.abs(normal_wishart.kl(ours, ours)) < 1e-10)
    own = gaussian.pairwise_kl(p.m, p.inverse_w, p.m, p.inverse_w)
    assert np.all(np.abs(np.diag(own)) < 1e-10)


def test_dirichlet_works_over_leading_axes():
    concentration = np.random.default_rng(0).gamma(2.0, size=(4, 3, 5))
    other = concentration[::-1, ::-1]
    assert dirichlet.log_normaliser(concentration).shape == (4, 3)
    assert dirichlet.kl(concentration, other)[1, 2] == pytest.approx(
        dirichlet.kl(concentration[1, 2], other[1, 2])
    )
    np.testing.assert_allclose(dirichlet.mean(concentration).sum(axis=-1), 1)
    np.testing.assert_array_equal(dirichlet.mean(np.array([1.0, 3.0])), [0.25, 0.75])
    np.testing.assert_array_equal(
        dirichlet.expected_log(concentration)[3, 0], dirichlet.expected_log(concentration[3, 0])
    )


def test_covariance_is_the_inverse_of_the_expected_precision():
    components = random_components(4)
    product = normal_wishart.expected_covariance(components) @ normal_wishart.expected_precision(
        components
    )
    np.testing.assert_allclose(product, np.tile(np.eye(2), (3, 1, 1)), atol=1e-12)


def test_predictive_density_sums_to_one():
    components = random_components(5, 1, 1)
    spread = np.sqrt(normal_wishart.expected_covariance(components)[0, 0, 0])
    x = components.mean[0, 0] + spread * np.linspace(-2000, 2000, 2_000_001)
    density = np.exp(normal_wishart.predictive_log_density(components, x[:, None])[:, 0])
    assert np.trapezoid(density, x) == pytest.approx(1, abs=2e-3)


def test_updating_without_data_gives_the_prior_to_the_last_bit():
    prior = random_components(6)
    same = normal_wishart.update(prior, Moments.of_nothing(2, (3,)))
    for name in ("mean", "mean_precision", "dof", "inverse_scale"):
        np.testing.assert_array_equal(getattr(same, name), getattr(prior, name))
    np.testing.assert_array_equal(
        normal_wishart.log_evidence(prior, Moments.of_nothing(2, (3,))), 0
    )


def test_features_in_very_different_units_cost_no_digits():
    rng = np.random.default_rng(7)
    units = np.array([1e-8, 1.0, 1e8])
    covariance = random_covariance(rng, 3)[None]
    points, mean = rng.normal(size=(5, 3)), np.zeros((1, 3))
    plain = gaussian.log_density(points, mean, covariance)
    scaled = gaussian.log_density(points * units, mean, covariance * np.outer(units, units))
    np.testing.assert_allclose(scaled + np.log(units).sum(), plain, rtol=1e-10)


def test_taking_and_joining_components():
    components = random_components(8)
    joined = normal_wishart.concatenate(
        [components.take(np.array([2])), components.take(np.array([0, 1]))]
    )
    for name in ("mean", "mean_precision", "dof", "inverse_scale"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(components, name)[[2, 0, 1]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mean_precision": np.array([1.0, 0.0])}, r"mean_precision\[1\] is 0.0"),
        ({"mean_precision": np.array([1.0])}, r"mean_precision has shape \(1,\)"),
        ({"dof": np.array([1.0, 3.0])}, r"dof\[0\] is 1.0.*above 1"),
        ({"dof": np.array([np.nan, 3.0])}, r"dof\[0\] is nan"),
        ({"inverse_scale": np.ones((2, 2, 2))}, r"inverse_scale"),
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
