"""The environment of a run that is gone on with: from its record, or as the user names it."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from tgm.errors import ConfigError
from tgm.runs import Run, World
from tgm.runs.admission import check_world
from tgm.runs.env_spec import options_of


def environment_of(
    run: Run, command: str, env: str | None, env_args: tuple[str, ...]
) -> gym.Env[Any, Any]:
    """The environment of a run; what the user names must be that of the run.

    Args:
        run: the run.
        command: what the user called, to tell how to name what a run cannot bring along.
        env: id of the environment, `module:id` to import its module first; None: from the run.
        env_args: its options, NAME=VALUE.
    """
    if env is not None:
        named = World.of_environment(env, options_of(env_args))
        made = named.make()
        check_world(run, World.of(made, named.module))
        return made
    if env_args:
        raise ConfigError("--env-args are the options of --env; give both")
    world = run.world
    if world.obstacle and world.is_whole:
        raise ConfigError(
            f"{run.folder}: {world.obstacle}; run: {command} {run.folder} {world.flags}"
        )
    return world.make()
