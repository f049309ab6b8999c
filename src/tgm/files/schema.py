"""Schemas: what arrays a file must hold, as data, and the check of arrays against them.

A schema maps the name of each array to a `Field`: its type, its shape and its range. Lengths in a
shape are numbers, ANY, names of dimensions, or a `Total`:

    SCHEMA: Schema = {
        "mean": floats("n_states", "n_features"),
        "weight": floats("n_states", low=0.0),
        "next.count": whole("n_states"),
        "next.state": whole(Total("next.count"), below="n_states"),
    }
    arrays = ArrayReader(found).read(SCHEMA, n_features=2)

A dimension that the caller does not give (`n_states`) takes its length from the first array that
has it. Arrays are read in the order of the schema, so what a `Total` or `below` names comes first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tgm.distributions.arrays import FloatArray
from tgm.distributions.small import is_positive_definite
from tgm.errors import DataError

Array = np.ndarray[Any, np.dtype[Any]]
Arrays = dict[str, Array]

LARGEST = 1e60  # of an observation or a reward, where it enters and in files
LARGEST_POINT = 2 * LARGEST  # of the difference between two observations
LARGEST_SUM = 1e90  # of rewards, added up over a life or over a discounted future
LARGEST_SQUARE = 1e150  # of a scatter, a covariance or a precision: its own square is a number
LARGEST_PRODUCT = 1e300  # of a precision with two observations
LARGEST_NUMBER = 1e300  # of any other number: arithmetic with a larger one may overflow
LARGEST_WHOLE = 2**62
CORRELATION_ROUNDING = 1e-9  # by how much a correlation may be above one
SUM_ROUNDING = 1e-6  # by how much sums and shares in a file may miss what they should be
ANY = -1  # in a shape: any length


@dataclass(frozen=True)
class Total:
    """A length: the sum of an array of counts that was read before.

    Attributes:
        counts: the name of that array.
        where: the name of an array of flags; only the counts where it is true are added up.
    """

    counts: str
    where: str | None = None

    def of(self, arrays: Arrays) -> int:
        """The length, added up in numbers of any size: counts may come from a hostile file."""
        counts = arrays[self.counts]
        return sum((counts if self.where is None else counts[arrays[self.where]]).tolist())


Length = int | str | Total


@dataclass(frozen=True)
class Field:
    """One array of a file.

    Attributes:
        dtype: np.float64, np.int64 or np.bool_; the file must hold exactly this type.
        shape: its lengths.
        low, high: the range of its numbers, both included.
        below: a dimension that its numbers stay below, because they are indices into it.
        matrices: what the last two dimensions hold.
        or_none: the value of a scalar that was not written because it is infinite.
    """

    dtype: type[np.generic]
    shape: tuple[Length, ...]
    low: float = -LARGEST
    high: float = LARGEST
    below: str | None = None
    matrices: str = ""
    or_none: float | None = None


Schema = Mapping[str, Field]

SYMMETRIC, POSITIVE_DEFINITE, SCATTER = "symmetric", "positive definite", "scatter"


# --- fields ---------------------------------------------------------------------------------------


def floats(
    *shape: Length, low: float | None = None, high: float | None = None, size: float = LARGEST
) -> Field:
    """Numbers from `low` to `high`; a bound that is not given is -`size` or `size`."""
    low, high = -size if low is None else low, size if high is None else high
    return Field(np.float64, shape, low, high)


def whole(
    *shape: Length, low: int = 0, high: int = LARGEST_WHOLE, below: str | None = None
) -> Field:
    """Whole numbers from `low` to `high`, or below the length of a dimension."""
    return Field(np.int64, shape, low, high, below)


def flags(*shape: Length) -> Field:
    """Truth values."""
    return Field(np.bool_, shape)


def scalar(*, low: float = -LARGEST, high: float = LARGEST, infinite: float | None = None) -> Field:
    """(1,) one number; `infinite` where the file holds none (`tgm.files.arrays.number`)."""
    return Field(np.float64, (1,), low, high, or_none=infinite)


def positive_definite(*shape: Length) -> Field:
    """Symmetric matrices with eigenvalues above zero."""
    return Field(np.float64, shape, -LARGEST_SQUARE, LARGEST_SQUARE, matrices=POSITIVE_DEFINITE)


def scatter(*shape: Length) -> Field:
    """Symmetric matrices with no eigenvalue below zero, but for rounding."""
    return Field(np.float64, shape, -LARGEST_SQUARE, LARGEST_SQUARE, matrices=SCATTER)


def symmetric(*shape: Length) -> Field:
    """Symmetric matrices."""
    return Field(np.float64, shape, -LARGEST_SQUARE, LARGEST_SQUARE, matrices=SYMMETRIC)


# --- reading --------------------------------------------------------------------------------------


def read(schema: Schema, arrays: Arrays, dimensions: Mapping[str, int], prefix: str = "") -> Arrays:
    """The arrays that a schema names, as copies that were checked against it.

    Args:
        schema: what is wanted.
        arrays: what is there; others than those of the schema are left alone.
        dimensions: the lengths that are known beforehand, by name.
        prefix: what the names of `arrays` begin with and those of the schema do not.

    Returns:
        the arrays under the names of the schema: float64, intp or bool.

    Raises:
        KeyError: with the name of an array that is missing.
        DataError: naming the array, what it holds and what was wanted.
    """
    checked: Arrays = {}
    lengths = dict(dimensions)
    for name, field in schema.items():
        label, array = prefix + name, arrays[prefix + name]
        if field.or_none is not None and array.shape == (0,) and array.dtype == field.dtype:
            checked[name] = np.array([field.or_none])
            continue
        _check_type(label, array, field, lengths, checked)
        _check_range(label, array, field, lengths)
        checked[name] = np.array(array, dtype=np.intp if field.dtype is np.int64 else field.dtype)
        check_matrices(label, checked[name], field.matrices)
    return checked


def check_matrices(label: str, matrices: FloatArray, kind: str) -> None:
    """DataError if matrices (..., n, n) are not of a kind; an empty kind is any array."""
    if not kind:
        return
    largest = np.abs(matrices).max(initial=0.0)
    if np.abs(matrices - np.swapaxes(matrices, -1, -2)).max(initial=0.0) > 1e-9 * largest:
        raise DataError(f"array '{label}' is not symmetric")
    if kind == POSITIVE_DEFINITE and not is_positive_definite(matrices):
        raise DataError(f"array '{label}' is not positive definite")
    if kind == SCATTER:
        lowest = float(np.linalg.eigvalsh(matrices).min(initial=0.0))
        if lowest < -1e-6 * max(1.0, float(largest)):
            raise DataError(f"array '{label}' is not a scatter: it has the eigenvalue {lowest}")


def _check_type(
    label: str, array: Array, field: Field, lengths: dict[str, int], checked: Arrays
) -> None:
    """Compare shape and type; dimensions without a length get theirs from this array."""
    wanted = tuple(_length(one, lengths, checked) for one in field.shape)
    fits = array.ndim == len(wanted) and all(
        length in (ANY, found) for length, found in zip(wanted, array.shape, strict=True)
    )
    if not fits:
        shape = tuple("any" if length == ANY else length for length in wanted)
        raise DataError(f"array '{label}' has shape {array.shape}, not {shape}")
    if array.dtype != field.dtype:
        raise DataError(f"array '{label}' has type {array.dtype}, not {np.dtype(field.dtype)}")
    for name, length in zip(field.shape, array.shape, strict=True):
        if isinstance(name, str) and lengths.setdefault(name, length) != length:
            raise DataError(f"array '{label}' has shape {array.shape}; both '{name}' must be equal")


def _length(length: Length, lengths: Mapping[str, int], checked: Arrays) -> int:
    if isinstance(length, Total):
        return length.of(checked)
    return lengths.get(length, ANY) if isinstance(length, str) else length


def _check_range(label: str, array: Array, field: Field, lengths: Mapping[str, int]) -> None:
    low, high = field.low, field.high
    if field.below is not None:
        high = min(high, lengths[field.below] - 1)
    if field.dtype is np.bool_ or not array.size:
        return
    least, most = np.minimum.reduce(array, axis=None), np.maximum.reduce(array, axis=None)
    if not (low <= least and most <= high):  # not so for NaN either
        value = most if least >= low else least
        raise DataError(f"array '{label}' holds {value}; it must be from {low:g} to {high:g}")
