"""Where points come from: arrays, memory maps, Parquet files, Dask collections.

A source has points in chunks and applies a function to each. Functions return sums, which the
caller adds in the order of the chunks: it does not matter which process computed which chunk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from tgm.distributions import FloatArray
from tgm.errors import ConfigError, DataError
from tgm.estimators.dask_points import DaskPoints

T = TypeVar("T")

CHUNK_ROWS = 1 << 16
LARGE_MAP = 1 << 26  # bytes; a smaller memory map is read as any array


class Points(Protocol):
    """Points (N, O) in chunks."""

    @property
    def n_features(self) -> int:
        """O."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the features, if they have any."""

    def map(self, function: Callable[[int, FloatArray], T]) -> Iterable[T]:
        """function(index of the chunk, chunk as floats) for each chunk, in order."""


@dataclass(frozen=True, eq=False)
class ArrayPoints:
    """An array in memory, or a memory map of a file, read chunk by chunk."""

    array: Any
    rows: int = CHUNK_ROWS
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.array.ndim != 2 or self.array.dtype.kind not in "fiub":
            raise DataError(
                f"the array has shape {self.array.shape} and type {self.array.dtype}; "
                f"wanted numbers of shape (n_samples, n_features)"
            )

    @property
    def n_features(self) -> int:
        """O."""
        return int(self.array.shape[1])

    def map(self, function: Callable[[int, FloatArray], T]) -> Iterable[T]:
        """function(index of the chunk, chunk as floats) for each chunk, in order."""
        for index, start in enumerate(range(0, len(self.array), self.rows)):
            yield function(index, np.asarray(self.array[start : start + self.rows], np.float64))


@dataclass(frozen=True, eq=False)
class ParquetPoints:
    """The numbers of a Parquet file, or of all Parquet files of a folder, read in batches.

    Attributes:
        path: of the file or folder.
        columns: which to read; by default all columns of numbers.
        rows: of a chunk.
    """

    path: str | Path
    columns: Sequence[str] | str | None = None
    rows: int = CHUNK_ROWS

    @cached_property
    def _files(self) -> list[Path]:
        path = Path(self.path)
        files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        if not files or not files[0].exists():
            raise DataError(f"{path}: no such Parquet file, nor a folder with some")
        return files

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns that are read."""
        parquet, types = _pyarrow()
        try:
            schema = parquet.read_schema(self._files[0])
        except (OSError, ValueError) as error:
            raise DataError(f"{self._files[0]}: not readable as a Parquet file: {error}") from None
        numbers = [
            field.name
            for field in schema
            if types.is_integer(field.type) or types.is_floating(field.type)
        ]
        columns = [self.columns] if isinstance(self.columns, str) else self.columns
        wanted = list(columns) if columns is not None else numbers
        wrong = [name for name in wanted if name not in numbers]
        if wrong or not wanted:
            raise DataError(
                f"{self._files[0]}: columns {wrong or 'of numbers'} are missing or no numbers; "
                f"the columns of numbers are {numbers}"
            )
        return tuple(wanted)

    @property
    def n_features(self) -> int:
        """O."""
        return len(self.names)

    def map(self, function: Callable[[int, FloatArray], T]) -> Iterable[T]:
        """function(index of the chunk, chunk as floats) for each chunk, in order."""
        parquet, _ = _pyarrow()
        index = 0
        for file in self._files:
            for chunk in self._chunks(parquet, file):
                yield function(index, chunk)
                index += 1

    def _chunks(self, parquet: Any, file: Path) -> Iterator[FloatArray]:
        try:
            with parquet.ParquetFile(file, pre_buffer=False) as reader:
                for batch in reader.iter_batches(self.rows, columns=list(self.names)):
                    columns = [_as_floats(batch.column(name)) for name in self.names]
                    yield np.stack(columns, axis=1)
        except KeyError as error:
            raise DataError(
                f"{file}: {error.args[0]}; the other files have {list(self.names)}"
            ) from None
        except (OSError, ValueError) as error:
            raise DataError(f"{file}: not readable as a Parquet file: {error}") from None


@dataclass(frozen=True, eq=False)
class ScaledPoints:
    """Another source, in units: (x - centre) / scale."""

    source: Points
    centre: FloatArray
    scale: FloatArray

    @property
    def n_features(self) -> int:
        """O."""
        return self.source.n_features

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the features, if they have any."""
        return self.source.names

    def map(self, function: Callable[[int, FloatArray], T]) -> Iterable[T]:
        """function(index of the chunk, chunk as floats) for each chunk, in order."""
        return self.source.map(_Scaled(function, self.centre, self.scale))


@dataclass(frozen=True)
class _Scaled:
    """A function of a chunk in other units; can be sent to another process."""

    function: Callable[[int, FloatArray], Any]
    centre: FloatArray
    scale: FloatArray

    def __call__(self, index: int, chunk: FloatArray) -> Any:
        scaled = chunk - self.centre
        scaled /= self.scale
        return self.function(index, scaled)


def batches(source: Points) -> Iterator[FloatArray]:
    """The chunks as floats, one after the other: at no time are all of them in memory."""
    if isinstance(source, DaskPoints):
        for part in source.parts:
            yield np.asarray(part.compute(), dtype=np.float64)
    else:
        yield from source.map(_itself)


def _itself(index: int, chunk: FloatArray) -> FloatArray:
    return chunk


def as_source(data: Any) -> Points | None:
    """The source of data that is not an ordinary array; None if it is one.

    A path to a .parquet file, a folder of such or a .npy file; a large memory map; a Dask array or
    data frame; a source.
    """
    if isinstance(data, (ArrayPoints, ParquetPoints, DaskPoints, ScaledPoints)):
        return data
    if isinstance(data, (str, Path)):
        return _of_path(Path(data))
    if isinstance(data, np.memmap) and data.nbytes > LARGE_MAP:
        return ArrayPoints(data)
    if hasattr(data, "__dask_graph__") and hasattr(data, "to_delayed"):
        return DaskPoints(data)
    return None


def _of_path(path: Path) -> Points:
    if path.suffix == ".npy":
        try:
            return ArrayPoints(np.load(path, mmap_mode="r"))
        except (OSError, ValueError, EOFError) as error:
            raise DataError(f"{path}: not readable as a .npy file: {error}") from None
    if path.suffix == ".parquet" or path.is_dir():
        return ParquetPoints(path)
    raise DataError(
        f"{path}: wanted a .parquet file, a folder of such, or a .npy file; of other files "
        "pass the table itself, as pandas.read_csv gives it"
    )


def _as_floats(column: Any) -> FloatArray:
    """A column of a record batch as floats; null is NaN."""
    values = column.to_numpy(zero_copy_only=False)
    return np.asarray(values, dtype=np.float64)


def _pyarrow() -> tuple[Any, Any]:
    try:
        from pyarrow import parquet, types
    except ImportError:
        raise ConfigError(
            "Parquet files need pyarrow: pip install temporal-gaussian-mixture[estimators]"
        ) from None
    return parquet, types
