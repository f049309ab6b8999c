"""The maze as a value: its glyphs, its cells, what each action does, and the best way through."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from tgm.errors import ConfigError, MazeError

Cell: TypeAlias = tuple[int, int]
"""(x, y): columns from the left and rows from the bottom, from 0, outer walls included."""

WALL, FLOOR, START, GOAL, LAVA, OUTSIDE = "#.SGL "

ACTION_NAMES = ("down", "up", "left", "right", "eat")
EAT = 4
N_ACTIONS = len(ACTION_NAMES)

STEP_REWARD, GOAL_REWARD, LAVA_REWARD = -1.0, 1.0, -10.0

MAX_SIDE = 1000
"""Most rows and most columns of a maze; a larger one is refused as a mistake."""

_UNKNOWN_GLYPH = re.compile(f"[^{WALL}{FLOOR}{START}{GOAL}{LAVA}{OUTSIDE}]")


@dataclass(frozen=True)
class Maze:
    """A maze that is known to be sound: one start, one goal, and walls around all floor.

    `grid` holds the rows from the top down, all of one length, in the glyphs of the maze files
    (`#` wall, `.` floor, `S` start, `G` goal, `L` lava, space outside). Everything else follows
    from it and is computed once, when it is first asked for.

    >>> from tgm.envs import Maze
    >>> maze = Maze("corridor", ("#####", "#S.G#", "#####"))
    >>> maze.start, maze.goal, maze.optimal_return
    ((1, 1), (3, 1), -1.0)
    >>> maze.next_cell((1, 1), 3)
    (2, 1)
    """

    name: str
    grid: tuple[str, ...]

    def __post_init__(self) -> None:
        check_grid(self.grid, source=self.name)

    def __deepcopy__(self, memo: dict[int, object]) -> Maze:
        """Itself: it never changes. Gymnasium copies the arguments of an environment often."""
        return self

    @property
    def width(self) -> int:
        """Number of columns, outer walls included."""
        return len(self.grid[0])

    @property
    def height(self) -> int:
        """Number of rows, outer walls included."""
        return len(self.grid)

    @cached_property
    def start(self) -> Cell:
        """The cell where an episode begins."""
        return _find(self.grid, START)

    @cached_property
    def goal(self) -> Cell:
        """The cell where eating is rewarded."""
        return _find(self.grid, GOAL)

    @cached_property
    def moves(self) -> Mapping[Cell, tuple[Cell, ...]]:
        """For each open cell, reachable or not, the cell after each of the five actions.

        Nothing leads out of lava.
        """
        return moves_of(self.grid)

    @cached_property
    def lava(self) -> frozenset[Cell]:
        """The cells that end the episode."""
        top = self.height - 1
        found = ((x, top - line) for line, row in enumerate(self.grid) for x in _places(row, LAVA))
        return frozenset(found)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The cells in which the mouse can act, row by row from the bottom left.

        Those that can be reached from the start, without lava.
        """
        reached = self._previous.keys() - self.lava
        return tuple(sorted(reached, key=lambda cell: (cell[1], cell[0])))

    @cached_property
    def shortest_path(self) -> tuple[Cell, ...]:
        """The cells of one shortest way, start and goal included; empty if there is no way."""
        if self.goal not in self._previous:
            return ()
        path = [self.goal]
        while path[-1] != self.start:
            path.append(self._previous[path[-1]])
        return tuple(reversed(path))

    @property
    def optimal_return(self) -> float:
        """The best undiscounted return: -1 for each move of the shortest path, +1 for eating.

        Without a time limit; `best_return` has one. Without a way to the goal no return is the
        best, since waiting costs for ever: minus infinity.
        """
        n_moves = len(self.shortest_path) - 1
        return 1.0 - n_moves if n_moves >= 0 else -np.inf

    def can_be_solved(self, limit: int | None) -> bool:
        """Whether an episode of at most `limit` steps (None: any number) can end at the goal."""
        n_steps = len(self.shortest_path)  # the moves, and eating
        return n_steps > 0 and (limit is None or n_steps <= limit)

    def best_return(self, limit: int | None) -> float:
        """The best return of an episode of at most `limit` steps (None: any number).

        Where the goal cannot be reached in time, every episode returns -1 for each step.
        """
        return self.optimal_return if limit is None or self.can_be_solved(limit) else -float(limit)

    def why_unsolvable(self, limit: int | None) -> str:
        """Why no episode of at most `limit` steps ends at the goal; empty if one can."""
        if self.can_be_solved(limit):
            return ""
        if not self.shortest_path:
            return "there is no way to the goal"
        distance = f"the goal is {len(self.shortest_path)} steps away"
        return f"{distance} and an episode has only {limit}: raise --max-episode-steps"

    def next_cell(self, cell: Cell, action: int) -> Cell:
        """The cell after `action` in `cell`; a bump and eating leave the mouse in place."""
        if cell not in self.moves:
            raise ConfigError(f"cell {cell} is not floor in maze '{self.name}'; `cells` lists them")
        if not 0 <= action < N_ACTIONS:
            raise ConfigError(f"action {action} is not one of 0 to 4 ({', '.join(ACTION_NAMES)})")
        return self.moves[cell][action]

    def to_text(self) -> str:
        """The maze as the text of a maze file."""
        return "".join(row.rstrip() + "\n" for row in self.grid)

    @cached_property
    def _previous(self) -> Mapping[Cell, Cell]:
        return breadth_first(self.moves, self.start)


