"""Named arrays as they go into files, and a reader that checks them before they are used."""

from __future__ import annotations

import math

import numpy as np

from tgm.distributions.arrays import BoolArray, FloatArray, IntArray
from tgm.distributions.small import is_positive_definite
from tgm.errors import DataError
from tgm.files import schema
from tgm.files.schema import (
    ANY,
    CORRELATION_ROUNDING,
    LARGEST,
    LARGEST_POINT,
    LARGEST_PRODUCT,
    LARGEST_SQUARE,
    LARGEST_SUM,
    LARGEST_WHOLE,
    Arrays,
    Field,
    Schema,
)

__all__ = [
    "ANY",
    "LARGEST",
    "LARGEST_POINT",
    "LARGEST_PRODUCT",
    "LARGEST_SQUARE",
    "LARGEST_SUM",
    "ArrayReader",
    "Arrays",
    "number",
    "prefixed",
]


def prefixed(prefix: str, arrays: Arrays) -> Arrays:
    """The same arrays under names that begin with `prefix` and a dot."""
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def number(value: float) -> FloatArray:
    """(1,) a number, or (0,) if it is infinite: files hold finite numbers only."""
    return np.array([value] if math.isfinite(value) else [], dtype=np.float64)


class ArrayReader:
    """Arrays that somebody else may have written; a DataError names the first that does not fit.

    `read` checks all arrays of a schema; each other method one array, by its name. A name that is
    missing raises a KeyError with it.
    """

    def __init__(self, arrays: Arrays, prefix: str = "") -> None:
        """Read from `arrays`, names beginning with `prefix`."""
        self._arrays = arrays
        self._prefix = prefix

    def part(self, prefix: str) -> ArrayReader:
        """The arrays whose names begin with `prefix` and a dot."""
        return ArrayReader(self._arrays, f"{self._prefix}{prefix}.")

    @property
    def is_empty(self) -> bool:
        """Whether no array is there."""
        return not any(name.startswith(self._prefix) for name in self._arrays)

    @property
    def n_numbers(self) -> int:
        """Numbers in all arrays."""
        return sum(array.size for array in self._arrays.values())

    def has(self, name: str) -> bool:
        """Whether an array of this name is there."""
        return self._prefix + name in self._arrays

    def read(self, wanted: Schema, **dimensions: int) -> Arrays:
        """The arrays of a schema, checked; see `tgm.files.schema.read`.

        Args:
            wanted: the schema.
            **dimensions: the lengths that are known beforehand, such as n_features=2.
        """
        return schema.read(wanted, self._arrays, dimensions, self._prefix)

    def floats(
        self,
        name: str,
        *shape: int,
        low: float | None = None,
        high: float | None = None,
        size: float = LARGEST,
    ) -> FloatArray:
        """Numbers of this shape (or ANY), from `low` to `high`; at most `size` if not given."""
        return self._one(name, schema.floats(*shape, low=low, high=high, size=size))

    def whole(self, name: str, *shape: int, low: int = 0, high: int = LARGEST_WHOLE) -> IntArray:
        """Whole numbers from `low` to `high`."""
        return self._one(name, schema.whole(*shape, low=low, high=high))

    def flags(self, name: str, *shape: int) -> BoolArray:
        """Truth values."""
        return self._one(name, schema.flags(*shape))

    def number(
        self,
        name: str,
        *,
        low: float = -LARGEST,
        high: float = LARGEST,
        infinite: float | None = None,
    ) -> float:
        """What `number` made: one number, or `infinite` where none was written."""
        return float(self._one(name, schema.scalar(low=low, high=high, infinite=infinite))[0])

    def count(self, name: str) -> int:
        """One whole number from zero."""
        return int(self.whole(name, 1)[0])

    def positive_definite(self, name: str, *shape: int) -> FloatArray:
        """A symmetric matrix, or several, with eigenvalues above zero."""
        return self._one(name, schema.positive_definite(*shape))

    def scatter(self, name: str, *shape: int, beside: FloatArray | None = None) -> FloatArray:
        """Scatter matrices: no eigenvalue below zero, but for rounding.

        Where points were taken back that had been shared between states, an eigenvalue may be
        slightly below zero. So with `beside`, what is asked for is that the matrices are positive
        definite with that added.
        """
        if beside is None:
            return self._one(name, schema.scatter(*shape))
        matrices = self._one(name, schema.symmetric(*shape))
        if not is_positive_definite(matrices + beside, -CORRELATION_ROUNDING):
            raise DataError(f"array '{self._prefix}{name}' leaves no covariance above zero")
        return matrices

    def _one(self, name: str, field: Field) -> schema.Array:
        return self.read({name: field})[name]
