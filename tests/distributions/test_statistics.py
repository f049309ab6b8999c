"""Additive statistics: sums of data sets, far from the origin, and the empty ones."""

import numpy as np
import pytest
from tests.oracles import as_floats, weighted_moments

from tgm.distributions import Statistics
from tgm.errors import DataError


def random_data(seed, n_samples=40, n_components=3, n_features=2):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n_samples, n_features)) @ rng.normal(size=(n_features, n_features))
    return points, rng.dirichlet(np.full(n_components, 0.4), size=n_samples)


def assert_same(seen, wanted, tolerance=1e-10):
    np.testing.assert_allclose(seen.weight, wanted.weight, rtol=tolerance)
    np.testing.assert_allclose(seen.mean, wanted.mean, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(seen.scatter, wanted.scatter, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("n_features", [1, 2, 4])
def test_statistics_agree_with_sums_over_points(offset, n_features):
    points, resp = random_data(n_features, n_samples=12, n_features=n_features)
    points = points + offset
    seen = Statistics.of_points(points, resp)
    for k in range(resp.shape[1]):
        weight, mean, scatter = weighted_moments(points, resp, k)
        assert seen.weight[k] == pytest.approx(float(weight), rel=1e-13)
        np.testing.assert_allclose(seen.mean[k], as_floats(mean).ravel(), rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(seen.scatter[k], as_floats(scatter), rtol=1e-9, atol=1e-11)


def test_tight_clusters_far_apart_keep_the_digits_of_their_scatter():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 20)
    points = np.array([[-1e6, 3e6], [1e6, 0.0]])[labels] + rng.normal(scale=1e-2, size=(40, 2))
    seen = Statistics.of_points(points, np.eye(2)[labels])
    for k in range(2):
        _, _, scatter = weighted_moments(points, np.eye(2)[labels], k)
        np.testing.assert_allclose(seen.scatter[k], as_floats(scatter), rtol=1e-6)


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("cut", [0, 1, 13, 40])
def test_the_sum_of_two_parts_is_the_whole(cut, offset):
    points, resp = random_data(7)
    points = points + offset
    first = Statistics.of_points(points[:cut], resp[:cut])
    second = Statistics.of_points(points[cut:], resp[cut:])
    whole = Statistics.of_points(points, resp)
    tolerance = 1e-10 if offset == 0 else 1e-8
    assert_same(first + second, whole, tolerance)
    assert_same(second + first, whole, tolerance)


def test_adding_nothing_changes_nothing_to_the_last_bit():
    whole = Statistics.of_points(*random_data(3))
    nothing = Statistics.zeros(3, 2)
    for total in (whole + nothing, nothing + whole):
        np.testing.assert_array_equal(total.weight, whole.weight)
        np.testing.assert_array_equal(total.mean, whole.mean)
        np.testing.assert_array_equal(total.scatter, whole.scatter)


def test_two_single_points_by_hand():
    left = Statistics(np.array([1.0]), np.array([[0.0, 0.0]]), np.zeros((1, 2, 2)))
    right = Statistics(np.array([3.0]), np.array([[4.0, 0.0]]), np.zeros((1, 2, 2)))
    total = left + right
    assert total.weight.tolist() == [4.0]
    assert total.mean.tolist() == [[3.0, 0.0]]
    # 1 * 3 / 4 * 4^2
    assert total.scatter.tolist() == [[[12.0, 0.0], [0.0, 0.0]]]


def test_a_component_without_data_is_zero():
    points, resp = random_data(1)
    resp = np.hstack([resp, np.zeros((len(resp), 1))])
    seen = Statistics.of_points(points + 5, resp)
    assert seen.weight[3] == 0
    assert not seen.mean[3].any()
    assert not seen.scatter[3].any()


def test_scaling_counts_the_same_data_again():
    points, resp = random_data(2)
    once = Statistics.of_points(points, resp)
    assert_same(once.scaled(3.0), once + once + once)
    forgotten = once.scaled(np.array([1.0, 0.0, 0.5]))
    assert forgotten.weight[1] == 0
    assert not forgotten.mean[1].any()
    np.testing.assert_array_equal(forgotten.mean[2], once.mean[2])
    with pytest.raises(DataError, match=r"factor is -1"):
        once.scaled(-1.0)


def test_shifting_the_data_shifts_the_means():
    points, resp = random_data(2)
    resp[:, 0] = 0
    offset = np.array([5.0, -3.0])
    shifted = Statistics.of_points(points, resp).shifted(offset)
    assert_same(shifted, Statistics.of_points(points + offset, resp))
    assert not shifted.mean[0].any()


def test_taking_components_keeps_their_order():
    once = Statistics.of_points(*random_data(2))
    some = once.take(np.array([2, 0]))
    np.testing.assert_array_equal(some.weight, once.weight[[2, 0]])
    np.testing.assert_array_equal(some.mean, once.mean[[2, 0]])
    np.testing.assert_array_equal(some.scatter, once.scatter[[2, 0]])
