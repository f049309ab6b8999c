"""The one place that makes environments: from a command line, from a run, or from a maze.

train, resume, evaluate, compare and the experiments describe an environment by an `EnvSpec` and
call `make_env`. `EnvRequest` turns the flags of a command into an `EnvSpec`.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import WrapperSpec, load_env_creator

from tgm.envs.catalogue import load_maze
from tgm.envs.env_spec import LIMIT, MAZE_ID, MOST_OPTION, EnvSpec, value_of_word
from tgm.envs.maze_env import MOST_NOISE
from tgm.envs.time_limit import MOST_EPISODE_STEPS, PAPER_LIMIT, RegisteredLimit
from tgm.errors import ConfigError, RunError

DEFAULT_MAZE = "27"
LONGEST_TEXT = 100  # characters of a text argument that is taken from a run
# Arguments of gym.make that are not arguments of an environment, or would open a window.
_RESERVED = ("id", "render_mode", "disable_env_checker", "vectorization_mode")
# Environments of Gymnasium whose constructors read numbers, truth values and names only: no file is
# opened and no code is loaded for an argument. MuJoCo's take a path, so they are not among them.
_PLAIN_PACKAGES = tuple(
    f"gymnasium.envs.{package}" for package in ("classic_control", "toy_text", "box2d")
)


def register() -> None:
    """Register `tgm/Maze-v0` with Gymnasium, with the time limit of its maze; once is enough."""
    if MAZE_ID not in gym.registry:
        limit = WrapperSpec("limit_by_maze", "tgm.envs.time_limit:limit_by_maze", {})
        gym.register(
            MAZE_ID,
            entry_point="tgm.envs.maze_env:MazeEnv",
            max_episode_steps=RegisteredLimit(PAPER_LIMIT),
            # The maze itself refuses a step before a reset, and its tests check it: what would do
            # both again at every step takes as long as the step.
            order_enforce=False,
            disable_env_checker=True,
            additional_wrappers=(limit,),
        )


@dataclass(frozen=True)
class EnvRequest:
    """An environment as the flags of a command name it; checked when `spec` is called.

    Attributes:
        maze: name of a maze, or path of a maze file.
        env: id of a registered environment; `module:id` imports the module first.
        env_args: arguments of `env`, each NAME=VALUE.
        noise: standard deviation of the observations of a maze, in cells; None: the default.
        max_episode_steps: time limit of a maze, in steps; None: the default of the maze.
    """

    maze: str | None = None
    env: str | None = None
    env_args: tuple[str, ...] = ()
    noise: float | None = None
    max_episode_steps: int | None = None

    def spec(self) -> EnvSpec:
        """The environment that is asked for; maze 27 if nothing is named."""
        if self.env is None:
            return EnvSpec.of_maze(
                load_maze(DEFAULT_MAZE if self.maze is None else self.maze), **self._maze_options()
            )
        self._check_flags()
        return registered_env(self.env, parse_env_args(self.env_args))

    def spec_in(self, recorded: EnvSpec) -> EnvSpec | None:
        """The environment that is asked for when a run continues; None if no flag names one.

        What is not named (the maze, its noise, its time limit) is taken from the run.
        """
        if self.env is None and self.env_args and recorded.maze is None:
            return replace(self, env=_named(recorded)).spec()
        options = self._maze_options()
        if self.env is not None:
            return self.spec()
        if self.maze is None and not options:
            return None
        maze = recorded.maze if self.maze is None else load_maze(self.maze)
        if maze is None or recorded.maze is None:
            given = [*([] if self.maze is None else ["--maze"]), *_flags(options)]
            raise ConfigError(
                f"the run is in '{recorded.name}', not in a maze; leave out {' and '.join(given)}"
            )
        return EnvSpec.of_maze(maze, **(recorded.options | options))

    def _check_flags(self) -> None:
        if self.maze is not None:
            raise ConfigError("--maze and --env exclude each other; give one")
        if given := _flags(self._maze_options()):
            raise ConfigError(f"--env does not take {' and '.join(given)}: only a maze does")

    def _maze_options(self) -> dict[str, Any]:
        """The options of a maze that are given, in range."""
        if self.env is None and self.env_args:
            raise ConfigError("--env-args are the options of --env; give both")
        if self.noise is not None and not 0 <= self.noise <= MOST_NOISE:
            raise ConfigError(f"--noise is {self.noise}; it must be from 0 to {MOST_NOISE:g}")
        limit = self.max_episode_steps
        if limit is not None and not 1 <= limit <= MOST_EPISODE_STEPS:
            most = f"{MOST_EPISODE_STEPS:.0e}"
            raise ConfigError(f"--max-episode-steps is {limit}; it must be from 1 to {most}")
        given = {"noise": self.noise, LIMIT: limit}
        return {name: value for name, value in given.items() if value is not None}


def _named(spec: EnvSpec) -> str:
    """The id of a run's environment. Its module is not imported: only the user may name one."""
    if spec.id not in gym.registry:
        raise ConfigError(f"'{spec.id}' is not registered; name it: {spec.flags}")
    return spec.id


def _flags(options: Mapping[str, Any]) -> list[str]:
    return [f"--{name.replace('_', '-')}" for name in options]


