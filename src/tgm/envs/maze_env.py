"""The maze of the paper as a Gymnasium environment."""

from __future__ import annotations

import operator
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from tgm.envs.catalogue import load_maze
from tgm.envs.maze import (
    ACTION_NAMES,
    EAT,
    GOAL_REWARD,
    LAVA_REWARD,
    N_ACTIONS,
    STEP_REWARD,
    Cell,
    Maze,
)
from tgm.envs.render import draw_picture, draw_text
from tgm.envs.time_limit import default_limit
from tgm.errors import ConfigError, DataError

MazeLike: TypeAlias = str | os.PathLike[str] | Maze
"""A name, the path of a file, or the maze itself."""

DEFAULT_NOISE = 0.15
"""Standard deviation of the observations, in cells, as in the paper."""

MOST_NOISE = 1e6
"""The most of it: far beyond use, and near enough for a finite box."""

_NOISE_LIMIT = 8.0  # standard deviations: cut off about once in 10^15 draws
_NOISE_BLOCK = 32  # draws at a time; a reset with a seed discards those that are left
_LONGEST_TRACE = 10_000  # cells: an episode without a time limit must not fill the memory


class MazeEnv(gym.Env[NDArray[np.float64], int]):
    """A mouse looks for cheese in a maze and observes its position with noise.

    ## Description
    The world of "Structure learning with Temporal Gaussian Mixture for model-based Reinforcement
    Learning" (Champion, Grzes, Bowman). The mouse moves from cell to cell; each observation is
    the position of its cell with fresh noise. It has to find the cheese and eat it.

    ## Action space
    `Discrete(5)`: 0 down, 1 up, 2 left, 3 right, 4 eat. Up adds one to y. A move against a wall
    leaves the mouse in place, and so does eating. With probability `slip` a random one of the
    four moves is made instead of the action.

    ## Observation space
    `Box` of shape (2,), float64: (x, y) of the cell, x counting columns from the left and y rows
    from the bottom, both from 0 and outer walls included, plus Gaussian noise of standard
    deviation `noise` on each. The noise is cut off at eight standard deviations, which happens
    about once in 10^15 draws, and the box is wider than the maze by as much on every side: each
    observation lies within it. The noise comes from the environment's own generator, so that an
    episode after `reset(seed=...)` repeats exactly.

    `info["cell"]` is the true cell, for scoring what an agent has learned. Agents do not read it.

    ## Starting state
    The cell marked `S`.

    ## Rewards
    -1 for each step, but +1 for eating the cheese and -10 for stepping into lava. The best return
    of an episode that is cut off after `limit` steps is `maze.best_return(limit)`; with `slip`,
    the best on average is
    `best_mean_return(maze, limit, slip)`.

    ## Episode end
    Termination: the mouse eats the cheese, in the cell marked `G`, or steps into lava, a cell
    marked `L`. Truncation: the time limit. It is 50 steps for the six mazes of the paper. For any
    other maze it is four times the steps
    of the shortest way (its moves, and eating), but at least 50, and 50 if there is no way; with
    `changes`, the longest of the limits of all mazes of the schedule. `default_limit` has it,
    `gym.make(..., max_episode_steps=n)` sets another limit and -1 none. The limit is
    Gymnasium's `TimeLimit`, so that an environment made without `gym.make` has none.

    ## Arguments
    - `maze` ("27"): the name of a maze of the paper, the path of a maze file, or a `Maze`.
    - `noise` (0.15): standard deviation of the observation noise, in cells.
    - `slip` (0): probability that a random move is made instead of the action.
    - `changes` (none): a schedule of wall changes, `[(step, maze), ...]` with rising steps. As
      soon as that many steps have been taken since the environment was made, over all episodes,
      `maze` replaces the one before. All mazes have the same width and height. A mouse whose
      cell becomes a wall is put back to the start.
    - `render_mode` (none): "ansi" for text or "rgb_array" for a picture, both with walls, mouse,
      cheese and the trace of the episode.

    ## Version history
    - v0: first version.
    """

    action_names = ACTION_NAMES
    """Names of the actions, in their order."""

    feature_names = ("x", "y")
    """Names of the features of an observation: column from the left, row from the bottom."""

    # Gymnasium declares it for the instance, so it cannot be a ClassVar here.
    metadata = {"render_modes": ["ansi", "rgb_array"], "render_fps": 8}  # noqa: RUF012

    def __init__(
        self,
        maze: MazeLike = "27",
        noise: float = DEFAULT_NOISE,
        changes: Iterable[tuple[int, MazeLike]] = (),
        render_mode: str | None = None,
        slip: float = 0.0,
    ) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ConfigError(f"render_mode {render_mode!r} is not 'ansi' or 'rgb_array'")
        self.render_mode = render_mode
        self.maze = _as_maze(maze)
        self._noise = _checked_noise(noise)
        self.slip = _checked_slip(slip)
        self._changes = self._all_changes = _checked_changes(changes, self.maze)
        margin = _NOISE_LIMIT * self._noise
        corner = np.array([self.maze.width - 1, self.maze.height - 1], dtype=np.float64)
        self.observation_space = gym.spaces.Box(-margin, corner + margin, dtype=np.float64)
        self.action_space = gym.spaces.Discrete(N_ACTIONS)  # type: ignore[assignment]

        self._n_steps = 0  # since the environment was made: the clock of the changes
        self._moves, self._lava = self.maze.moves, self.maze.lava
        self._cell = self.maze.start
        self._needs_reset = True
        self._noise_draws: Iterator[tuple[float, float]] = iter(())
        self._trace: deque[Cell] = deque(maxlen=_LONGEST_TRACE)

    @property
    def default_limit(self) -> int:
        """The time limit of `gym.make`, in steps, if none is given."""
        return max(default_limit(maze) for maze in (self.maze, *(m for _, m in self._changes)))

    @property
    def schedule(self) -> list[list[Any]]:
        """All wall changes, those that have happened included: [step, rows of the maze]."""
        return [[step, list(maze.grid)] for step, maze in self._all_changes]

    @property
    def noise(self) -> float:
        """Standard deviation of the observation noise, in cells."""
        return self._noise

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """Put the mouse at the start; `seed` renews the generator. Returns observation, info."""
        super().reset(seed=seed)
        if seed is not None:
            self._noise_draws = iter(())  # what is left was drawn under the old seed
        self._cell = self.maze.start
        self._needs_reset = False
        self._trace.clear()
        self._trace.append(self._cell)
        return self._observe(), {"cell": self._cell}

    def step(self, action: int) -> tuple[NDArray[np.float64], float, bool, bool, dict[str, Any]]:
        """Do `action`. Returns observation (2,), reward, terminated, truncated and info."""
        if self._needs_reset:
            raise ResetNeeded("there is no episode to step in; call reset() before step()")
        if type(action) is not int or not 0 <= action < N_ACTIONS:
            action = _checked_action(action)
        if self.slip and self.np_random.random() < self.slip:
            action = int(self.np_random.integers(EAT))
        cell = self._cell = self._moves[self._cell][action]
        is_eaten = action == EAT and cell == self.maze.goal
        is_burnt = cell in self._lava
        terminated = is_eaten or is_burnt
        self._needs_reset = terminated
        self._n_steps += 1
        if self._changes and self._n_steps == self._changes[0][0]:
            self._change_maze()
        if self.render_mode is not None:
            self._trace.append(self._cell)
        reward = GOAL_REWARD if is_eaten else LAVA_REWARD if is_burnt else STEP_REWARD
        return self._observe(), reward, terminated, False, {"cell": self._cell}

    def render(self) -> str | NDArray[np.uint8] | None:
        """The maze as text or as a picture (height, width, 3), by the render mode."""
        if self.render_mode == "ansi":
            return draw_text(self.maze, self._cell, self._trace)
        if self.render_mode == "rgb_array":
            return draw_picture(self.maze, self._cell, self._trace)
        gym.logger.warn('render() needs a mode: gym.make("tgm/Maze-v0", render_mode="ansi")')
        return None

    def _observe(self) -> NDArray[np.float64]:
        draw = next(self._noise_draws, None)
        if draw is None:
            # Python floats in blocks: a call of the generator in each step would nearly double
            # the step's cost (0.7 of 0.9 microseconds, measured).
            block = iter(self.np_random.standard_normal(2 * _NOISE_BLOCK).tolist())
            self._noise_draws = zip(block, block, strict=True)
            draw = next(self._noise_draws)
        dx, dy = draw
        if not (-_NOISE_LIMIT <= dx <= _NOISE_LIMIT and -_NOISE_LIMIT <= dy <= _NOISE_LIMIT):
            dx, dy = (min(max(one, -_NOISE_LIMIT), _NOISE_LIMIT) for one in draw)
        (x, y), noise = self._cell, self._noise
        return np.array((x + dx * noise, y + dy * noise))

    def _change_maze(self) -> None:
        (_, self.maze), *self._changes = self._changes
        self._moves, self._lava = self.maze.moves, self.maze.lava
        # After the last step of an episode the mouse stays, for reset() is about to move it.
        if self._cell not in self._moves and not self._needs_reset:
            self._cell = self.maze.start
            self._trace.clear()


