"""`tgm mazes`: list, draw, generate and check mazes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, cast

import tyro
from rich.console import Console

from tgm.cli.flags import Switch, optional
from tgm.cli.output import print_json, print_lines, print_table, say
from tgm.cli.streams import OutText
from tgm.envs import (
    Maze,
    MazeKind,
    MazeWarning,
    default_limit,
    load_maze,
    maze_names,
    random_maze,
)
from tgm.envs.render import draw_text
from tgm.errors import ConfigError


@dataclass(frozen=True)
class Mazes:
    """List the mazes that come with tgm, or draw, generate or check one.

    A drawing that does not go to a terminal is the text of a maze file, so that
    `tgm mazes 27 > mine.txt` begins a maze of your own.
    """

    name: Annotated[str | None, tyro.conf.Positional, optional("[NAME]")] = None
    """The maze to draw: a name from the list, or the path of a maze file."""

    generate: Annotated[tuple[str, int, int] | None, optional("KIND ROWS COLUMNS")] = None
    """Print a new maze: its kind (perfect, open, rooms), rows and columns."""

    seed: int = 0
    """Seed of the generated maze; the same seed gives the same maze."""

    check: Annotated[Path | None, optional("FILE")] = None
    """Check this maze file and say what is wrong with it, and where."""

    json: Switch = False
    """Print one JSON object instead."""

    def run(self) -> int:
        """Do what the flags ask for and return the exit code."""
        asked = [flag for flag in (self.name, self.generate, self.check) if flag is not None]
        if len(asked) > 1:
            raise ConfigError("a name, --generate and --check exclude each other; give one")
        if self.check is not None:
            self._check(self.check)
        elif self.generate is not None:
            kind, rows, columns = self.generate
            maze = random_maze(cast(MazeKind, kind), rows, columns, self.seed)
            facts = _describe(maze) | {"text": maze.to_text()}
            self._print(facts, lambda: _print_rows(maze.to_text()))
        elif self.name is not None:
            maze, cautions = _load(self.name)
            facts = _describe(maze) | {"text": maze.to_text(), "warnings": cautions}
            self._print(facts, lambda: _draw(maze))
        else:
            mazes = [load_maze(name) for name in maze_names()]
            facts = {"mazes": [_describe(maze) for maze in mazes]}
            self._print(facts, lambda: print_table(_HEADS, [_cells(maze) for maze in mazes]))
        return 0

    def _check(self, path: Path) -> None:
        maze, cautions = _load(path)
        facts = {"file": str(path), "ok": True, **_describe(maze), "warnings": cautions}
        self._print(facts, lambda: print_lines(f"{path}: ok, {_summary(maze)}"))

    def _print(self, facts: dict[str, Any], print_text: Callable[[], None]) -> None:
        if self.json:
            print_json(facts)
        else:
            print_text()


def _load(name_or_path: str | Path) -> tuple[Maze, list[str]]:
    """The maze and its warnings, which also go to standard error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", MazeWarning)
        maze = load_maze(name_or_path)
    cautions = [str(caution.message) for caution in caught]
    for caution in cautions:
        say(f"tgm: warning: {caution}")
    return maze, cautions


def _describe(maze: Maze) -> dict[str, Any]:
    """The facts for JSON, which has no infinity: without a way to the goal two of them are null."""
    reachable = math.isfinite(maze.optimal_return)
    return {
        "name": maze.name,
        "width": maze.width,
        "height": maze.height,
        "cells": len(maze.cells),
        "shortest_path": len(maze.shortest_path) - 1 if reachable else None,
        "optimal_return": maze.optimal_return if reachable else None,
        "max_episode_steps": default_limit(maze),
    }


def _summary(maze: Maze) -> str:
    size = f"{maze.width} x {maze.height}, {len(maze.cells)} cells"
    if not maze.shortest_path:
        return f"{size}, no way to the goal"
    n_moves = len(maze.shortest_path) - 1
    best = f"shortest path {n_moves} moves, best return {maze.optimal_return:g}"
    return f"{size}, {best}, {default_limit(maze)} steps an episode"


def _draw(maze: Maze) -> None:
    """A picture on a terminal that can show its signs, the text of a maze file elsewhere."""
    console = Console(file=OutText())
    if not console.is_terminal or console.options.ascii_only:
        _print_rows(maze.to_text())
        return
    _print_rows(draw_text(maze, maze.start, maze.shortest_path))
    print_lines("M mouse   ◆ cheese   · shortest path", f"{maze.name}: {_summary(maze)}")


def _print_rows(picture: str) -> None:
    """The rows of a maze, each with its line break."""
    print_lines(*picture.splitlines())


_HEADS = ("name", "size", "cells", "shortest path", "best return")


def _cells(maze: Maze) -> tuple[str, ...]:
    return (
        maze.name,
        f"{maze.width} x {maze.height}",
        str(len(maze.cells)),
        str(len(maze.shortest_path) - 1),
        f"{maze.optimal_return:g}",
    )
