"""Closed forms for two features, and NumPy for others: the same answers."""

import math

import numpy as np
import pytest
from scipy.stats import chi2
from tests.oracles import random_covariance

from tgm.distributions.small import (
    inverse,
    is_positive_definite,
    log_det,
    mahalanobis_coefficients,
    plane_coefficients,
    put_plane_features,
    second_order,
    second_orders,
    shift_moments,
    shift_plane,
    squared_distances,
    squared_length,
    squared_radius,
    well_conditioned,
)


@pytest.mark.parametrize("n_features", [1, 2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_small_matrices_are_what_numpy_says(n_features, seed):
    rng = np.random.default_rng((seed, n_features))
    matrix = random_covariance(rng, n_features)
    point, centre = rng.normal(size=(2, n_features))
    assert log_det(matrix) == pytest.approx(np.linalg.slogdet(matrix)[1], rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(inverse(matrix) @ matrix, np.eye(n_features), atol=1e-10)
    square = float((point - centre) @ matrix @ (point - centre))
    assert squared_length(point - centre, matrix) == pytest.approx(square, rel=1e-12)
    expected = [square, squared_length(-centre, matrix)]
    points = [point, np.zeros(n_features)]
    assert squared_distances(points, centre, matrix) == pytest.approx(expected, rel=1e-12)
    product = np.array(mahalanobis_coefficients(matrix, centre)) @ second_order(point)
    assert product == pytest.approx(square, rel=1e-9)


def test_a_determinant_too_small_for_the_closed_form_is_left_to_numpy():
    matrix = np.array([[1.0, 1.0], [1.0, 1.0]])
    assert log_det(matrix) == -np.inf
    with pytest.raises(np.linalg.LinAlgError):
        inverse(matrix)


@pytest.mark.parametrize("n_features", [1, 2, 3])
def test_a_sound_covariance_is_left_as_it_is(n_features):
    rng = np.random.default_rng(n_features)
    for _ in range(20):
        units = 10.0 ** rng.uniform(-40, 40, n_features)
        matrix = random_covariance(rng, n_features) * np.outer(units, units)
        assert well_conditioned(matrix, np.eye(n_features)) is matrix
        assert is_positive_definite(matrix)


UNSOUND = [
    [[-1.0]],
    [[0.0]],
    [[1.0, 1.0], [1.0, 1.0]],
    [[1.0, 0.0], [0.0, -1e58]],
    [[1e88, 1e44], [1e44, 0.5]],
    [[-1.0, 7.0], [7.0, -1.0]],
    [[1e60, 1e30, 0.0], [1e30, 1.0, 0.0], [0.0, 0.0, 2.0]],
    [[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 2.0]],
]


@pytest.mark.parametrize("matrix", UNSOUND)
def test_an_unsound_covariance_is_mended(matrix):
    matrix = np.array(matrix)
    least = 0.1 * np.eye(len(matrix))
    mended = well_conditioned(matrix, least, times=2.0)
    assert not is_positive_definite(matrix) or len(matrix) > 1
    assert is_positive_definite(mended)
    np.testing.assert_array_equal(mended, mended.T)
    assert np.isfinite(log_det(mended))
    # It can be inverted, in units in which its variances are one.
    unit = np.sqrt(mended.diagonal())
    product = inverse(mended) * np.outer(unit, unit) @ (mended / np.outer(unit, unit))
    np.testing.assert_allclose(product, np.eye(len(matrix)), atol=1e-4)
    # Variances that were sound stay, the others are the least.
    wanted = np.maximum(matrix.diagonal(), 0.2)
    np.testing.assert_allclose(mended.diagonal(), wanted, rtol=1e-6)
    assert well_conditioned(mended, least) is mended


def test_positive_definite_does_not_depend_on_units():
    sound = np.array([[1.0, 0.5], [0.5, 1.0]])
    unit = np.array([1e-20, 1e20])
    assert is_positive_definite(sound * np.outer(unit, unit))
    unsound = np.array([[1.0, 1.5], [1.5, 1.0]])
    assert not is_positive_definite(unsound * np.outer(unit, unit))
    assert not is_positive_definite(np.array([sound, unsound]))
    assert is_positive_definite(np.empty((0, 2, 2)))
    singular = np.ones((2, 2))
    assert is_positive_definite(singular, -1e-9)
    assert not is_positive_definite(singular, 1e-9)


@pytest.mark.parametrize("n_features", [1, 2, 3, 8, 64, 1000])
@pytest.mark.parametrize("radius", [0.5, math.sqrt(1.5), 2.0, 3.0, 4.7])
def test_as_much_lies_outside_a_radius_as_in_the_plane(n_features, radius):
    square = squared_radius(n_features, radius)
    assert chi2(n_features).sf(square) == pytest.approx(chi2(2).sf(radius**2), rel=1e-9)
    assert squared_radius(2, radius) == radius**2


@pytest.mark.parametrize("seed", range(5))
def test_the_coefficients_of_a_plane_are_those_of_the_parts_to_the_bit(seed):
    rng = np.random.default_rng(seed)
    covariance, mean = random_covariance(rng, 2), rng.normal(size=2)
    found = plane_coefficients(covariance.ravel().tolist(), mean)
    assert found == (mahalanobis_coefficients(inverse(covariance), mean), log_det(covariance))


def test_an_unsound_covariance_of_a_plane_is_left_to_be_mended():
    for entries in ([1.0, 1.0, 1.0, 1.0], [-1.0, 0.0, 0.0, 1.0], [1.0, 2.0, 2.0, 1.0]):
        assert plane_coefficients(entries, np.zeros(2)) is None


@pytest.mark.parametrize("n_features", [1, 2, 4])
def test_the_features_of_many_points_are_those_of_each(n_features):
    points = np.random.default_rng(0).normal(size=(5, n_features))
    wanted = [second_order(point) for point in points]
    np.testing.assert_array_equal(second_orders(points), wanted)


def test_features_and_moments_of_the_plane_number_by_number_are_the_same_to_the_bit():
    rng = np.random.default_rng(0)
    features, means, scatters = (
        rng.normal(size=(4, 6)),
        rng.normal(size=(4, 2)),
        np.zeros((4, 2, 2)),
    )
    for point in rng.normal(size=(50, 2)):
        slot, share, spread = int(rng.integers(4)), rng.random(), rng.normal()
        put_plane_features(*point.tolist(), features.reshape(-1).data, 6 * slot)
        assert features[slot].tolist() == second_order(point).tolist()
        mean, scatter = means[slot].copy(), scatters[slot].copy()
        shift_moments(mean, scatter, point, share, spread)
        shift_plane(means.reshape(-1).data, scatters.reshape(-1).data, slot, point, share, spread)
        assert means[slot].tolist() == mean.tolist()
        assert scatters[slot].tolist() == scatter.tolist()
