"""Reading maze files: text that others wrote, so every fault is named with its line and column.

A byte-order mark and Windows line ends are read as if they were not there. Blank margins around
the maze are dropped, and a line that is too short ends in outside: editors strip spaces.
"""

from __future__ import annotations

import os
import stat
import warnings
from pathlib import Path

from tgm.envs.maze import MAX_SIDE, Maze, check_grid
from tgm.errors import MazeError

MAX_BYTES = (MAX_SIDE + 2) * MAX_SIDE + 3
"""Bytes of the largest maze, with Windows line ends and a byte-order mark."""


class MazeWarning(UserWarning):
    """A maze that can be used, but whose goal cannot be reached."""


def read_maze(path: str | os.PathLike[str]) -> Maze:
    """Read and check the maze file at `path`; the maze is named after the file."""
    path = Path(path)
    source = _shown(path)
    return parse_maze(_read_bytes(path, source), name=_shown(path.stem), source=source)


def parse_maze(data: bytes, *, name: str, source: str) -> Maze:
    """The maze written in `data`, the bytes of a maze file; errors name `source`.

    A goal that cannot be reached from the start is a MazeWarning.
    """
    if len(data) > MAX_BYTES:
        raise MazeError(
            f"more than {MAX_BYTES} bytes is too large for a maze; "
            f"keep to {MAX_SIDE} rows of {MAX_SIDE} columns",
            source=source,
            line=1,
            column=1,
        )
    lines = [line.removesuffix("\r") for line in _decode(data, source).split("\n")]
    grid, top, left = _crop(lines)
    check_grid(grid, source=source, first_line=top + 1, first_column=left + 1)
    maze = Maze(name, grid)
    if not maze.shortest_path:
        x, y = maze.goal
        place = f"{source}:{top + maze.height - y}:{left + x + 1}"
        message = f"the goal at ({x}, {y}) cannot be reached from the start; open a way with '.'"
        warnings.warn(f"{place}: {message}", MazeWarning, stacklevel=3)
    return maze


def _decode(data: bytes, source: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # Count from the original bytes: for this codec the error's own offset skips the mark.
        at = error.start + len(data) - len(error.object)
        line_start = data.rfind(b"\n", 0, at) + 1
        raise MazeError(
            f"byte 0x{data[at]:02x} is not UTF-8; save the maze as plain text in UTF-8",
            source=source,
            line=data.count(b"\n", 0, at) + 1,
            column=len(data[line_start:at].decode("utf-8-sig")) + 1,
        ) from None


def _crop(lines: list[str]) -> tuple[tuple[str, ...], int, int]:
    """The rows without blank margins, padded to one length, and how many were cut (top, left)."""
    drawn = [number for number, line in enumerate(lines) if line.strip(" ")]
    if not drawn:
        return (), 0, 0
    top, bottom = drawn[0], drawn[-1]
    left = min(len(lines[number]) - len(lines[number].lstrip(" ")) for number in drawn)
    rows = [line.rstrip(" ")[left:] for line in lines[top : bottom + 1]]
    width = max(len(row) for row in rows)
    return tuple(row.ljust(width) for row in rows), top, left


def _read_bytes(path: Path, source: str) -> bytes:
    """The file's bytes, never more than just over MAX_BYTES of them."""
    try:
        # Check before opening: opening a pipe blocks until something writes to it.
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise MazeError("this is a directory; name a maze file", source=source)
        if not stat.S_ISREG(mode):
            raise MazeError("this is a pipe or a device; save the maze to a file", source=source)
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise MazeError("there is no such file; `tgm mazes` lists names", source=source) from None
    except MazeError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a NUL character in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise MazeError(f"cannot be read: {reason.lower()}", source=source) from None


def _shown(path: Path | str) -> str:
    """`path` for a message of one line: as it is, or quoted if it holds unprintable characters."""
    text = str(path)
    return text if text.isprintable() else ascii(text)
