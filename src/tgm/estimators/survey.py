"""A first look at all points: how many, where, how wide, and a sample of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.errors import DataError
from tgm.estimators.sources import Points

SAMPLE_SIZE = 10_000  # points in which components are searched for
SURVEY_SEED = 0x7469
LEAST_DEVIATION = 1e-13  # of the size of the numbers; a feature with less is constant
LARGEST = 1e150  # its square is a number
LEAST_BLUR = 1e-12  # of the variance; keeps covariances of dependent features positive definite
DIGITS = 1e-9  # of the deviation; smaller gaps between values are rounding


@dataclass(frozen=True, eq=False)
class Survey:
    """What one pass over the points finds.

    Attributes:
        n_points: N.
        known: (O,) how many values of each feature are not missing.
        mean: (O,) of the known values.
        square: (O,) sum of their squared distances from the mean.
        sample: (S, O) some of the points, all if there are few.
        keys: (S,) random numbers, the least of all points'.
    """

    n_points: int
    known: FloatArray
    mean: FloatArray
    square: FloatArray
    sample: FloatArray
    keys: FloatArray

    @property
    def scale(self) -> FloatArray:
        """(O,) standard deviations; 1 where a feature is constant."""
        deviation = np.sqrt(self.square / np.maximum(self.known, 1.0))
        constant = deviation <= LEAST_DEVIATION * np.abs(self.mean)
        return np.where(constant, 1.0, deviation)

    def blur(self) -> FloatArray:
        """(O,) variance of the rounding of each feature, in squares of its scale.

        Data on a grid, as of a ruler, has most values more than once. Each stands for all values
        nearer to it than to the next: without this, a component as narrow as one value could have
        any density.
        """
        result = np.full(len(self.mean), LEAST_BLUR)
        for feature, column in enumerate(self.sample.T / self.scale[:, None]):
            values = np.unique(column[~np.isnan(column)])
            if 1 < len(values) <= 0.5 * np.count_nonzero(~np.isnan(column)):
                gaps = np.diff(values)
                step = float(gaps[gaps > DIGITS].min(initial=np.inf))
                if np.isfinite(step):
                    result[feature] = max(LEAST_BLUR, step**2 / 12.0)
        return result


def survey(points: Points) -> Survey:
    """One pass over the points."""
    total: Survey | None = None
    for part in points.map(partial(_survey_chunk, points.names)):
        if part.n_points:
            total = part if total is None else _together(total, part)
    if total is None:
        raise DataError("there are no points: 0 rows")
    return total


def check_sizes(chunk: FloatArray, names: Sequence[str] | None, index: int) -> None:
    """DataError if a value of the chunk (N, O) is infinite or too large; NaN is missing."""
    if not chunk.size or (chunk.min() >= -LARGEST and chunk.max() <= LARGEST):
        return  # the most frequent case first: no NaN either
    wrong = np.abs(chunk) > LARGEST
    if wrong.any():
        row, column = np.argwhere(wrong)[0].tolist()
        name = column if names is None else repr(names[column])
        raise DataError(
            f"chunk {index}, row {row}, column {name} (counted from 0) is {chunk[row, column]}; "
            f"values must be at most {LARGEST:g} in size, or NaN for missing: rescale the column"
        )


def _survey_chunk(names: Sequence[str] | None, index: int, chunk: FloatArray) -> Survey:
    check_sizes(chunk, names, index)
    missing = np.isnan(chunk)
    count = len(chunk) - missing.sum(axis=0).astype(np.float64)
    divisor = np.maximum(count, 1.0)
    offset = chunk.copy()  # one copy for all three sums: new memory costs as much as they do
    offset[missing] = 0.0
    mean = offset.sum(axis=0) / divisor
    np.subtract(chunk, mean, out=offset)
    offset[missing] = 0.0
    mean += offset.sum(axis=0) / divisor
    np.subtract(chunk, mean, out=offset)
    offset[missing] = 0.0
    square = np.square(offset, out=offset).sum(axis=0)
    keys = np.random.default_rng((SURVEY_SEED, index)).random(len(chunk))
    rows = _least(keys)
    return Survey(len(chunk), count, mean, square, chunk[rows], keys[rows])


def _together(one: Survey, other: Survey) -> Survey:
    """Of both sets of points."""
    known = one.known + other.known
    divisor = np.maximum(known, 1.0)
    gap = other.mean - one.mean
    mean = one.mean + gap * other.known / divisor
    square = one.square + other.square + gap**2 * one.known * other.known / divisor
    keys = np.concatenate([one.keys, other.keys])
    sample = np.concatenate([one.sample, other.sample])
    rows = _least(keys)
    return Survey(one.n_points + other.n_points, known, mean, square, sample[rows], keys[rows])


def _least(keys: FloatArray) -> IntArray:
    """The rows of the least keys, in the order of the rows."""
    if len(keys) <= SAMPLE_SIZE:
        return np.arange(len(keys))
    return np.sort(np.argpartition(keys, SAMPLE_SIZE)[:SAMPLE_SIZE])
