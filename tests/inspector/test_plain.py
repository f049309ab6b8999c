"""What leaves a run for the page is plain, finite and bounded."""

import json
import math

import numpy as np
import pytest

from tgm.inspector import plain
from tgm.inspector.plain import array_bytes, bounded_json, number, numbers, text, to_bytes


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "1", None, True, [1], 10**400])
def test_what_is_no_finite_number_becomes_null(value):
    assert number(value) is None


def test_numbers_keep_seven_digits():
    assert number(1 / 3) == 0.3333333
    assert numbers(np.array([[1e-30 / 3, -2e30 / 3]])) == [3.333333e-31, -6.666667e29]
    assert numbers(np.array([True, False])) == [1, 0]
    assert numbers(np.array([2**40])) == [2**40]
    assert numbers(np.array([np.nan, 1.0])) == [None, 1.0]


def test_arrays_are_written_as_their_numbers(monkeypatch):
    monkeypatch.setattr(plain, "PIECE", 3)
    for array in (
        np.array([1 / 3, -2e30, 0.0, -0.0, 5.0, 1e-30 / 3, 123456789.0]),
        np.array([[np.nan, 1.0], [np.inf, 2.5]]),
        np.array([True, False]),
        np.array([2**40, -1, 0, 7]),
        np.zeros((0, 2)),
    ):
        assert json.loads(array_bytes(array)) == numbers(array)


def test_texts_are_cut_and_can_be_sent():
    assert len(text("x" * 10**6)) < 400
    assert text(7) == ""
    json.loads(to_bytes({"name": text("a \ud800 b")}))


def test_any_json_is_cut_to_size():
    deep: object = 1
    for _ in range(500):
        deep = {"a": [deep]}
    tamed = bounded_json(
        {"deep": deep, "wide": list(range(10**5)), "nan": math.nan, "key": {1: object()}}
    )
    assert len(to_bytes(tamed)) < 5000
    assert tamed["nan"] is None
    assert tamed["wide"][:3] == [0, 1, 2]
