"""Checks of points given by a caller; errors name the row and the column."""

import numpy as np
import numpy.typing as npt

from tgm.distributions import BoolArray, FloatArray
from tgm.errors import DataError

LARGEST_COORDINATE = 1e140  # its square times a precision must be finite in double precision
SUM_TOLERANCE = 1e-6  # by which the responsibilities of a point may miss a sum of 1


def as_points(points: npt.ArrayLike, n_features: int | None = None) -> FloatArray:
    """Points as a float array of shape (N, O), N and O at least one, every entry in range."""
    try:
        array = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"points are not numbers in a rectangle: {error}") from None
    if array.ndim != 2 or 0 in array.shape:
        raise DataError(
            f"points have shape {array.shape}; wanted (n_samples, n_features), neither zero"
        )
    if n_features is not None and array.shape[1] != n_features:
        raise DataError(f"points have {array.shape[1]} features; the mixture has {n_features}")
    in_range = np.abs(array) <= LARGEST_COORDINATE
    if not np.all(in_range):
        row, column = np.argwhere(~in_range)[0]
        raise DataError(
            f"points row {row}, column {column} is {array[row, column]}; "
            f"it must be finite and at most {LARGEST_COORDINATE:g} in size"
        )
    return array


def as_mask(mask: npt.ArrayLike, n_samples: int) -> BoolArray:
    """A boolean mask over the points, of shape (N,)."""
    array = np.asarray(mask)
    if array.dtype != np.bool_ or array.shape != (n_samples,):
        raise DataError(
            f"forget has dtype {array.dtype} and shape {array.shape}; "
            f"wanted bool and ({n_samples},)"
        )
    return array


def as_responsibilities(
    responsibilities: npt.ArrayLike, n_samples: int, n_components: int
) -> FloatArray:
    """Responsibilities (N, K): not negative, each row summing to one."""
    array = np.asarray(responsibilities, dtype=np.float64)
    if array.shape != (n_samples, n_components):
        raise DataError(
            f"responsibilities have shape {array.shape}; wanted ({n_samples}, {n_components})"
        )
    sums = array.sum(axis=1)
    wrong = ~(np.abs(sums - 1) < SUM_TOLERANCE) | np.any(array < 0, axis=1)
    if np.any(wrong):
        row = int(np.flatnonzero(wrong)[0])
        raise DataError(
            f"responsibilities row {row} sums to {sums[row]} with smallest entry "
            f"{array[row].min()}; it must be a probability distribution"
        )
    return array
