"""Reading files that somebody else may have written: nothing is read before it was measured.

Each kind of file has a limit of bytes and of values, which its caller gives; docs/run-format.md
lists them. Holes take no room on a disk and all of it in memory, so they are counted too.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from tgm.errors import RunError

Value = TypeVar("Value")

MOST_HOLES = 16 * 2**20  # bytes; some file systems store long rows of zeros as holes
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_SIGNS = (b",", b"[", b"{", b":")  # each value in a JSON text follows one of them


@contextmanager
def opened(path: Path, most_bytes: float = float("inf")) -> Iterator[tuple[BinaryIO, int]]:
    """A regular file and its size in bytes; a RunError names what speaks against reading it.

    Args:
        path: the file. A pipe is refused and not waited for.
        most_bytes: a larger file is refused, and so is one with more than MOST_HOLES of holes.
    """
    try:
        with os.fdopen(os.open(path, _FLAGS), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise RunError(f"{path}: is not a regular file")
            if status.st_size > most_bytes:
                raise RunError(f"{path}: has {status.st_size} bytes; at most {most_bytes} are read")
            if _n_hole_bytes(file.fileno(), status) > MOST_HOLES:
                raise RunError(
                    f"{path}: is a sparse file ({status.st_size} bytes, most of them holes); "
                    "it is not read"
                )
            yield file, status.st_size
    except OSError as error:
        raise RunError(f"{path}: cannot be read ({error.strerror or error})") from None


def read_bytes(path: Path, most_bytes: int) -> bytes:
    """The content of a file of at most so many bytes.

    It is copied, not mapped: a file that is cut short meanwhile must not kill the process.
    """
    with opened(path, most_bytes) as (file, size):
        return file.read(size)


Identity = tuple[int, ...] | None


def identity(path: Path) -> Identity:
    """What changes when a file is replaced or written; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    times = status.st_mtime_ns, status.st_ctime_ns
    return status.st_dev, status.st_ino, status.st_size, *times


class ReadOnce:
    """Values that were made from files; a file is read again only after it has changed."""

    def __init__(self) -> None:
        """Nothing was read yet."""
        self._values: dict[Path, tuple[Identity, Any]] = {}

    def get(self, path: Path, read: Callable[[Path], Value]) -> Value:
        """What `read` makes of the file at `path`; what it raises is not kept."""
        if not self.is_current(path):
            before = identity(path)  # before it is read: a change meanwhile is noticed next time
            self._values[path] = before, read(path)
        value: Value = self._values[path][1]
        return value

    def is_current(self, path: Path) -> bool:
        """Whether the file was read and is still the same."""
        return path in self._values and self._values[path][0] == identity(path)


def parse_json(text: bytes | str, where: object, most_values: int) -> Any:
    """The value of a JSON text with at most so many values; a RunError begins with `where`.

    An empty list takes two bytes in a text and fifty in memory, so values are counted first.
    """
    data = text.encode("utf-8", errors="replace") if isinstance(text, str) else text
    if n_json_values(data) > most_values:
        raise RunError(f"{where}: holds more than {most_values} values")
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise RunError(f"{where}: cannot be read ({' '.join(str(error).split())})") from None


def n_json_values(data: bytes) -> int:
    """A bound on the values in a JSON text, without reading it."""
    return sum(data.count(sign) for sign in _SIGNS)


def _n_hole_bytes(file: int, status: os.stat_result) -> int:
    """Bytes of a file that are not on the disk, counted up to just over MOST_HOLES.

    A file that takes less than its size may also be compressed, which is not a hole. Where the
    system cannot tell holes, 0.
    """
    size, blocks = status.st_size, getattr(status, "st_blocks", None)
    if blocks is None or not hasattr(os, "SEEK_HOLE") or size - 512 * blocks <= MOST_HOLES:
        return 0
    n_holes = at = 0
    try:
        while at < size and n_holes <= MOST_HOLES:
            hole = os.lseek(file, at, os.SEEK_HOLE)
            at = _next_data(file, hole, size)
            n_holes += at - hole
        os.lseek(file, 0, os.SEEK_SET)
    except OSError:
        return 0
    return n_holes


def _next_data(file: int, hole: int, size: int) -> int:
    """Where data begin again after a hole; the end of the file if they do not."""
    try:
        return os.lseek(file, hole, os.SEEK_DATA)
    except OSError:
        return size
