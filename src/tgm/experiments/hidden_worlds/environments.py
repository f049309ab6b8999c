"""Worlds in which what is seen does not say where one is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np

from tgm.distributions import FloatArray
from tgm.envs import Maze
from tgm.envs.maze import Cell

VIEW_STREAM = 1  # of the seed of an episode: the noise of the view

Look = Callable[[Maze, Cell], tuple[float, ...]]
"""What is seen of a cell, without noise."""


def walls(maze: Maze, cell: Cell) -> tuple[float, ...]:
    """Four bits, whether a wall is below, above, left and right; and whether it is the goal."""
    ways = maze.moves[cell]
    return (*(float(ways[action] == cell) for action in range(4)), float(cell == maze.goal))


def column(maze: Maze, cell: Cell) -> tuple[float, ...]:
    """x alone."""
    return (float(cell[0]),)


class SeenMaze(gym.Wrapper[FloatArray, int, FloatArray, int]):
    """A maze of which only a look is seen, with noise."""

    def __init__(self, maze: str | Maze, look: Look, noise: float = 0.1) -> None:
        """See `look` of each cell, with Gaussian noise on every feature."""
        super().__init__(gym.make("tgm/Maze-v0", maze=maze))
        self.maze, self._look, self._noise = self.env.unwrapped.maze, look, noise  # type: ignore[attr-defined]
        n_features = len(look(self.maze, self.maze.start))
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (n_features,), np.float64)
        self._rng = np.random.default_rng(0)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[FloatArray, dict[str, Any]]:
        """Begin an episode; `seed` renews the generator of the view too."""
        _, info = self.env.reset(seed=seed, options=options)
        if seed is not None:
            sequence = np.random.SeedSequence(seed, spawn_key=(VIEW_STREAM,))
            self._rng = np.random.default_rng(sequence)
        return self._seen(info), info

    def step(self, action: int) -> tuple[FloatArray, Any, bool, bool, dict[str, Any]]:
        """A step of the maze, seen by its look."""
        _, reward, terminated, truncated, info = self.env.step(action)
        return self._seen(info), reward, terminated, truncated, info

    def _seen(self, info: dict[str, Any]) -> FloatArray:
        look = np.array(self._look(self.maze, info["cell"]))
        return look + self._noise * self._rng.standard_normal(len(look))


class CueMaze(gym.Env[int, int]):
    """A cue, a corridor that looks the same everywhere, and a choice that only the cue can tell.

    Action 0 goes on; at the end 1 and 2 choose. The right choice is worth 1, the wrong one -1, each
    other step -0.05. An episode ends with a choice, or after four times the lag and 20 steps.
    """

    action_space = gym.spaces.Discrete(3)  # type: ignore[assignment]
    observation_space = gym.spaces.Discrete(4)  # type: ignore[assignment]
    action_names = ("on", "one", "other")

    def __init__(self, lag: int) -> None:
        """So many places between the cue and the choice."""
        self.lag = lag

    @property
    def best_return(self) -> float:
        """Of an episode without a wrong step."""
        return 1.0 - 0.05 * (self.lag + 1)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Begin an episode with one of two cues."""
        super().reset(seed=seed)
        self._cue, self._place, self._n_steps = int(self.np_random.integers(2)), 0, 0
        return self._seen(), {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Go on, or choose."""
        self._n_steps += 1
        if self._place > self.lag and action:
            return self._seen(), 1.0 if action - 1 == self._cue else -1.0, True, False, {}
        if self._place <= self.lag and not action:
            self._place += 1
        return self._seen(), -0.05, False, self._n_steps >= 4 * self.lag + 20, {}

    def _seen(self) -> int:
        if self._place == 0:
            return self._cue
        return 3 if self._place > self.lag else 2


class ColourRoom(gym.Env[int, int]):
    """A room of which only the colours of the cells are seen. No episode ends; nothing is gained.

    The world that clone-structured graphs were tried in: 6 x 8 cells of 4 colours, at random.
    """

    action_space = gym.spaces.Discrete(4)  # type: ignore[assignment]
    action_names = ("down", "up", "left", "right")
    _moves = ((0, -1), (0, 1), (-1, 0), (1, 0))

    def __init__(self, width: int, height: int, n_colours: int, seed: int) -> None:
        """Colours follow from the seed."""
        self.observation_space = gym.spaces.Discrete(n_colours)  # type: ignore[assignment]
        self.colours = np.random.default_rng(seed).integers(n_colours, size=(width, height))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Begin in a cell at random."""
        super().reset(seed=seed)
        width, height = self.colours.shape
        self._cell = int(self.np_random.integers(width)), int(self.np_random.integers(height))
        return self.colour(self._cell), {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Move; walls are bumped into."""
        self._cell = self.after(self._cell, action)
        return self.colour(self._cell), 0.0, False, False, {}

    def colour(self, cell: Cell) -> int:
        """What is seen of a cell."""
        return int(self.colours[cell])

    def after(self, cell: Cell, action: int) -> Cell:
        """Where an action leads."""
        x, y = cell[0] + self._moves[action][0], cell[1] + self._moves[action][1]
        width, height = self.colours.shape
        return (x, y) if 0 <= x < width and 0 <= y < height else cell

    def is_mapped(self, looks: FloatArray, ways: FloatArray) -> bool:
        """Whether a graph is this room, up to names.

        Args:
            looks: (n_states,) colours.
            ways: (n_actions, n_states, n_states) tries, or probabilities.
        """
        following = ways.argmax(axis=2)
        return len(looks) == self.colours.size and any(
            self._is_mapped_from(state, looks, following) for state in range(len(looks))
        )

    def _is_mapped_from(self, state: int, looks: FloatArray, following: FloatArray) -> bool:
        """Whether the graph is this room if a state is the cell (0, 0)."""
        states, cells = {(0, 0): state}, [(0, 0)]
        for cell in cells:
            if looks[states[cell]] != self.colour(cell):
                return False
            for action in range(4):
                after, found = self.after(cell, action), int(following[action, states[cell]])
                if states.setdefault(after, found) != found:
                    return False
                if after not in cells:
                    cells.append(after)
        return len(set(states.values())) == len(looks)


def room(width: int, height: int) -> Maze:
    """An empty room, with the goal in the corner opposite to the start."""
    inside = ["." * (width - 1) + "G", *["." * width] * (height - 2), "S" + "." * (width - 1)]
    rows = ["#" * (width + 2), *(f"#{row}#" for row in inside), "#" * (width + 2)]
    return Maze(f"room of {width} x {height}", tuple(rows))
