"""Kept steps as arrays and back, field by field, and files that do not fit."""

import numpy as np
import pytest

from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.memory.step import Step
from tgm.memory.step_table import from_arrays, to_arrays


def chain() -> list[Step]:
    """The start of an episode and two steps after it; the last has another follower."""
    start = Step(None, [], None, 0.0, 0.0, np.array([1.0, 2.0]), -0.5)
    start.after = [(3, 0.75), (1, 0.25)]
    first = Step(start.arrival, start.after, 1, -2.0, 0.0, np.array([3.0, 4.0]), -0.25)
    first.entries, first.after = [(3, 2, 0.5), (1, 2, 0.125)], [(2, 1.0)]
    first.weight_then, first.retracted = 6.0, True
    second = Step(first.arrival, first.after, 0, 7.0, 1.0, np.array([5.0, 6.0]))
    second.entries, second.after = [(2, 0, 1.0)], [(0, 1.0)]
    start.next, first.next = first, second
    second.next = Step(None, [], None, 0.0, 0.0, np.zeros(2))
    return [start, first, second]


def restored(arrays) -> list[Step]:
    return from_arrays(ArrayReader(arrays), 2, 2, 4)


def test_every_field_is_the_same_afterwards():
    steps = chain()
    found = restored(to_arrays(steps, 2))
    assert len(found) == 3
    names = ("before", "action", "reward", "end", "log_fade", "entries", "after", "weight_then")
    for one, other in zip(steps, found, strict=True):
        for name in (*names, "retracted"):
            assert getattr(other, name) == getattr(one, name), name
        np.testing.assert_array_equal(other.arrival, one.arrival)
        assert (other.departure is None) == (one.departure is None)
        if one.departure is not None:
            np.testing.assert_array_equal(other.departure, one.departure)
        assert other.kept_in is None
        assert not other.is_outlier
    assert found[0].next is found[1]
    assert found[1].next is found[2]
    assert found[2].next is None  # it is not among them


def test_no_steps_are_arrays_of_no_rows():
    arrays = to_arrays([], 2)
    assert arrays["arrival"].shape == arrays["departure"].shape == (0, 2)
    assert restored(arrays) == []


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("action", [-1, 1, 2], "action"),
        ("action", [-1, -2, 0], "action"),
        ("action", [0, 1, 0], "a start has a past"),
        ("action", [-1, -1, 0], "start of an episode follow"),
        ("has_departure", [True, True, True], "a start has a past"),
        ("has_departure", [False, False, True], "a start has a past"),
        ("end", [0.0, 0.0, 1.5], "end"),
        ("end", [0.0, -0.5, 1.0], "end"),
        ("reward", [0.0, np.nan, 1.0], "reward"),
        ("next", [1, 2, 3], "next"),
        ("next", [1, 1, -1], "follow two"),
        ("next", [1, 2, 1], "follow two"),
        ("next", [-1, 2, 1], "circle"),
        ("next", [1, 0, -1], "start of an episode follow"),
        ("before.state", [3, 1, 4], "before.state"),
        ("before.share", [0.75, 0.25, 1.1], "before.share"),
        ("before.share", [0.75, -0.25, 1.0], "before.share"),
        ("before.count", [2, 0, 1], "a start has a past"),
        ("after.count", [2, 1, 2], "after"),
        ("entry.weight", [0.5, -0.125, 1.0], "entry.weight"),
        ("entry.states", [[3, 2], [1, 4], [2, 0]], "entry.states"),
        ("entry.count", [2, 0, 1], "a start has a past"),
        ("entry.count", [0, 1, 1], "entry"),
    ],
)
def test_steps_that_do_not_fit_are_refused(name, value, message):
    arrays = to_arrays(chain(), 2)
    arrays[name] = np.array(value, dtype=arrays[name].dtype)
    with pytest.raises(DataError, match=message):
        restored(arrays)


def test_shares_may_be_above_one_by_rounding():
    arrays = to_arrays(chain(), 2)
    arrays["after.share"] = arrays["after.share"] + 5e-7
    assert restored(arrays)[1].after == [(2, 1.0 + 5e-7)]
