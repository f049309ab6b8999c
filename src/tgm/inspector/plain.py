"""Values of a run as JSON: rounded, finite and of bounded size."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

DIGITS = 7  # significant digits that are sent; the files keep all
PIECE = 65_536  # numbers per piece of JSON
MOST_CHARACTERS = 300  # of a text that a run holds
MOST_DEPTH = 6
MOST_ITEMS = 200


def number(value: object) -> float | int | None:
    """`value` if it is a finite number, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, int):
        return value if abs(value) < 2**53 else None
    return rounded(value)


def rounded(value: float) -> float | None:
    """`value` with DIGITS significant digits; None if it is not finite."""
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


def numbers(values: NDArray[Any]) -> list[Any]:
    """All values of an array in one flat list: bools as 0 and 1, floats rounded."""
    flat = np.asarray(values).ravel()
    if flat.dtype == np.bool_:
        return [int(value) for value in flat.tolist()]
    if np.issubdtype(flat.dtype, np.integer):
        return list(flat.tolist())
    return [rounded(value) for value in flat.tolist()]


def array_bytes(values: NDArray[Any]) -> bytes:
    """`numbers` as compact JSON, made in pieces: a list takes four times the memory of an array."""
    flat = np.asarray(values).ravel()
    pieces = (flat[start : start + PIECE] for start in range(0, len(flat), PIECE))
    return b"[" + b",".join(_piece_bytes(piece) for piece in pieces) + b"]"


def _piece_bytes(piece: NDArray[Any]) -> bytes:
    if piece.dtype != np.float64 or not np.isfinite(piece).all():
        return to_bytes(numbers(piece))[1:-1]
    # One format string for the piece: three times as fast as one call per number.
    return ((f"%.{DIGITS}g," * len(piece)) % tuple(piece.tolist()))[:-1].encode("ascii")


def text(value: object) -> str:
    """`value` as a text of bounded length; empty if it is not a text."""
    if not isinstance(value, str):
        return ""
    # A JSON file may hold a lone surrogate, which cannot be encoded as UTF-8.
    kept = value[:MOST_CHARACTERS].encode("utf-8", errors="replace").decode("utf-8")
    return kept + ("..." if len(value) > MOST_CHARACTERS else "")


def bounded_json(value: object, depth: int = 0) -> Any:
    """Any JSON value, cut to a bounded size; for settings and results."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return number(value)
    if isinstance(value, str):
        return text(value)
    if depth < MOST_DEPTH and isinstance(value, list | tuple):
        return [bounded_json(item, depth + 1) for item in value[:MOST_ITEMS]]
    if depth < MOST_DEPTH and isinstance(value, dict):
        return {text(key): bounded_json(item, depth + 1) for key, item in _first(value.items())}
    return None


def _first(items: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    return [item for _, item in zip(range(MOST_ITEMS), items, strict=False)]


def to_bytes(value: object) -> bytes:
    """Compact JSON."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode("utf-8")
