"""Random mazes of any size, with start and goal always connected."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from tgm.envs.maze import FLOOR, GOAL, MAX_SIDE, START, WALL, Maze, breadth_first, moves_of
from tgm.errors import ConfigError

MazeKind: TypeAlias = Literal["perfect", "open", "rooms"]

_Plan: TypeAlias = NDArray[np.bool_]
"""Which cells inside the outer walls are floor: (rows, columns), row 0 at the bottom."""

_WIDEST_PERFECT = int((MAX_SIDE - 3) / 2**0.5)  # its lattice of rooms and walls fits into a file
_MIN_ROOM = 6  # rows or columns that are split again: two rooms of at least two, and a wall


def random_maze(kind: MazeKind, rows: int, columns: int, seed: int) -> Maze:
    """A maze of `kind`; the same arguments always give the same maze.

    - "perfect": a tree of exactly `rows` x `columns` cells, so that just one way leads from any
      cell to any other. Walls of a maze file are whole cells, so it covers an area about twice
      as large: a spanning tree over a lattice of rooms, whose dead ends are cut back until the
      number of cells is right. The goal is a cell farthest from the start.
    - "open": one empty room of `rows` x `columns` cells, the goal opposite to the start. Nothing
      in it is random.
    - "rooms": a hall of `rows` x `columns` cells, parted by walls with doors into rooms two to
      five cells wide. The goal is a cell farthest from the start.

    The start is at the bottom left, (1, 1).

    >>> from tgm.envs import random_maze
    >>> print(random_maze("open", 2, 3, seed=0).to_text(), end="")
    #####
    #..G#
    #S..#
    #####
    """
    if kind not in get_args(MazeKind):
        raise ConfigError(f"maze kind {kind!r} is not one of {', '.join(get_args(MazeKind))}")
    rows, columns = _whole("rows", rows, 1), _whole("columns", columns, 1)
    rng = np.random.default_rng(_whole("seed", seed, 0))
    widest = _WIDEST_PERFECT if kind == "perfect" else MAX_SIDE - 2
    if max(rows, columns) > widest:
        size = f"{rows} x {columns}"
        raise ConfigError(f"{size} is too large for kind '{kind}'; keep to {widest} a side")
    if rows * columns < 2:
        raise ConfigError("a maze of 1 x 1 has no place for start and goal; ask for 1 x 2 or more")
    if kind == "rooms" and max(rows, columns) < _MIN_ROOM:
        size = f"{rows} x {columns}"
        raise ConfigError(f"{size} holds a single room; ask for {_MIN_ROOM} rows or columns")

    name = f"{kind}-{rows}x{columns}-{seed}"
    if kind == "open":
        return _build(name, np.ones((rows, columns), dtype=np.bool_), goal=(columns, rows))
    plan = _perfect(rows, columns, rng) if kind == "perfect" else _rooms(rows, columns, rng)
    return _build(name, plan, goal=None)


def _whole(what: str, value: int, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ConfigError(f"{what} is {value!r}; it must be a whole number, at least {least}")
    return int(value)


def _perfect(rows: int, columns: int, rng: np.random.Generator) -> _Plan:
    """A tree of rows * columns cells, on a lattice of half as many rooms or a little more."""
    lattice_rows, lattice_columns = (math.ceil(side / 2**0.5) for side in (rows, columns))
    plan = _spanning_tree(lattice_rows, lattice_columns, rng)
    _cut_back(plan, rows * columns, rng)
    return plan


def _cut_back(plan: _Plan, n_cells: int, rng: np.random.Generator) -> None:
    """Take the tips of random dead ends off the tree `plan` until `n_cells` are left."""
    framed = np.pad(plan, 1)
    branches = [(int(row), int(column)) for row, column in np.argwhere(framed)]
    surplus = len(branches) - n_cells

    def neighbours(cell: tuple[int, int]) -> list[tuple[int, int]]:
        row, column = cell
        around = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
        return [there for there in around if framed[there]]

    start = (1, 1)
    tips = [cell for cell in branches if len(neighbours(cell)) == 1 and cell != start]
    for _ in range(surplus):
        index = int(rng.integers(len(tips)))
        tips[index], tips[-1] = tips[-1], tips[index]
        tip = tips.pop()
        (inner,) = neighbours(tip)
        framed[tip] = False
        if len(neighbours(inner)) == 1 and inner != start:
            tips.append(inner)
    plan[:] = framed[1:-1, 1:-1]


def _spanning_tree(rows: int, columns: int, rng: np.random.Generator) -> _Plan:
    """Carve by depth-first search: walk to a new room at random, go back when there is none."""
    plan = np.zeros((2 * rows - 1, 2 * columns - 1), dtype=np.bool_)
    unvisited = {(row, column) for row in range(rows) for column in range(columns)}
    unvisited.remove((0, 0))
    plan[0, 0] = True
    trail = [(0, 0)]
    while unvisited:
        row, column = trail[-1]
        around = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
        ahead = [room for room in around if room in unvisited]
        if not ahead:
            trail.pop()
            continue
        there = ahead[rng.integers(len(ahead))]
        plan[row + there[0], column + there[1]] = True  # the passage, half-way between the rooms
        plan[2 * there[0], 2 * there[1]] = True
        unvisited.remove(there)
        trail.append(there)
    return plan


def _rooms(rows: int, columns: int, rng: np.random.Generator) -> _Plan:
    """Part the hall again and again, each wall with a door, and a second one if it is long.

    Walls stand on odd rows and columns and doors on even ones, so that no later wall can
    close a door.
    """
    plan = np.ones((rows, columns), dtype=np.bool_)
    waiting = [plan]
    while waiting:
        room = waiting.pop()
        if room.shape[0] < room.shape[1]:
            room = room.T  # a view: the wall goes across the longer side either way
        n_rows, n_columns = room.shape
        if n_rows < _MIN_ROOM:
            continue
        wall = 3 + 2 * int(rng.integers((n_rows - 4) // 2))
        room[wall] = False
        for _ in range(2 if n_columns > 2 * _MIN_ROOM else 1):
            room[wall, 2 * rng.integers((n_columns + 1) // 2)] = True
        waiting += [room[:wall], room[wall + 1 :]]
    return plan


def _build(name: str, plan: _Plan, goal: tuple[int, int] | None) -> Maze:
    """The maze with the floor of `plan`, the goal at cell `goal`; None: far from the start."""
    framed = np.pad(plan, 1)[::-1]
    glyphs = np.where(framed, FLOOR, WALL)
    glyphs[-2, 1] = START
    if goal is None:
        moves = moves_of(tuple("".join(row) for row in glyphs))
        *_, goal = breadth_first(moves, (1, 1))
    glyphs[-1 - goal[1], goal[0]] = GOAL
    return Maze(name, tuple("".join(row) for row in glyphs))
