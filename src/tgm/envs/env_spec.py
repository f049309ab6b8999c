"""An environment as plain values: what a run keeps, and what it is compared with later."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from shlex import quote
from typing import Any

import gymnasium as gym

from tgm.envs.maze import Maze
from tgm.envs.maze_env import MazeEnv
from tgm.envs.time_limit import MOST_EPISODE_STEPS, PAPER_LIMIT, default_limit
from tgm.errors import RunError

MAZE_ID = "tgm/Maze-v0"
LIMIT = "max_episode_steps"  # an argument of gym.make, so every environment has it
NO_LIMIT = -1  # how gym.make spells "no time limit"
LONGEST_LABEL = 80  # characters
MOST_OPTION = 1e15  # largest number that is accepted as an option in a file
_MAZE_OPTIONS: dict[str, tuple[type, ...]] = {
    "noise": (int, float),
    "slip": (int, float),
    LIMIT: (int,),
}
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)


@dataclass(frozen=True)
class EnvSpec:
    """An environment by its id and arguments; `tgm.envs.make_env` makes it.

    A maze is kept with its rows, so a run needs no maze file.

    Attributes:
        id: name in Gymnasium's registry; "" if the environment has none.
        maze: the maze, if the environment is one.
        options: the arguments that differ from the registered ones, as JSON values.
        is_whole: whether the environment can be made from these values alone. False with wrappers,
            with walls that change, and with options that JSON cannot hold.
        module: the module that registers the environment, as the user named it; "" if none.
        settings: all arguments in effect, the time limit included; empty if not known.
        wrappers: names of the wrappers around what `gym.make` returns, the innermost first.
        label: what lists call an environment that is not registered: the name of its class.
        is_recorded: whether it was read from a run; such values are checked before use.
    """

    id: str
    maze: Maze | None = None
    options: dict[str, Any] = field(default_factory=dict)
    is_whole: bool = True
    module: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    wrappers: tuple[str, ...] = ()
    label: str = field(default="", compare=False)
    is_recorded: bool = field(default=False, compare=False)

    @classmethod
    def of_maze(cls, maze: Maze, **options: Any) -> EnvSpec:
        """The paper's environment with this maze; `options`: `noise`, `slip`, the time limit."""
        return cls(MAZE_ID, maze, {LIMIT: default_limit(maze)} | options)

    @classmethod
    def of(cls, env: gym.Env[Any, Any], module: str = "") -> EnvSpec:
        """The values of an environment that exists.

        Args:
            env: the environment, with or without wrappers.
            module: the module that registers it, if the user named one.
        """
        spec = env.spec
        if spec is None:
            label = type(env.unwrapped).__name__[:LONGEST_LABEL]
            return cls("", is_whole=False, module=module, label=label)
        registered = gym.registry.get(spec.id)
        usual = {} if registered is None else registered.kwargs
        settings = {name: value for name, value in spec.kwargs.items() if name != "render_mode"}
        options = {
            name: value
            for name, value in settings.items()
            if name not in usual or json_text(usual[name]) != json_text(value)
        }
        settings[LIMIT] = spec.max_episode_steps
        if registered is None or spec.max_episode_steps != registered.max_episode_steps:
            options[LIMIT] = spec.max_episode_steps
        wrappers = tuple(wrapper.name for wrapper in spec.additional_wrappers)
        env_id, maze = spec.id, None
        if isinstance(env.unwrapped, MazeEnv):
            env_id, maze = MAZE_ID, env.unwrapped.maze
            settings = {"noise": env.unwrapped.noise} | settings
            if env.unwrapped.slip:
                settings.setdefault("slip", env.unwrapped.slip)
            options[LIMIT] = NO_LIMIT if spec.max_episode_steps is None else spec.max_episode_steps
            for known in (options, settings):
                known.pop("maze", None)
            if env.unwrapped.schedule:  # as plain values, so that another schedule is noticed
                settings["changes"] = env.unwrapped.schedule
        is_whole = not wrappers and not options.get("changes") and _is_json(options)
        options.pop("changes", None)
        known = {name: value for name, value in settings.items() if _is_json(value)}
        return cls(env_id, maze, _plain(options), is_whole, module, known, wrappers)

    @property
    def episode_limit(self) -> int | None:
        """Steps after which an episode in the maze is cut off; None: no limit, or not a maze."""
        limit: int = NO_LIMIT if self.maze is None else self.options[LIMIT]
        return None if limit == NO_LIMIT else limit

    @property
    def slip(self) -> float:
        """Probability that a random move is made instead of the action; 0 outside mazes."""
        return 0.0 if self.maze is None else float(self.options.get("slip", 0.0))

    @property
    def name(self) -> str:
        """Short name for lists of runs."""
        if self.maze is not None:
            return f"maze {self.maze.name}"
        name = self.id or self.label
        return f"{self.module}:{name}" if self.module else name or "-"

    @property
    def digest(self) -> str:
        """SHA-256 of id, maze rows and settings as JSON with sorted names; "" without settings."""
        if not self.settings:
            return ""
        grid = None if self.maze is None else list(self.maze.grid)
        return hashlib.sha256(
            json_text({"id": self.id, "maze": grid, "settings": self.settings}).encode()
        ).hexdigest()

    @property
    def flags(self) -> str:
        """The flags of the command line that name this environment."""
        words = [f"--env {self.module or 'MODULE'}:{self.id}"]
        if self.id in gym.registry and not self.module:
            words = [f"--env {self.id}"]
        if self.options:
            words.append("--env-args")
            words += (quote(f"{name}={_as_word(value)}") for name, value in self.options.items())
        return " ".join(words)

    @property
    def has_own_options(self) -> bool:
        """Whether it is not a maze and was made with arguments besides the time limit."""
        return self.maze is None and bool(self.options.keys() - {LIMIT})

    def differences(self, other: EnvSpec) -> list[str]:
        """One phrase for each difference of `other` from this; [] if none is known."""
        if not self.id or not other.id:
            return []
        found = []
        if self.id != other.id:
            found.append(f"the environment is '{other.id}', not '{self.id}'")
        if self.module and other.module and self.module != other.module:
            found.append(f"the module is '{other.module}', not '{self.module}'")
        if self.maze is not None and other.maze is not None and self.maze.grid != other.maze.grid:
            found.append(_other_rows(self.maze, other.maze))
        is_known = self.settings and other.settings
        then, now = (self.settings, other.settings) if is_known else (self.options, other.options)
        for name in sorted(then.keys() | now.keys()):
            seen, wanted = json_text(now.get(name)), json_text(then.get(name))
            if seen != wanted:
                found.append(f"{name} is {seen}, not {wanted}")
        return found

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        facts: dict[str, Any] = {"id": self.id}
        if self.maze is not None:
            facts["maze"] = {"name": self.maze.name, "grid": list(self.maze.grid)}
        facts |= {"options": self.options, "is_whole": self.is_whole}
        if self.label:
            facts["label"] = self.label
        if self.module:
            facts["module"] = self.module
        if self.wrappers:
            facts["wrappers"] = list(self.wrappers)
        if self.settings:
            facts |= {"settings": self.settings, "digest": self.digest}
        return facts

    @classmethod
    def from_dict(cls, values: object) -> EnvSpec:
        """The inverse of `to_dict`; every value is checked, since the run may come from others."""
        if not isinstance(values, dict) or not isinstance(values.get("id"), str):
            raise RunError(f"the environment of the run is {values!r:.100}; wanted its id")
        env_id, options = values["id"], values.get("options", {})
        is_whole, module = values.get("is_whole", True), values.get("module", "")
        settings, wrappers = values.get("settings", {}), values.get("wrappers", [])
        if ":" in env_id:
            # Gymnasium would import the module before the colon. No file may cause an import.
            raise RunError(f"the run's environment '{env_id}' names a module to import")
        if not isinstance(options, dict) or not isinstance(is_whole, bool):
            raise RunError(f"the options of the run's environment are {options!r:.100}")
        if not isinstance(module, str) or (module and not _MODULE.fullmatch(module)):
            raise RunError(f"the module of the run's environment is {module!r:.100}")
        if not isinstance(settings, dict) or not isinstance(wrappers, list):
            raise RunError(f"the settings of the run's environment are {settings!r:.100}")
        maze = None
        if "maze" in values:
            env_id, maze, options = MAZE_ID, _maze_of(values["maze"]), _maze_options(options)
        names = tuple(str(name) for name in wrappers)
        label = values.get("label", "")
        if not isinstance(label, str) or len(label) > LONGEST_LABEL:
            raise RunError(f"the label of the run's environment is {label!r:.100}")
        spec = cls(
            env_id, maze, options, is_whole, module, settings, names, label, is_recorded=True
        )
        if values.get("digest", spec.digest) != spec.digest:
            raise RunError("the digest of the run's environment is not that of its settings")
        return spec