def moves_of(grid: tuple[str, ...]) -> dict[Cell, tuple[Cell, ...]]:
    """For each open cell of `grid` the cell after each of the five actions, in their order."""
    top = len(grid) - 1
    open_cells = [
        (x, top - line)
        for line, row in enumerate(grid)
        for x, glyph in enumerate(row)
        if glyph in (FLOOR, START, GOAL, LAVA)
    ]
    # One tuple per cell, shared by all that lead to it: large mazes have a million of them.
    shared = {cell: cell for cell in open_cells}
    moves = {}
    for cell in open_cells:
        x, y = cell
        if grid[top - y][x] == LAVA:
            moves[cell] = (cell,) * N_ACTIONS
            continue
        towards = ((x, y - 1), (x, y + 1), (x - 1, y), (x + 1, y))
        moves[cell] = (*(shared.get(there, cell) for there in towards), cell)
    return moves


def breadth_first(moves: Mapping[Cell, tuple[Cell, ...]], start: Cell) -> dict[Cell, Cell]:
    """Every cell within reach of `start`, nearest first, with the cell from which it is entered."""
    previous = {start: start}
    waiting = deque([start])
    while waiting:
        cell = waiting.popleft()
        for there in moves[cell]:
            if there not in previous:
                previous[there] = cell
                waiting.append(there)
    return previous


def check_grid(
    grid: tuple[str, ...], *, source: str, first_line: int = 1, first_column: int = 1
) -> None:
    """Raise a MazeError at the first fault of `grid`.

    `first_line` and `first_column` are the place of the top left glyph in `source`.
    """

    def fault(line: int, column: int, message: str) -> MazeError:
        return MazeError(
            message, source=source, line=first_line + line, column=first_column + column
        )

    if not grid or not grid[0]:
        raise fault(0, 0, "the maze is empty; draw it with '#', '.', 'S' and 'G'")
    if len(grid) > MAX_SIDE:
        raise fault(MAX_SIDE, 0, f"{len(grid)} rows are too many; keep to {MAX_SIDE}")
    for line, row in enumerate(grid):
        if len(row) > MAX_SIDE:
            raise fault(line, MAX_SIDE, f"{len(row)} columns are too many; keep to {MAX_SIDE}")
        if unknown := _UNKNOWN_GLYPH.search(row):
            glyph = unknown.group()
            seen = f"unknown glyph {glyph!a} (U+{ord(glyph):04X})"
            raise fault(line, unknown.start(), f"{seen}; use '#', '.', 'S', 'G', 'L' or space")
        if len(row) != len(grid[0]):
            wanted = f"the first row has {len(grid[0])}; pad with spaces"
            raise fault(line, len(row), f"{len(row)} columns, but {wanted}")
    for glyph, what in ((START, "start"), (GOAL, "goal")):
        places = [
            (line, m.start()) for line, row in enumerate(grid) for m in re.finditer(glyph, row)
        ]
        if not places:
            raise fault(0, 0, f"there is no {what}; mark one floor cell with '{glyph}'")
        if len(places) > 1:
            first = f"{first_line + places[0][0]}:{first_column + places[0][1]}"
            raise fault(*places[1], f"a second {what}, after that at {first}; keep one '{glyph}'")
    if leak := _first_leak(grid):
        raise fault(*leak, "the maze leaks: open floor beside the outside; close it with '#'")


def _first_leak(grid: tuple[str, ...]) -> tuple[int, int] | None:
    """(line, column) of the first open cell with no wall between it and the outside, if any."""
    codes = np.frombuffer("".join(grid).encode("ascii"), dtype=np.uint8)
    framed = np.pad(codes.reshape(len(grid), -1), 1, constant_values=ord(OUTSIDE))
    outside = framed == ord(OUTSIDE)
    is_open = ~outside & (framed != ord(WALL))
    beside = outside[:-2, 1:-1] | outside[2:, 1:-1] | outside[1:-1, :-2] | outside[1:-1, 2:]
    leaks = np.argwhere(is_open[1:-1, 1:-1] & beside)
    return (int(leaks[0, 0]), int(leaks[0, 1])) if len(leaks) else None


def _places(row: str, glyph: str) -> list[int]:
    """The columns of a row that hold a glyph."""
    return [x for x, seen in enumerate(row) if seen == glyph]


def _find(grid: tuple[str, ...], glyph: str) -> Cell:
    line = next(line for line, row in enumerate(grid) if glyph in row)
    return grid[line].index(glyph), len(grid) - 1 - line
