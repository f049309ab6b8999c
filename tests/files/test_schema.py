"""Schemas refuse what does not fit by name, and take lengths from each other."""

import math

import numpy as np
import pytest

from tgm.errors import DataError
from tgm.files.arrays import ArrayReader, number
from tgm.files.schema import (
    ANY,
    LARGEST,
    LARGEST_SQUARE,
    Total,
    flags,
    floats,
    positive_definite,
    read,
    scalar,
    scatter,
    symmetric,
    whole,
)

SCHEMA = {
    "mean": floats("n_states", "n_features"),
    "weight": floats("n_states", low=0.0, high=10.0),
    "is_fixed": flags("n_states"),
    "action": whole("n_states", low=-1, below="n_actions"),
    "next.count": whole("n_states"),
    "next.state": whole(Total("next.count"), below="n_states"),
    "fixed.id": whole(Total("next.count", where="is_fixed")),
}
DIMENSIONS = {"n_features": 2, "n_actions": 4}


def sound() -> dict:
    return {
        "mean": np.arange(6.0).reshape(3, 2),
        "weight": np.array([0.0, 5.0, 10.0]),
        "is_fixed": np.array([True, False, True]),
        "action": np.array([-1, 0, 3]),
        "next.count": np.array([2, 0, 1]),
        "next.state": np.array([0, 2, 1]),
        "fixed.id": np.array([7, 8, 9]),
    }


def test_arrays_that_fit_are_copied_and_others_left_out():
    given = sound() | {"more": np.zeros(1)}
    found = read(SCHEMA, given, DIMENSIONS)
    assert list(found) == list(SCHEMA)
    for name, array in found.items():
        np.testing.assert_array_equal(array, given[name])
        assert not np.shares_memory(array, given[name])
        assert array.dtype == given[name].dtype


@pytest.mark.parametrize(
    ("name", "array", "told"),
    [
        ("mean", np.zeros((3, 3)), r"'mean' has shape \(3, 3\), not \('any', 2\)"),
        ("mean", np.zeros(3), r"'mean' has shape \(3,\), not \('any', 2\)"),
        ("mean", np.zeros((3, 2), dtype=np.float32), "'mean' has type float32, not float64"),
        ("mean", np.full((3, 2), -2 * LARGEST), r"'mean' holds -2e\+60; it must be from -1e\+60"),
        ("mean", np.full((3, 2), math.nan), "'mean' holds nan"),
        ("weight", np.zeros(4), r"'weight' has shape \(4,\), not \(3,\)"),
        ("weight", np.array([0.0, 1.0, 10.5]), r"'weight' holds 10\.5; it must be from 0 to 10"),
        ("weight", np.array([-0.5, 1.0, 10.5]), r"'weight' holds -0\.5; it must be from 0 to 10"),
        ("is_fixed", np.zeros(3), "'is_fixed' has type float64, not bool"),
        ("action", np.array([0, 4, 0]), "'action' holds 4; it must be from -1 to 3"),
        ("action", np.array([0, -2, 0]), "'action' holds -2; it must be from -1 to 3"),
        ("next.count", np.array([2, -1, 1]), r"'next\.count' holds -1; it must be from 0"),
        ("next.count", np.array([2, 1, 1]), r"'next\.state' has shape \(3,\), not \(4,\)"),
        ("next.state", np.array([0, 3, 1]), r"'next\.state' holds 3; it must be from 0 to 2"),
        ("fixed.id", np.array([7, 8]), r"'fixed\.id' has shape \(2,\), not \(3,\)"),
    ],
)
def test_what_does_not_fit_is_named(name, array, told):
    with pytest.raises(DataError, match=told):
        read(SCHEMA, sound() | {name: array}, DIMENSIONS)


def test_an_array_that_is_missing_is_named_with_its_prefix():
    given = {f"model.{name}": array for name, array in sound().items() if name != "weight"}
    with pytest.raises(KeyError, match=r"model\.weight"):
        ArrayReader(given).part("model").read(SCHEMA, **DIMENSIONS)
    given["model.weight"] = np.full(3, 11.0)
    with pytest.raises(DataError, match=r"'model\.weight' holds 11"):
        ArrayReader(given).part("model").read(SCHEMA, **DIMENSIONS)


def test_totals_do_not_begin_again_at_zero():
    """Four times 2^62 is nothing in 64 bits."""
    given = {"count": np.full(4, 2**62), "value": np.zeros(0)}
    assert given["count"].sum() == 0
    with pytest.raises(DataError, match=rf"'value' has shape \(0,\), not \({2**64},\)"):
        read({"count": whole(ANY), "value": floats(Total("count"))}, given, {})


def test_a_dimension_has_one_length():
    square = {"a": floats("n", "n")}
    assert read(square, {"a": np.ones((2, 2))}, {})["a"].shape == (2, 2)
    with pytest.raises(DataError, match=r"'a' has shape \(2, 3\); both 'n' must be equal"):
        read(square, {"a": np.ones((2, 3))}, {})


def test_nothing_is_below_an_empty_dimension():
    schema = {"x": floats("n"), "first": whole(ANY, below="n")}
    given = {"x": np.zeros(0), "first": np.zeros(0, dtype=np.int64)}
    assert read(schema, given, {})["first"].size == 0
    with pytest.raises(DataError, match="'first' holds 0; it must be from 0 to -1"):
        read(schema, given | {"first": np.array([0])}, {})


@pytest.mark.parametrize("value", [2.5, math.inf, -math.inf])
def test_a_scalar_may_be_infinite(value):
    found = read({"at": scalar(infinite=value)}, {"at": number(value)}, {})["at"]
    assert found.tolist() == [value]


def test_a_scalar_is_one_number_in_its_range():
    with pytest.raises(DataError, match=r"'at' has shape \(0,\), not \(1,\)"):
        read({"at": scalar()}, {"at": number(math.inf)}, {})
    with pytest.raises(DataError, match=r"'at' has shape \(2,\), not \(1,\)"):
        read({"at": scalar(infinite=math.inf)}, {"at": np.zeros(2)}, {})
    with pytest.raises(DataError, match=r"'at' holds 3\.0; it must be from 0 to 2"):
        read({"at": scalar(low=0.0, high=2.0, infinite=math.inf)}, {"at": np.array([3.0])}, {})


SKEW = np.array([[1.0, 0.5], [0.4, 1.0]])
FLAT = np.array([[1.0, 1.0], [1.0, 1.0]])  # eigenvalues 2 and 0
SADDLE = np.array([[1.0, 2.0], [2.0, 1.0]])  # eigenvalues 3 and -1


@pytest.mark.parametrize(
    ("field", "fits", "refused"),
    [
        (symmetric, [FLAT, SADDLE], {"is not symmetric": SKEW}),
        (scatter, [FLAT], {"is not symmetric": SKEW, "it has the eigenvalue -1": SADDLE}),
        (
            positive_definite,
            [np.eye(2)],
            {"is not symmetric": SKEW, "is not positive definite": FLAT},
        ),
    ],
)
def test_matrices(field, fits, refused):
    schema = {"m": field(1, 2, 2)}
    for matrix in fits:
        np.testing.assert_array_equal(read(schema, {"m": matrix[None]}, {})["m"], matrix[None])
    for told, matrix in refused.items():
        with pytest.raises(DataError, match=f"'m' .*{told}|'m' {told}"):
            read(schema, {"m": matrix[None]}, {})
    with pytest.raises(DataError, match="'m' holds"):
        read(schema, {"m": 2 * LARGEST_SQUARE * np.eye(2)[None]}, {})
