"""The environment of a run, as plain values from which it can be made again."""

from __future__ import annotations

import hashlib
import importlib
import json
import re
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym

from tgm.envs import Maze, MazeEnv, default_limit
from tgm.envs.time_limit import MOST_EPISODE_STEPS, PAPER_LIMIT
from tgm.errors import ConfigError, RunError

MAZE_ID = "tgm/Maze-v0"
MOST_OPTION = 1e15  # steps, or noise
MAZE_OPTIONS: dict[str, tuple[type, ...]] = {"noise": (int, float), "max_episode_steps": (int,)}
NO_LIMIT = -1  # as max_episode_steps of Gymnasium
MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
LIMIT = "max_episode_steps"  # Gymnasium's own option, which every environment has
NOT_OPTIONS = ("id", "render_mode", "disable_env_checker", "vectorization_mode")


@dataclass(frozen=True)
class World:
    """An environment by its id; a maze is kept whole, so that a run needs no other file.

    Attributes:
        id: its name in Gymnasium's registry, or "" if it has none.
        maze: the maze, if it is one.
        options: what else it was made with, as JSON can hold it.
        is_whole: whether it can be made again from this.
        module: the module that registers it, as the user named it; "" if none was named.
        settings: all options in effect, the time limit among them; empty if they are not known.
        wrappers: names of the wrappers around what Gymnasium makes, the innermost first.
        is_recorded: whether it was read from a run: then it is not to be trusted.
    """

    id: str
    maze: Maze | None = None
    options: dict[str, Any] = field(default_factory=dict)
    is_whole: bool = True
    module: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    wrappers: tuple[str, ...] = ()
    is_recorded: bool = field(default=False, compare=False)

    @classmethod
    def of_maze(cls, maze: Maze, **options: Any) -> World:
        """The paper's environment with this maze; its time limit is kept as a number."""
        return cls(MAZE_ID, maze, {"max_episode_steps": default_limit(maze)} | options)

    @property
    def episode_limit(self) -> int | None:
        """Steps after which an episode in the maze is cut off; None: never, or not a maze."""
        limit: int = NO_LIMIT if self.maze is None else self.options["max_episode_steps"]
        return None if limit == NO_LIMIT else limit

    @classmethod
    def of_environment(cls, env_id: str, options: dict[str, Any] | None = None) -> World:
        """A registered environment; `module:id` imports the module first, as in Gymnasium.

        Only for an id that the user named: no module is imported on a file's word.
        """
        module, _, name = env_id.rpartition(":")
        try:
            if module:
                importlib.import_module(module)
            gym.spec(name)
        except (gym.error.Error, ImportError) as error:
            raise ConfigError(f"environment '{env_id}': {error}") from None
        return cls(name, options=dict(options or {}), module=module)

    @classmethod
    def of(cls, env: gym.Env[Any, Any], module: str = "") -> World:
        """What is known of an environment that somebody made."""
        spec = env.spec
        if spec is None:
            return cls("", is_whole=False, module=module)
        registered = gym.registry.get(spec.id)
        usual = {} if registered is None else registered.kwargs
        settings = {name: value for name, value in spec.kwargs.items() if name != "render_mode"}
        options = {
            name: value
            for name, value in settings.items()
            if name not in usual or _text(usual[name]) != _text(value)
        }
        settings[LIMIT] = spec.max_episode_steps
        if registered is None or spec.max_episode_steps != registered.max_episode_steps:
            options[LIMIT] = spec.max_episode_steps
        wrappers = tuple(wrapper.name for wrapper in spec.additional_wrappers)
        env_id, maze = spec.id, None
        if isinstance(env.unwrapped, MazeEnv):
            env_id, maze = MAZE_ID, env.unwrapped.maze
            settings = {"noise": env.unwrapped.noise} | settings
            options[LIMIT] = NO_LIMIT if spec.max_episode_steps is None else spec.max_episode_steps
            for known in (options, settings):
                known.pop("maze", None)
        is_whole = not wrappers and not options.get("changes") and _is_json(options)
        options.pop("changes", None)
        known = {name: value for name, value in settings.items() if _is_json(value)}
        return cls(env_id, maze, _plain(options), is_whole, module, known, wrappers)

    @property
    def name(self) -> str:
        """For a list of runs."""
        if self.maze is not None:
            return f"maze {self.maze.name}"
        return f"{self.module}:{self.id}" if self.module else self.id or "-"

    @property
    def digest(self) -> str:
        """SHA-256 of id, maze and settings as JSON with sorted names; "" if they are not known."""
        if not self.settings:
            return ""
        grid = None if self.maze is None else list(self.maze.grid)
        return hashlib.sha256(
            _text({"id": self.id, "maze": grid, "settings": self.settings}).encode()
        ).hexdigest()

    @property
    def flags(self) -> str:
        """How the user names it on the command line."""
        words = [f"--env {self.module or 'MODULE'}:{self.id}"]
        if self.id in gym.registry and not self.module:
            words = [f"--env {self.id}"]
        if self.options:
            words += ["--env-args", *(f"{name}={_text(v)}" for name, v in self.options.items())]
        return " ".join(words)

    @property
    def must_be_named(self) -> bool:
        """Whether the user has to name it again to go on with its run on the command line."""
        return bool(self.module) or self._has_own_options

    @property
    def _has_own_options(self) -> bool:
        return self.maze is None and bool(self.options.keys() - {LIMIT})

    @property
    def obstacle(self) -> str:
        """Why it cannot be made from this alone, in words; "" if it can."""
        if not self.is_whole:
            return (
                f"the environment '{self.id}' was made with options, wrappers or changes that a "
                "run does not keep"
            )
        if self.id not in gym.registry:
            return (
                f"the environment '{self.id}' is not registered, and no module is imported on a "
                "file's word"
            )
        if self.is_recorded and self._has_own_options:
            return (
                f"the environment '{self.id}' was made with options, and none is used on a "
                "file's word"
            )
        return ""

    def make(self) -> gym.Env[Any, Any]:
        """The environment."""
        if self.obstacle:
            named = f"name it again with {self.flags}, or in Python " if self.is_whole else ""
            raise RunError(f"{self.obstacle}; {named}make it yourself and give it as env")
        if self.maze is not None:
            return gym.make(self.id, maze=self.maze, **self.options)
        try:
            return gym.make(self.id, **self.options)
        except Exception as error:  # its own code, with the user's options
            raise ConfigError(f"environment '{self.id}' cannot be made: {error}") from error

    def differences(self, other: World) -> list[str]:
        """What makes `other` another world than this one, in words; [] if nothing is known to."""
        if not self.id or not other.id:
            return []
        found = []
        if self.id != other.id:
            found.append(f"the environment is '{other.id}', not '{self.id}'")
        if self.module and other.module and self.module != other.module:
            found.append(f"the module is '{other.module}', not '{self.module}'")
        if self.maze is not None and other.maze is not None and self.maze.grid != other.maze.grid:
            found.append(f"the rows of maze '{other.maze.name}' are not those of the run's maze")
        is_known = self.settings and other.settings
        then, now = (self.settings, other.settings) if is_known else (self.options, other.options)
        for name in sorted(then.keys() | now.keys()):
            if _text(then.get(name)) != _text(now.get(name)):
                found.append(f"{name} is {_text(now.get(name))}, not {_text(then.get(name))}")
        return found

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        facts: dict[str, Any] = {"id": self.id}
        if self.maze is not None:
            facts["maze"] = {"name": self.maze.name, "grid": list(self.maze.grid)}
        facts |= {"options": self.options, "is_whole": self.is_whole}
        if self.module:
            facts["module"] = self.module
        if self.wrappers:
            facts["wrappers"] = list(self.wrappers)
        if self.settings:
            facts |= {"settings": self.settings, "digest": self.digest}
        return facts

    @classmethod
    def from_dict(cls, values: object) -> World:
        """What `to_dict` gave, checked; it may come from somebody else's run."""
        if not isinstance(values, dict) or not isinstance(values.get("id"), str):
            raise RunError(f"the world of the run is {values!r}; wanted an id")
        env_id, options = values["id"], values.get("options", {})
        is_whole, module = values.get("is_whole", True), values.get("module", "")
        settings, wrappers = values.get("settings", {}), values.get("wrappers", [])
        if ":" in env_id:
            # Gymnasium would import the module before the colon: not on a file's word.
            raise RunError(f"the run's environment '{env_id}' names a module to import")
        if not isinstance(options, dict) or not isinstance(is_whole, bool):
            raise RunError(f"the options of the run's environment are {options!r}")
        if not isinstance(module, str) or (module and not MODULE.fullmatch(module)):
            raise RunError(f"the module of the run's environment is {module!r:.100}")
        if not isinstance(settings, dict) or not isinstance(wrappers, list):
            raise RunError(f"the settings of the run's environment are {settings!r:.100}")
        maze = None
        if "maze" in values:
            env_id, maze, options = MAZE_ID, _maze_of(values["maze"]), _maze_options(options)
        names = tuple(str(name) for name in wrappers)
        world = cls(env_id, maze, options, is_whole, module, settings, names, is_recorded=True)
        if values.get("digest", world.digest) != world.digest:
            raise RunError("the digest of the run's environment is not that of its settings")
        return world


