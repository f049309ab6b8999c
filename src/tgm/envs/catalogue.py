"""Mazes by name: the six of the paper, which come with the package, and any file by path."""

from __future__ import annotations

import difflib
import os
from functools import cache
from importlib.resources import files
from pathlib import Path

from tgm.envs.maze import Maze
from tgm.envs.maze_file import parse_maze, read_maze
from tgm.errors import ConfigError

_NAMES = ("8", "10", "20", "25", "26", "27")


def maze_names() -> tuple[str, ...]:
    """The names of the mazes that come with the package."""
    return _NAMES


def load_maze(name_or_path: str | os.PathLike[str]) -> Maze:
    """The maze of that name, or the one in that file.

    A name wins over a file of the same name in the working directory; "./27" is the file.

    >>> from tgm.envs import load_maze
    >>> load_maze("27").optimal_return
    -7.0
    """
    if not isinstance(name_or_path, str | os.PathLike):
        raise ConfigError(f"maze {name_or_path!r} is neither a name nor a path; try '27'")
    if name_or_path in _NAMES:
        return _packaged(str(name_or_path))
    if isinstance(name_or_path, str) and _is_bare_name(name_or_path):
        close = difflib.get_close_matches(name_or_path, _NAMES, n=1)
        hint = f"did you mean '{close[0]}'? " if close else ""
        listing = "`tgm mazes` lists the names, and a path to a file will do"
        raise ConfigError(f"unknown maze {name_or_path!r}; {hint}{listing}")
    return read_maze(name_or_path)


def _is_bare_name(text: str) -> bool:
    """Whether `text` reads as a mistyped name rather than as the path of a file."""
    separators = {os.sep, os.altsep or os.sep}
    if separators.intersection(text) or "." in text:
        return False
    try:
        return not text or not Path(text).exists()
    except (OSError, ValueError):  # too long, or a NUL character: no file has such a name
        return True


@cache
def _packaged(name: str) -> Maze:
    resource = files("tgm.envs") / "mazes" / f"{name}.txt"
    return parse_maze(resource.read_bytes(), name=name, source=str(resource))
