"""Points, masks and responsibilities of a caller are checked at the door."""

import numpy as np
import pytest

from tgm.errors import DataError
from tgm.perception.points import LARGEST_COORDINATE, as_mask, as_points, as_responsibilities


def test_good_points_are_floats():
    found = as_points([[1, 2], [3, 4]], 2)
    assert found.dtype == np.float64
    assert found.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    edge = [[LARGEST_COORDINATE, -LARGEST_COORDINATE]]
    np.testing.assert_array_equal(as_points(edge), edge)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([["a", "b"]], "not numbers"),
        ([[1.0], [1.0, 2.0]], "not numbers"),
        ([1.0, 2.0], "shape"),
        (np.zeros((0, 2)), "shape"),
        (np.zeros((2, 0)), "shape"),
        (np.zeros((1, 2, 2)), "shape"),
        ([[1.0, 2.0, 3.0]], "3 features; the mixture has 2"),
        ([[0.0, 0.0], [0.0, np.nan]], "row 1, column 1 is nan"),
        ([[0.0, np.inf]], "row 0, column 1 is inf"),
        ([[0.0, 0.0], [-1.1 * LARGEST_COORDINATE, 0.0]], "row 1, column 0"),
    ],
)
def test_bad_points_are_named(points, message):
    with pytest.raises(DataError, match=message):
        as_points(points, 2)


def test_a_mask_has_one_flag_for_each_point():
    assert as_mask([True, False], 2).tolist() == [True, False]
    for mask in ([True], [1, 0], [[True, False]]):
        with pytest.raises(DataError, match="forget"):
            as_mask(mask, 2)


def test_responsibilities_are_distributions():
    good = [[0.25, 0.75], [1.0 + 5e-7, 0.0]]
    np.testing.assert_array_equal(as_responsibilities(good, 2, 2), good)


@pytest.mark.parametrize(
    ("resp", "message"),
    [
        ([[0.5, 0.5]], "shape"),
        ([[0.5, 0.5], [0.5, 0.4]], "row 1 sums to 0.9"),
        ([[1.0 + 2e-6, 0.0], [0.5, 0.5]], "row 0"),
        ([[0.5, 0.5], [1.5, -0.5]], "row 1 .*smallest entry -0.5"),
        ([[np.nan, 0.5], [0.5, 0.5]], "row 0"),
    ],
)
def test_others_are_refused(resp, message):
    with pytest.raises(DataError, match=message):
        as_responsibilities(resp, 2, 2)