def parse_env_args(words: Sequence[str]) -> dict[str, Any]:
    """Arguments of an environment from the command line, each NAME=VALUE.

    >>> parse_env_args(["map_name=8x8", "is_slippery=false"])
    {'map_name': '8x8', 'is_slippery': False}
    """
    options: dict[str, Any] = {}
    for word in words:
        name, sign, value = word.partition("=")
        if name in options:
            raise ConfigError(f"--env-args: '{word}': {name} is given twice")
        if not sign or not name.isidentifier() or name in _RESERVED:
            why = "cannot be given" if name in _RESERVED else "is no argument"
            raise ConfigError(f"--env-args: '{word}' {why}; wanted NAME=VALUE")
        options[name] = value_of_word(value)
    return options


def registered_env(env_id: str, options: Mapping[str, Any] | None = None) -> EnvSpec:
    """A registered environment; `module:id` imports the module first, as in Gymnasium.

    Only for an id that the user named: an id from a file must not cause an import.
    """
    module, _, name = env_id.rpartition(":")
    if module:
        _import(module, env_id)
    try:
        gym.spec(name)
    except gym.error.Error as error:
        raise ConfigError(f"environment '{env_id}': {_unknown(name, error)}") from None
    given = dict(options or {})
    if name == MAZE_ID and isinstance(given.get("maze"), int):
        given["maze"] = str(given["maze"])  # names of mazes are numbers: maze=27
    return EnvSpec(name, options=given, module=module)


def _unknown(name: str, error: gym.error.Error) -> str:
    """Why an id is not known, with the nearest ones: without its version, "cartpole" is near."""
    of_key = {known.lower(): known for known in gym.registry}
    of_key |= {key.partition("-v")[0]: known for key, known in of_key.items()}
    close = difflib.get_close_matches(name.lower(), of_key, n=6, cutoff=0.7)
    names = list(dict.fromkeys(of_key[key] for key in close))[:3]
    if names:
        listed = " or ".join(f"'{known}'" for known in names)
        return f"no environment of that id is registered; did you mean {listed}?"
    reason = str(error).rstrip(".")
    return f"{reason}; if a module registers it, name both: module:{name or 'id'}"


def _import(module: str, env_id: str) -> None:
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        where = "; set PYTHONPATH to the folder that holds it" if error.name == module else ""
        raise ConfigError(f"environment '{env_id}': {error}{where}") from None
    except Exception as error:  # code of the user
        reason = f"module '{module}' raises {type(error).__name__}: {error}"
        raise ConfigError(f"environment '{env_id}': {reason}") from error


def make_env(spec: EnvSpec) -> gym.Env[Any, Any]:
    """The environment of a spec, or an error that says why it cannot be made."""
    if obstacle := obstacle_of(spec):
        named = f"name it again with {spec.flags}, or in Python " if spec.is_whole else ""
        raise RunError(f"{obstacle}; {named}make it yourself and give it as env")
    if spec.maze is not None:
        return gym.make(spec.id, maze=spec.maze, **spec.options)
    names = argument_names(spec.id)
    takes = "" if names is None else f"; it takes {', '.join(names)}"
    unknown = [name for name in spec.options if names is not None and name not in names]
    if unknown:
        raise ConfigError(
            f"environment '{spec.id}' cannot be made: unexpected keyword '{unknown[0]}'{takes}"
        )
    try:
        return gym.make(spec.id, **spec.options)
    except Exception as error:  # code of the environment, with the user's arguments
        reason = f"{type(error).__name__}: {error}" + (takes if spec.options else "")
        raise ConfigError(f"environment '{spec.id}' cannot be made: {reason}") from error


def obstacle_of(spec: EnvSpec) -> str:
    """Why `make_env` cannot make the environment; "" if it can."""
    if not spec.is_whole and not spec.id:
        return (
            "the run names no environment: it comes from a log (tgm fit), from an agent that only "
            "observed, or from an environment without an id"
        )
    if not spec.is_whole:
        return (
            f"the environment '{spec.id}' was made with options, wrappers or changes that a "
            "run does not keep"
        )
    if spec.id not in gym.registry:
        return (
            f"the environment '{spec.id}' is not registered, and tgm imports no module that only "
            "a file names"
        )
    if spec.is_recorded and not _may_use_options(spec):
        return (
            f"the environment '{spec.id}' was made with options, and tgm passes options from a "
            "file only to environments of Gymnasium, and only numbers, true, false and short text"
        )
    return ""


def must_be_named(spec: EnvSpec) -> bool:
    """Whether a new process needs the flags of the environment to continue its run."""
    return bool(spec.module) or not _may_use_options(spec)


def _may_use_options(spec: EnvSpec) -> bool:
    """Whether the options are safe to pass on, even if they come from a file of others."""
    if not spec.has_own_options:
        return True
    names = argument_names(spec.id) if _is_plain(spec.id) else None
    return names is not None and all(
        name in names and _is_plain_value(value) for name, value in spec.options.items()
    )


def _is_plain(env_id: str) -> bool:
    registered = gym.registry.get(env_id)
    entry = "" if registered is None else str(registered.entry_point).partition(":")[0]
    return any(f"{entry}.".startswith(f"{package}.") for package in _PLAIN_PACKAGES)


def _is_plain_value(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= LONGEST_TEXT
    if isinstance(value, int | float):
        return abs(value) <= MOST_OPTION  # NaN is not
    return value is None


def argument_names(env_id: str) -> tuple[str, ...] | None:
    """The arguments that a registered environment takes; None if not known."""
    entry_point = gym.spec(env_id).entry_point
    try:
        creator = load_env_creator(entry_point) if isinstance(entry_point, str) else entry_point
        if creator is None:
            return None
        parameters = inspect.signature(creator).parameters.values()
    except Exception:  # a package of the environment is missing: gym.make says which
        return None
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return (*(one.name for one in parameters if one.name not in _RESERVED), LIMIT)