def options_of(words: tuple[str, ...]) -> dict[str, Any]:
    """Options of an environment from the command line: NAME=VALUE, the value as JSON or as text."""
    options: dict[str, Any] = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign or not name.isidentifier() or name in NOT_OPTIONS or name in options:
            raise ConfigError(f"--env-args: '{word}' is not a new option; wanted NAME=VALUE")
        try:
            options[name] = json.loads(value, parse_constant=str)
        except ValueError:
            options[name] = {"True": True, "False": False, "None": None}.get(value, value)
    return options


def _maze_of(maze: object) -> Maze:
    name, grid = (maze.get("name"), maze.get("grid")) if isinstance(maze, dict) else ("", "")
    if not isinstance(name, str) or not isinstance(grid, list):
        raise RunError(f"the run's maze is {maze!r}; wanted its name and rows")
    if not all(isinstance(row, str) for row in grid):
        raise RunError(f"the run's maze has a row that is not text: {grid!r}")
    return Maze(name, tuple(grid))


def _maze_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a maze, checked; a run of an earlier version without a limit had 50 steps."""
    options = {"max_episode_steps": PAPER_LIMIT} | options
    for name, value in options.items():
        if type(value) not in MAZE_OPTIONS.get(name, ()) or not -1 <= value <= MOST_OPTION:
            raise RunError(f"the run's maze was made with {name} = {value!r:.100}")
    limit = options[LIMIT]
    if limit != NO_LIMIT and not 1 <= limit <= MOST_EPISODE_STEPS:
        raise RunError(f"the run's maze was made with max_episode_steps = {limit}")
    if options.get("noise", 0.0) < 0:
        raise RunError(f"the run's maze was made with noise = {options['noise']}")
    return options


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    """Those options that JSON can hold; the others as text."""
    return {name: value if _is_json(value) else str(value) for name, value in options.items()}


def _text(value: Any) -> str:
    """One text for one value, whatever the order of its names."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
