"""The environment of a run, as plain values from which it can be made again."""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym

from tgm.envs import Maze, MazeEnv
from tgm.errors import ConfigError, RunError

MAZE_ID = "tgm/Maze-v0"
MOST_OPTION = 1e15  # steps, or noise
MAZE_OPTIONS: dict[str, tuple[type, ...]] = {"noise": (int, float), "max_episode_steps": (int,)}


@dataclass(frozen=True)
class World:
    """An environment by its id; a maze is kept whole, so that a run needs no other file.

    Attributes:
        id: its name in Gymnasium's registry, or "" if it has none.
        maze: the maze, if it is one.
        options: what else it was made with, as JSON can hold it.
        is_whole: whether it can be made again from this.
    """

    id: str
    maze: Maze | None = None
    options: dict[str, Any] = field(default_factory=dict)
    is_whole: bool = True

    @classmethod
    def of_maze(cls, maze: Maze, **options: Any) -> World:
        """The paper's environment with this maze."""
        return cls(MAZE_ID, maze, options)

    @classmethod
    def of_environment(cls, env_id: str) -> World:
        """A registered environment; `module:id` imports the module first, as in Gymnasium.

        A run keeps the id alone: no module is imported on a file's word.
        """
        module, _, name = env_id.rpartition(":")
        try:
            if module:
                importlib.import_module(module)
            gym.spec(name)
        except (gym.error.Error, ImportError) as error:
            raise ConfigError(f"environment '{env_id}': {error}") from None
        return cls(name)

    @classmethod
    def of(cls, env: gym.Env[Any, Any]) -> World:
        """What is known of an environment that somebody made."""
        spec = env.spec
        if spec is None:
            return cls("", is_whole=False)
        options = {name: value for name, value in spec.kwargs.items() if name != "render_mode"}
        if spec.max_episode_steps != gym.spec(spec.id).max_episode_steps:
            options["max_episode_steps"] = spec.max_episode_steps
        is_plain = not spec.additional_wrappers
        if isinstance(env.unwrapped, MazeEnv):
            options.pop("maze", None)
            is_plain = is_plain and not options.pop("changes", ())
            return cls(MAZE_ID, env.unwrapped.maze, _plain(options), is_plain)
        return cls(spec.id, None, _plain(options), is_plain and not options)

    def make(self) -> gym.Env[Any, Any]:
        """The environment."""
        if not self.is_whole:
            raise RunError(
                f"the run's environment '{self.id}' was made with options, wrappers or changes "
                "that a run does not keep; make it yourself and give it as env"
            )
        if self.maze is not None:
            return gym.make(self.id, maze=self.maze, **self.options)
        return gym.make(self.id)

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        facts: dict[str, Any] = {"id": self.id}
        if self.maze is not None:
            facts["maze"] = {"name": self.maze.name, "grid": list(self.maze.grid)}
        return facts | {"options": self.options, "is_whole": self.is_whole}

    @classmethod
    def from_dict(cls, values: object) -> World:
        """What `to_dict` gave, checked; it may come from somebody else's run."""
        if not isinstance(values, dict) or not isinstance(values.get("id"), str):
            raise RunError(f"the world of the run is {values!r}; wanted an id")
        env_id, options = values["id"], values.get("options", {})
        is_whole = values.get("is_whole", True)
        if ":" in env_id:
            # Gymnasium would import the module before the colon: not on a file's word.
            raise RunError(f"the run's environment '{env_id}' names a module to import")
        if not isinstance(options, dict) or not isinstance(is_whole, bool):
            raise RunError(f"the options of the run's environment are {options!r}")
        if "maze" in values:
            return cls(MAZE_ID, _maze_of(values["maze"]), _maze_options(options), is_whole)
        if options or not is_whole:
            return cls(env_id, None, options, is_whole=False)
        return cls.of_environment(env_id)


def _maze_of(maze: object) -> Maze:
    name, grid = (maze.get("name"), maze.get("grid")) if isinstance(maze, dict) else ("", "")
    if not isinstance(name, str) or not isinstance(grid, list):
        raise RunError(f"the run's maze is {maze!r}; wanted its name and rows")
    if not all(isinstance(row, str) for row in grid):
        raise RunError(f"the run's maze has a row that is not text: {grid!r}")
    return Maze(name, tuple(grid))


def _maze_options(options: dict[str, Any]) -> dict[str, Any]:
    for name, value in options.items():
        least = 1 if name == "max_episode_steps" else 0
        if type(value) not in MAZE_OPTIONS.get(name, ()) or not least <= value <= MOST_OPTION:
            raise RunError(f"the run's maze was made with {name} = {value!r:.100}")
    return options


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    """Those options that JSON can hold; the others as text."""

    def keep(value: Any) -> Any:
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            return str(value)
        return value

    return {name: keep(value) for name, value in options.items()}
