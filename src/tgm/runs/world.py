"""The environment of a run, as plain values from which it can be made again."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import gymnasium as gym

from tgm.envs import Maze
from tgm.errors import ConfigError, RunError

MAZE_ID = "tgm/Maze-v0"


@dataclass(frozen=True)
class World:
    """An environment by its id; a maze is kept whole, so that a run needs no other file."""

    id: str
    maze: Maze | None = None

    @classmethod
    def of_maze(cls, maze: Maze) -> World:
        """The paper's environment with this maze."""
        return cls(MAZE_ID, maze)

    @classmethod
    def of_environment(cls, env_id: str) -> World:
        """A registered environment; `module:id` imports the module first, as in Gymnasium."""
        module, _, name = env_id.rpartition(":")
        try:
            if module:
                importlib.import_module(module)
            gym.spec(name)
        except (gym.error.Error, ImportError) as error:
            raise ConfigError(f"environment '{env_id}': {error}") from None
        return cls(env_id)

    def make(self) -> gym.Env[Any, Any]:
        """The environment."""
        if self.maze is not None:
            return gym.make(self.id, maze=self.maze)
        return gym.make(self.id)

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        if self.maze is None:
            return {"id": self.id}
        return {"id": self.id, "maze": {"name": self.maze.name, "grid": list(self.maze.grid)}}

    @classmethod
    def from_dict(cls, values: object) -> World:
        """What `to_dict` gave, checked; it may come from somebody else's run."""
        if not isinstance(values, dict) or not isinstance(values.get("id"), str):
            raise RunError(f"the world of the run is {values!r}; wanted an id")
        if ":" in values["id"]:
            # Gymnasium would import the module before the colon: not on a file's word.
            raise RunError(f"the run's environment '{values['id']}' names a module to import")
        if "maze" not in values:
            return cls.of_environment(values["id"])
        maze = values["maze"]
        name, grid = (maze.get("name"), maze.get("grid")) if isinstance(maze, dict) else ("", "")
        if not isinstance(name, str) or not isinstance(grid, list):
            raise RunError(f"the run's maze is {maze!r}; wanted its name and rows")
        if not all(isinstance(row, str) for row in grid):
            raise RunError(f"the run's maze has a row that is not text: {grid!r}")
        return cls.of_maze(Maze(name, tuple(grid)))
