"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

Item = TypeVar("Item")
Key = TypeVar("Key")


def markdown(rows: Sequence[dict[str, Any]]) -> str:
    """A table of rows with the same keys; None is written as "never"."""
    lines = [list(rows[0]), ["---"] * len(rows[0])]
    lines += [["never" if value is None else f"{value}" for value in row.values()] for row in rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def grouped(items: Sequence[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """The items by key, in the order in which they come."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def median(values: Sequence[float]) -> float | None:
    """The median; None of nothing."""
    return float(np.median(values)) if values else None


def count(verdicts: Sequence[object]) -> str:
    """ "3 of 5": how many are true."""
    return f"{sum(map(bool, verdicts))} of {len(verdicts)}"