def json_text(value: Any) -> str:
    """JSON with sorted names, so that equal values give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)


def value_of_word(word: str) -> Any:
    """The value of an argument on the command line: JSON (8, 0.5, true), or else the text itself.

    Python's True, False and None are read too.

    >>> value_of_word("8"), value_of_word("True"), value_of_word("8x8")
    (8, True, '8x8')
    """
    try:
        return json.loads(word, parse_constant=str)
    except (ValueError, RecursionError):
        return {"True": True, "False": False, "None": None}.get(word, word)


def _as_word(value: Any) -> str:
    """The inverse of `value_of_word`."""
    is_plain = isinstance(value, str) and value_of_word(value) == value
    return value if is_plain else json_text(value)


def _other_rows(then: Maze, now: Maze) -> str:
    """How the rows of a maze differ from those in a run; the maze file may have changed since."""
    other = f"the rows of maze '{now.name}' are not those of the run's maze"
    if len(then.grid) != len(now.grid):
        return f"{other} ({len(now.grid)} rows, not {len(then.grid)})"
    row = next(row for row in range(len(now.grid)) if now.grid[row] != then.grid[row])
    return f"{other} (row {row + 1} is '{now.grid[row]:.80}', not '{then.grid[row]:.80}')"


def _maze_of(maze: object) -> Maze:
    name, grid = (maze.get("name"), maze.get("grid")) if isinstance(maze, dict) else ("", "")
    if not isinstance(name, str) or not isinstance(grid, list):
        raise RunError(f"the run's maze is {maze!r:.100}; wanted its name and rows")
    if not all(isinstance(row, str) for row in grid):
        raise RunError(f"the run's maze has a row that is not text: {grid!r:.100}")
    return Maze(name, tuple(grid))


def _maze_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a maze, checked. Without a time limit (an earlier version): 50 steps."""
    options = {LIMIT: PAPER_LIMIT} | options
    for name, value in options.items():
        if type(value) not in _MAZE_OPTIONS.get(name, ()) or not -1 <= value <= MOST_OPTION:
            raise RunError(f"the run's maze was made with {name} = {value!r:.100}")
    limit = options[LIMIT]
    if limit != NO_LIMIT and not 1 <= limit <= MOST_EPISODE_STEPS:
        raise RunError(f"the run's maze was made with max_episode_steps = {limit}")
    if options.get("noise", 0.0) < 0:
        raise RunError(f"the run's maze was made with noise = {options['noise']}")
    if not 0 <= options.get("slip", 0.0) <= 1:
        raise RunError(f"the run's maze was made with slip = {options['slip']}")
    return options


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    """The options; a value that JSON cannot hold becomes its text."""
    return {name: value if _is_json(value) else str(value) for name, value in options.items()}
