"""Columns of any kind as numbers or labels; a DataError names the row and column of a bad value."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import date, time, timedelta
from typing import Any
from uuid import UUID

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.errors import DataError
from tgm.files.arrays import LARGEST

MISSING_WORDS = {"", "na", "n/a", "nan", "null", "none"}
TRUTH_WORDS = {"true": 1.0, "false": 0.0}
DATES = (date, time, timedelta, np.datetime64, np.timedelta64)
Place = Callable[[int], str]
"""From a row to words that name it, such as "log.csv, row 7 (line 8)"."""


def numbers(values: Any, name: str, place: Place) -> FloatArray:
    """(n_rows,) numbers of a column, NaN where a value is missing.

    Args:
        values: one value for each row, of any kind that is a number or says that it is missing.
        name: of the column.
        place: names a row.
    """
    given = _plain(values)
    if given.dtype.kind in "biuf":
        found = given.astype(np.float64)
    else:
        found = np.array([_number(one) for one in given.tolist()], dtype=np.float64)
    wrong = np.flatnonzero(~(np.isnan(found) | (np.abs(found) <= LARGEST)))
    if len(wrong):
        row = int(wrong[0])
        seen = given[row]
        if isinstance(seen, np.generic) and not isinstance(seen, DATES):
            seen = seen.item()
        raise DataError(f"{place(row)}, column {name!r}: {_no_number(seen)}")
    return found


def _no_number(value: Any) -> str:
    """Why a value is no number that can be used, and what to do."""
    if isinstance(value, DATES):
        return (
            f"{value!s:.60} is a date or a duration; make it a number first, such as seconds "
            "since the start, or leave the column out"
        )
    remedy = f"it must be finite and at most {LARGEST:g} in size, or missing (empty, NaN)"
    if isinstance(value, str) and re.fullmatch(r"[-+]?[\d.]+,\d+", value.strip()):
        remedy = "write it with a decimal point, and without separators of thousands"
    return f"{value!r:.60} is no number that can be used; {remedy}"


def labels(values: Any, name: str, place: Place) -> tuple[IntArray, tuple[Any, ...]]:
    """(n_rows,) the index of each row's label, -1 where it is missing; and the labels, sorted.

    Labels are whole numbers or text, not both; dates and identifiers count as text.
    """
    given = [_label(one, row, name, place) for row, one in enumerate(_plain(values).tolist())]
    seen = {one for one in given if one is not None}
    if len({type(one) for one in seen}) > 1:
        row = next(row for row, one in enumerate(given) if isinstance(one, str))
        raise DataError(
            f"{place(row)}, column {name!r}: {given[row]!r:.60} is text, and other rows have "
            "whole numbers; use one kind"
        )
    names = tuple(sorted(seen))
    index_of = {label: index for index, label in enumerate(names)}
    return np.array([-1 if one is None else index_of[one] for one in given], np.intp), names


def _plain(values: Any) -> np.ndarray[Any, Any]:
    """(n_rows,) an array; masked values become None, and dates stay dates."""
    given = np.asarray(unmasked(values)).reshape(-1)
    return objects(given) if given.dtype.kind in "mM" else given


def objects(values: Any) -> np.ndarray[Any, Any]:
    """(n_rows,) values as objects; NumPy would make numbers of dates in nanoseconds."""
    result = np.empty(len(values), dtype=object)
    result[:] = list(values)
    return result


def unmasked(values: Any) -> Any:
    """The same; of a masked array an array with None where it is masked."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    given = np.asarray(values.data, dtype=object).copy()
    given[np.ma.getmaskarray(values)] = None
    return given


def _number(value: Any) -> float:
    """A number; NaN if it is missing; infinity if it cannot be read."""
    if _is_missing(value):
        return math.nan
    if isinstance(value, DATES):
        return math.inf
    if isinstance(value, str):
        word = value.strip()
        if word.lower() in MISSING_WORDS:
            return math.nan
        value = TRUTH_WORDS.get(word.lower(), word)
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        return math.inf
    # "nan" was missing above; a word such as "-nan(ind)" is none that float() reads.
    return found


def _is_missing(value: Any) -> bool:
    """Whether it is None, the mark of pandas for a missing value, or no date; NaN is a number."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _label(value: Any, row: int, name: str, place: Place) -> int | str | None:
    if _is_missing(value):
        return None
    if isinstance(value, (*DATES, UUID)):
        return str(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    if isinstance(value, str):
        word = value.strip()
        if word.lower() in MISSING_WORDS:
            return None
        try:
            value = float(word) if "_" not in word else word
        except ValueError:
            return word
        if isinstance(value, str) or not math.isfinite(value):
            return word
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, bool | int):
        return int(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    raise DataError(
        f"{place(row)}, column {name!r}: {value!r:.60} is neither a whole number nor text; "
        "amounts cannot be labels: put them in classes first"
    )


def same_length(columns: Sequence[tuple[str, Any]], source: str) -> int:
    """How many rows all columns have, or a DataError that names the one that differs."""
    first, n_rows = columns[0][0], len(columns[0][1])
    for name, values in columns[1:]:
        if len(values) != n_rows:
            raise DataError(
                f"{source}: {name!r} has {len(values)} rows, and {first!r} has {n_rows}; they "
                "must be the same"
            )
    return n_rows
