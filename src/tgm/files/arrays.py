"""Named arrays as they go into files, and a reader that checks them before they are used."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tgm.distributions.arrays import BoolArray, FloatArray, IntArray
from tgm.distributions.small import is_positive_definite
from tgm.errors import DataError

Arrays = dict[str, np.ndarray[Any, np.dtype[Any]]]

LARGEST = 1e60  # of an observation or a reward, where it enters and in files
LARGEST_POINT = 2 * LARGEST  # of the difference between two observations
LARGEST_SUM = 1e90  # of rewards, added up over a life or over a discounted future
LARGEST_SQUARE = 1e150  # of a scatter, a covariance or a precision: its own square is a number
LARGEST_PRODUCT = 1e300  # of a precision with two observations
ROUNDING = 1e-9  # of a correlation
ANY = -1  # in a wanted shape: any length


def prefixed(prefix: str, arrays: Arrays) -> Arrays:
    """The same arrays under names that begin with `prefix` and a dot."""
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def number(value: float) -> FloatArray:
    """(1,) a number, or (0,) if it is infinite: files hold finite numbers only."""
    return np.array([value] if math.isfinite(value) else [], dtype=np.float64)


class ArrayReader:
    """Arrays that somebody else may have written; a DataError names the first that does not fit.

    A name that is missing raises a KeyError with it.
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

    def has(self, name: str) -> bool:
        """Whether an array of this name is there."""
        return self._prefix + name in self._arrays

    def floats(
        self,
        name: str,
        *shape: int,
        low: float | None = None,
        high: float | None = None,
        size: float = LARGEST,
    ) -> FloatArray:
        """Numbers of this shape (or ANY), from `low` to `high`; at most `size` if not given."""
        array = self._checked(name, shape, np.dtype(np.float64))
        low, high = -size if low is None else low, size if high is None else high
        if array.size and not (low <= array.min() and array.max() <= high):
            self._refuse(name, array, low, high)
        return np.array(array, dtype=np.float64)

    def whole(self, name: str, *shape: int, low: int = 0, high: int = 2**62) -> IntArray:
        """Whole numbers from `low` to `high`."""
        array = self._checked(name, shape, np.dtype(np.int64))
        if array.size and not (low <= array.min() and array.max() <= high):
            self._refuse(name, array, low, high)
        return np.array(array, dtype=np.intp)

    def flags(self, name: str, *shape: int) -> BoolArray:
        """Truth values."""
        return np.array(self._checked(name, shape, np.dtype(np.bool_)), dtype=np.bool_)

    def number(
        self,
        name: str,
        *,
        low: float | None = None,
        high: float | None = None,
        infinite: float | None = None,
    ) -> float:
        """What `number` made: one number, or `infinite` where none was written."""
        array = self.floats(name, ANY, low=low, high=high)
        if len(array) == 0 and infinite is not None:
            return infinite
        if len(array) != 1:
            raise DataError(f"array '{self._prefix}{name}' has {len(array)} numbers, not one")
        return float(array[0])

    def count(self, name: str) -> int:
        """One whole number from zero."""
        return int(self.whole(name, 1)[0])

    def positive_definite(self, name: str, *shape: int) -> FloatArray:
        """A symmetric matrix, or several, with eigenvalues above zero."""
        matrices = self._symmetric(name, *shape)
        if not is_positive_definite(matrices):
            raise DataError(f"array '{self._prefix}{name}' is not positive definite")
        return matrices

    def scatter(self, name: str, *shape: int, beside: FloatArray | None = None) -> FloatArray:
        """Scatter matrices: no eigenvalue below zero, but for rounding.

        Where doubtful points were taken back, what is left may be a little less than nothing. So
        with `beside`, what is asked for is that it is positive definite with that added.
        """
        matrices = self._symmetric(name, *shape)
        if beside is not None:
            if not is_positive_definite(matrices + beside, -ROUNDING):
                raise DataError(f"array '{self._prefix}{name}' leaves no covariance above zero")
            return matrices
        lowest = float(np.linalg.eigvalsh(matrices).min(initial=0.0))
        if lowest < -1e-6 * max(1.0, float(np.abs(matrices).max(initial=0.0))):
            label = f"{self._prefix}{name}"
            raise DataError(f"array '{label}' is not a scatter: it has the eigenvalue {lowest}")
        return matrices

    def _symmetric(self, name: str, *shape: int) -> FloatArray:
        matrices = self.floats(name, *shape, size=LARGEST_SQUARE)
        skew = np.abs(matrices - np.swapaxes(matrices, -1, -2)).max(initial=0.0)
        if skew > 1e-9 * np.abs(matrices).max(initial=0.0):
            raise DataError(f"array '{self._prefix}{name}' is not symmetric")
        return matrices

    def _checked(
        self, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> np.ndarray[Any, np.dtype[Any]]:
        label = self._prefix + name
        array = self._arrays[label]
        fits = array.ndim == len(shape) and all(
            wanted in (ANY, length) for wanted, length in zip(shape, array.shape, strict=True)
        )
        if not fits:
            wanted = tuple("any" if length == ANY else length for length in shape)
            raise DataError(f"array '{label}' has shape {array.shape}, not {wanted}")
        if array.dtype != dtype:
            raise DataError(f"array '{label}' has type {array.dtype}, not {dtype}")
        return array

    def _refuse(self, name: str, array: Any, low: float, high: float) -> None:
        value = array.min() if not array.min() >= low else array.max()
        raise DataError(
            f"array '{self._prefix}{name}' holds {value}; it must be from {low:g} to {high:g}"
        )
