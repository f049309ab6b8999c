"""Moments against their definition: sums, differences, and the moments of nothing."""

import numpy as np
import pytest
from tests.oracles import moments_by_definition

from tgm.distributions.moments import Moments


def assert_same(actual: Moments, expected: Moments) -> None:
    assert actual.weight == pytest.approx(expected.weight)
    np.testing.assert_allclose(actual.mean, expected.mean, atol=1e-9)
    np.testing.assert_allclose(actual.scatter, expected.scatter, atol=1e-9)


def points_and_weights(n_features: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng((n_features, seed))
    return rng.normal(loc=seed, size=(9, n_features)), rng.uniform(0.1, 2.0, size=9)


@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_they_are_what_the_definition_says(n_features):
    points, weights = points_and_weights(n_features, 0)
    total, mean, scatter = moments_by_definition(points, weights)
    assert_same(Moments.of_points(points, weights), Moments(total, mean, scatter))
    total, mean, scatter = moments_by_definition(points, np.ones(9))
    assert_same(Moments.of_points(points), Moments(total, mean, scatter))


@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_a_sum_is_of_all_points_and_a_difference_of_those_that_are_left(n_features):
    one, other = (points_and_weights(n_features, seed) for seed in (1, 2))
    first, second = Moments.of_points(*one), Moments.of_points(*other)
    both = Moments.of_points(*(np.concatenate(pair) for pair in zip(one, other, strict=True)))
    assert_same(first + second, both)
    assert_same(second + first, both)
    assert_same(both - second, first)
    assert_same(both - first, second)


def test_nothing_is_the_zero_of_addition():
    some, none = Moments.of_points(*points_and_weights(3, 4)), Moments.of_nothing(3)
    assert some + none is some
    assert none + some is some
    assert (none + none).weight == 0.0
    assert Moments.of_points(np.empty((0, 3))).weight == 0.0
    assert Moments.of_points(np.ones((2, 3)), np.zeros(2)).weight == 0.0
    left = some - some
    assert left.weight == 0.0
    assert not left.scatter.any()
    assert_same(some - none, some)
