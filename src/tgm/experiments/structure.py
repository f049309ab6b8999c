"""The learned map against the true maze: automatically what the paper did by eye (figure 12)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from tgm.distributions import FloatArray
from tgm.distributions.gaussian import with_width
from tgm.envs import Cell, Maze
from tgm.envs.maze import EAT

CellVerdict = Literal["learned", "fused", "duplicated", "missing"]
TransitionVerdict = Literal["right", "wrong", "untried"]

WITHIN = 5.0  # standard deviations: a component explains a cell whose centre is this near
TRIED = 0.5  # expected visits that make an action tried in a state


class LearnedMap(Protocol):
    """What is scored: the public face of TGMAgent."""

    @property
    def n_states(self) -> int:
        """Number of states."""

    @property
    def means(self) -> FloatArray:
        """(n_states, 2)"""

    @property
    def covariances(self) -> FloatArray:
        """(n_states, 2, 2)"""

    @property
    def transition_matrix(self) -> FloatArray:
        """(n_actions, n_states, n_states)"""

    @property
    def transition_counts(self) -> FloatArray:
        """(n_actions, n_states, n_states)"""


@dataclass(frozen=True)
class StructureReport:
    """How well a learned map fits the maze.

    Attributes:
        cells: verdict on each reachable cell: `learned` has one component of its own;
            `duplicated` has several; `fused` has none, but a component of another cell covers it;
            `missing` is covered by none.
        state_cells: the cell in which each state's mean lies, None for a state outside all cells.
        transitions: verdict on the most likely successor of each (cell, action), for learned cells;
            the goal's last action is left out, since the episode ends there.
    """

    cells: dict[Cell, CellVerdict]
    state_cells: tuple[Cell | None, ...]
    transitions: dict[tuple[Cell, int], TransitionVerdict]

    @property
    def counts(self) -> dict[str, int]:
        """Number of cells with each verdict."""
        tally = Counter(self.cells.values())
        return {name: tally[name] for name in ("learned", "duplicated", "fused", "missing")}

    @property
    def transition_counts(self) -> dict[str, int]:
        """Number of (cell, action) pairs with each verdict."""
        tally = Counter(self.transitions.values())
        return {name: tally[name] for name in ("right", "wrong", "untried")}

    @property
    def is_exact(self) -> bool:
        """One component per reachable cell, none fused or double, and no tried action wrong."""
        return (
            len(self.state_cells) == len(self.cells)
            and set(self.cells.values()) == {"learned"}
            and "wrong" not in self.transitions.values()
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "exact": self.is_exact,
            "states": len(self.state_cells),
            "cells": self.counts,
            "transitions": self.transition_counts,
            "cell_verdicts": [
                {"x": x, "y": y, "verdict": verdict} for (x, y), verdict in self.cells.items()
            ],
        }


def compare_structure(learned: LearnedMap, maze: Maze) -> StructureReport:
    """Score the states and transitions of an agent against the maze in which it has learned."""
    state_cells = _cells_of_states(learned.means, maze)
    owners: dict[Cell, list[int]] = {cell: [] for cell in maze.cells}
    for state, cell in enumerate(state_cells):
        if cell is not None:
            owners[cell].append(state)
    covered = _covered(learned, maze)
    verdicts: dict[Cell, CellVerdict] = {}
    for index, cell in enumerate(maze.cells):
        if len(owners[cell]) == 1:
            verdicts[cell] = "learned"
        elif owners[cell]:
            verdicts[cell] = "duplicated"
        else:
            verdicts[cell] = "fused" if covered[index] else "missing"
    return StructureReport(verdicts, state_cells, _transitions(learned, maze, owners, state_cells))


def _cells_of_states(means: FloatArray, maze: Maze) -> tuple[Cell | None, ...]:
    """The reachable cell within whose walls each mean lies."""
    reachable = set(maze.cells)
    nearest = [(int(x), int(y)) for x, y in np.rint(means)]
    return tuple(cell if cell in reachable else None for cell in nearest)


def _covered(learned: LearnedMap, maze: Maze) -> list[bool]:
    """For each cell whether its centre lies within some component."""
    if learned.n_states == 0:
        return [False] * len(maze.cells)
    difference = np.array(maze.cells, dtype=float)[:, None] - learned.means
    solved = np.linalg.solve(with_width(learned.covariances), np.moveaxis(difference, 0, -1))
    distance = np.einsum("nko,kon->nk", difference, solved)
    return [bool(row.min() < WITHIN**2) for row in distance]


def _transitions(
    learned: LearnedMap,
    maze: Maze,
    owners: dict[Cell, list[int]],
    state_cells: tuple[Cell | None, ...],
) -> dict[tuple[Cell, int], TransitionVerdict]:
    visits = learned.transition_counts.sum(axis=-1)
    transition = learned.transition_matrix
    successors = transition.argmax(axis=-1) if transition.size else transition
    verdicts: dict[tuple[Cell, int], TransitionVerdict] = {}
    for cell, states in owners.items():
        for action in range(len(visits)):
            ends = action == EAT and cell == maze.goal
            if len(states) != 1 or ends:
                continue
            if visits[action, states[0]] < TRIED:
                verdicts[cell, action] = "untried"
                continue
            successor = int(successors[action, states[0]])
            right = state_cells[successor] == maze.next_cell(cell, action)
            verdicts[cell, action] = "right" if right else "wrong"
    return verdicts