def _as_maze(maze: MazeLike) -> Maze:
    return maze if isinstance(maze, Maze) else load_maze(maze)


def _checked_action(action: int) -> int:
    try:
        index = operator.index(action)  # NumPy's integers too, and no fractions
    except TypeError:
        index = -1
    if not 0 <= index < N_ACTIONS:
        names = ", ".join(f"{number} {name}" for number, name in enumerate(ACTION_NAMES))
        raise DataError(f"action {action!r} is not one of the integers {names}")
    return index


def _checked_noise(noise: float) -> float:
    is_number = isinstance(noise, int | float | np.integer | np.floating)
    if not is_number or not 0 <= noise <= MOST_NOISE:
        raise ConfigError(f"noise is {noise!r}; it must be a number from 0 to {MOST_NOISE:g}")
    return float(noise)


def _checked_slip(slip: float) -> float:
    if not isinstance(slip, int | float | np.integer | np.floating) or not 0 <= slip <= 1:
        raise ConfigError(f"slip is {slip!r}; it must be a number from 0 to 1")
    return float(slip)


def _checked_changes(
    changes: Iterable[tuple[int, MazeLike]], first: Maze
) -> Sequence[tuple[int, Maze]]:
    """The schedule with its mazes loaded, or a ConfigError naming the entry that is wrong."""
    schedule: list[tuple[int, Maze]] = []
    latest = 0
    for number, change in enumerate(changes):
        try:
            step, maze = change
            step = operator.index(step)
        except (TypeError, ValueError):
            wanted = "it must be a pair (step, maze) with a whole number of steps"
            raise ConfigError(f"changes[{number}] is {change!r}; {wanted}") from None
        if step <= latest:
            raise ConfigError(f"changes[{number}] is at step {step}; it must be after {latest}")
        later = _as_maze(maze)
        if (later.width, later.height) != (first.width, first.height):
            sizes = f"{later.width} x {later.height}, not {first.width} x {first.height}"
            raise ConfigError(f"changes[{number}] has a maze of {sizes} as the first maze has")
        schedule.append((step, later))
        latest = step
    return schedule
