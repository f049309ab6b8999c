"""Gaussians by mean and covariance: sampling, hand-worked numbers, digits, exact features."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from tests.oracles import random_belief, random_covariance

from tgm.distributions import gaussian


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


def test_every_pair_has_the_divergence_of_its_two():
    rng = np.random.default_rng(2)
    ours, others = rng.normal(size=(2, 3)), rng.normal(size=(4, 3))
    own = np.array([random_covariance(rng, 3) for _ in ours])
    their = np.array([random_covariance(rng, 3) for _ in others])
    found = gaussian.pairwise_kl(ours, own, others, their)
    assert found.shape == (2, 4)
    for i, j in np.ndindex(2, 4):
        pair = gaussian.kl(ours[i : i + 1], own[i : i + 1], others[j : j + 1], their[j : j + 1])
        assert found[i, j] == pytest.approx(pair[0])


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 4))
def test_divergences_are_zero_for_equals_and_never_negative(seed, n_components, n_features):
    rng = np.random.default_rng(seed)
    p, q = (random_belief(rng, n_components, n_features) for _ in range(2))
    assert np.all(gaussian.pairwise_kl(p.m, p.inverse_w, q.m, q.inverse_w) > 0)
    own = gaussian.pairwise_kl(p.m, p.inverse_w, p.m, p.inverse_w)
    assert np.all(np.abs(np.diag(own)) < 1e-10)


def test_log_density_agrees_with_scipy():
    rng = np.random.default_rng(3)
    points, means = rng.normal(size=(5, 3)), rng.normal(size=(2, 3))
    covariances = np.array([random_covariance(rng, 3) for _ in means])
    found = gaussian.log_density(points, means, covariances)
    for k in range(2):
        wanted = multivariate_normal(means[k], covariances[k]).logpdf(points)
        np.testing.assert_allclose(found[:, k], wanted)


def test_distances_far_from_the_origin_keep_their_digits():
    points, means = np.array([[1e9 + 3.0]]), np.array([[1e9]])
    assert gaussian.squared_distances(points, means, np.array([[[2.0]]]))[0, 0] == 36.0


def test_features_in_very_different_units_cost_no_digits():
    rng = np.random.default_rng(7)
    units = np.array([1e-8, 1.0, 1e8])
    covariance = random_covariance(rng, 3)[None]
    points, mean = rng.normal(size=(5, 3)), np.zeros((1, 3))
    plain = gaussian.log_density(points, mean, covariance)
    scaled = gaussian.log_density(points * units, mean, covariance * np.outer(units, units))
    np.testing.assert_allclose(scaled + np.log(units).sum(), plain, rtol=1e-10)


def test_only_exact_features_are_given_a_width():
    covariance = np.array([[[4.0, 0.0], [0.0, 0.0]], [[1.0, 0.5], [0.5, 1e-30]]])
    wide = gaussian.with_width(covariance)
    np.testing.assert_array_equal(wide[0], [[4.0, 0.0], [0.0, gaussian.LEAST_VARIANCE]])
    np.testing.assert_array_equal(wide[1], covariance[1])
    # A point beside the exact value is very far: a million deviations for each unit.
    states = gaussian.squared_distances(
        np.array([[0.0, 1.0]]), np.zeros((1, 2)), np.linalg.inv(np.sqrt(wide[:1]))
    )
    assert states[0, 0] == pytest.approx(1e12)
