"""The flags of a maze that `train` and `compare` share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tgm.cli.output import say
from tgm.envs import Maze
from tgm.envs.maze_env import MOST_NOISE
from tgm.envs.time_limit import MOST_EPISODE_STEPS
from tgm.errors import ConfigError


@dataclass(frozen=True)
class MazeFlags:
    """How a maze is seen, and for how long."""

    noise: float | None = None
    """Standard deviation of the observations of a maze, in cells; 0.15 by default."""

    max_episode_steps: int | None = None
    """Steps after which an episode in a maze is cut off. By default 50 in the mazes of the paper,
    in others four times the shortest way, at least 50."""

    def options(self) -> dict[str, Any]:
        """Those that are given, checked, under the names that the environment has for them."""
        if self.noise is not None and not 0 <= self.noise <= MOST_NOISE:
            raise ConfigError(f"--noise is {self.noise}; it must be from 0 to {MOST_NOISE:g}")
        limit = self.max_episode_steps
        if limit is not None and not 1 <= limit <= MOST_EPISODE_STEPS:
            most = f"{MOST_EPISODE_STEPS:.0e}"
            raise ConfigError(f"--max-episode-steps is {limit}; it must be from 1 to {most}")
        given = {"noise": self.noise, "max_episode_steps": self.max_episode_steps}
        return {name: value for name, value in given.items() if value is not None}


def warn_of_limit(maze: Maze, limit: int | None) -> None:
    """Say on standard error if the goal is further away than an episode is long."""
    if maze.shortest_path and not maze.can_be_solved(limit):
        say(f"tgm: warning: maze {maze.name}: {maze.why_unsolvable(limit)}")
