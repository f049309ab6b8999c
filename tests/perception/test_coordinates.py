"""Coordinates: from observations to what the model sees of them, and back."""

import numpy as np
import pytest

from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.perception.coordinates import Coordinates

ORIGIN = np.array([1e9, 2.0, -3.0, 0.5])
SOME = Coordinates(
    ORIGIN, np.array([True, False, True, False]), np.array([0.0, 7.0, 0.0, 8.0]), np.arange(4.0)
)


def test_all_features_about_an_origin():
    all_of_them = Coordinates.about(ORIGIN)
    points = ORIGIN + np.random.default_rng(0).normal(size=(3, 5, 4))
    assert all_of_them.chosen is None
    np.testing.assert_array_equal(all_of_them.local(points), points - ORIGIN)
    np.testing.assert_allclose(all_of_them.observations(all_of_them.local(points)), points)
    covariance = np.eye(4)
    assert all_of_them.covariances(covariance) is covariance


def test_there_and_back_again():
    points = ORIGIN + np.random.default_rng(0).normal(size=(3, 5, 4))
    local = SOME.local(points)
    np.testing.assert_array_equal(local, (points - ORIGIN)[..., [0, 2]])
    again = SOME.observations(local)
    np.testing.assert_allclose(again[..., [0, 2]], points[..., [0, 2]])
    # Of the others nothing is known but their common mean.
    assert (again[..., [1, 3]] == [7.0, 8.0]).all()
    np.testing.assert_array_equal(SOME.local(again), local)
    np.testing.assert_array_equal(SOME.local(again[0, 0]), local[0, 0])


def test_covariances_have_the_common_variances_where_nothing_else_is_known():
    local = np.array([[[2.0, 0.5], [0.5, 3.0]], [[1.0, 0.0], [0.0, 1.0]]])
    whole = SOME.covariances(local)
    expected = [[2.0, 0, 0.5, 0], [0, 1.0, 0, 0], [0.5, 0, 3.0, 0], [0, 0, 0, 3.0]]
    np.testing.assert_array_equal(whole[0], expected)
    np.testing.assert_array_equal(np.diag(whole[1]), [1.0, 1.0, 1.0, 3.0])
    np.testing.assert_array_equal(SOME.covariances(local[1]), whole[1])


def test_files_are_checked():
    arrays = SOME.to_arrays()
    again = Coordinates.from_arrays(ArrayReader(arrays), SOME.relevant)
    for name, array in arrays.items():
        np.testing.assert_array_equal(again.to_arrays()[name], array)
    for name, wrong in {
        "origin": np.zeros(3),
        "relevant": ~SOME.relevant,
        "common_mean": np.full(4, np.inf),
        "common_variance": -np.ones(4),
    }.items():
        with pytest.raises(DataError, match=name):
            Coordinates.from_arrays(ArrayReader(arrays | {name: wrong}), SOME.relevant)
    with pytest.raises(DataError, match="relevant"):
        Coordinates.from_arrays(ArrayReader(arrays), np.ones(2, dtype=bool))
