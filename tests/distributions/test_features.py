"""The features 1, x, upper triangle of x x^T: values, order and the way back to matrices."""

import numpy as np
import pytest

from tgm.distributions import Features
from tgm.distributions.features import symmetric, upper_triangle


def test_features_by_hand():
    features = Features.of_points(np.array([[1.0, 5.0], [3.0, 1.0]]))
    np.testing.assert_array_equal(features.centre, [2.0, 3.0])
    np.testing.assert_array_equal(features.points, [[-1.0, 2.0], [1.0, -2.0]])
    # 1, x, y, x x, x y, y y
    wanted = [[1.0, -1.0, 2.0, 1.0, -2.0, 4.0], [1.0, 1.0, -2.0, 1.0, -2.0, 4.0]]
    np.testing.assert_array_equal(features.values, wanted)


def test_no_points_have_no_features_and_a_centre():
    features = Features.of_points(np.empty((0, 3)))
    np.testing.assert_array_equal(features.centre, np.zeros(3))
    assert features.values.shape == (0, 10)


@pytest.mark.parametrize("selection", [np.array([2, 0]), np.array([True, False, True])])
def test_some_points_keep_the_centre_of_all(selection):
    features = Features.of_points(np.random.default_rng(0).normal(size=(3, 2)))
    some = features.take(selection)
    assert some.centre is features.centre
    np.testing.assert_array_equal(some.points, features.points[selection])
    np.testing.assert_array_equal(some.values, features.values[selection])


def test_matrices_from_their_upper_triangles():
    found = symmetric(np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]), 3)
    np.testing.assert_array_equal(found[0], [[1, 2, 3], [2, 4, 5], [3, 5, 6]])
    seen = np.random.default_rng(1).normal(size=3)
    values = Features.of_points(np.array([seen, -seen])).values  # about the origin
    np.testing.assert_allclose(symmetric(values[:1, 4:], 3)[0], np.outer(seen, seen))


def test_nobody_can_change_the_cached_indices():
    for indices in upper_triangle(3):
        with pytest.raises(ValueError, match="read-only"):
            indices[0] = 1
