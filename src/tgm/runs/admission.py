"""Checks before a run begins or continues: the same agent, the same environment, no loss."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import gymnasium as gym

from tgm.agent import TGMAgent
from tgm.envs import EnvRequest, EnvSpec, make_env
from tgm.envs.registry import obstacle_of
from tgm.errors import ConfigError, RunError
from tgm.runs.folder import versions
from tgm.runs.lock import is_locked
from tgm.runs.reader import Run


def check_is_new(agent: TGMAgent, path: Path) -> None:
    """RunError unless the agent has no steps and no episode: a new run records all of them."""
    if agent.n_steps:
        raise RunError(
            f"{path}: a new run begins with an agent that has 0 steps, "
            f"and this one has {agent.n_steps}"
        )
    if agent.n_episodes:
        raise RunError(
            f"{path}: the agent began an episode and broke it off before its first step; a run "
            "cannot record that: make a new agent"
        )


def check_is_free(run: Run) -> None:
    """RunError if a process is writing the run."""
    if is_locked(run.folder):
        raise RunError(f"{run.folder}: another process is writing this run")


def check_steps(run: Run, n_steps: int) -> None:
    """RunError if a run of `n_steps` steps in all would be shorter than what is recorded."""
    recorded = run.recorded_steps()
    if n_steps < recorded:
        raise RunError(
            f"{run.folder}: the run has {recorded} steps; the total (--steps) must be at "
            f"least {recorded}, not {n_steps}: nothing recorded is given up"
        )


def setting_differences(run: Run, seed: int | None, config: dict[str, Any] | None) -> list[str]:
    """One phrase for each setting (and the seed) that differs from the run's."""
    then = {"seed": run.metadata["seed"], **run.metadata["config"]}
    now = then | ({} if seed is None else {"seed": seed}) | (config or {})
    return [
        f"{name} is {now.get(name)!r}, not {then.get(name)!r:.100}"
        for name in sorted(then.keys() | now.keys())
        if now.get(name) != then.get(name)
    ]


def check_world(run: Run, world: EnvSpec) -> list[str]:
    """RunError if `world` is not the environment of the run.

    Returns:
        one line for each thing that cannot be checked or differs without harm.
    """
    then = run.world
    found = then.differences(world)
    if found:
        raise RunError(f"{run.folder}: the run has another environment: {'; '.join(found)}")
    if then.id and not world.id:
        return [
            f"{run.folder}: the environment has no id; whether it is the run's '{then.id}' "
            "cannot be checked"
        ]
    if then.wrappers != world.wrappers:
        names = [", ".join(each.wrappers) or "none" for each in (world, then)]
        return [f"{run.folder}: the wrappers of the environment are {names[0]}, not {names[1]}"]
    if then.settings.get("changes"):
        return [
            f"{run.folder}: the walls of the maze move on schedule; the schedule counts the steps "
            "since the environment was made, and begins again with this one"
        ]
    return []


def environment_of(run: Run, request: EnvRequest, command: str) -> gym.Env[Any, Any]:
    """The environment of a run, made with the arguments in the run.

    Args:
        run: the run.
        request: the environment as the user names it again, if at all; it must be the run's.
        command: the command that the user called, for the line that says how to name it.
    """
    named, recorded = request.spec_in(run.world), run.world
    if named is not None:
        env = make_env(named)
        check_world(run, EnvSpec.of(env, named.module))
        if request.env is not None:
            return env
    obstacle = obstacle_of(recorded)
    if obstacle and recorded.is_whole:
        raise ConfigError(f"{run.folder}: {obstacle}; run: {command} {run.folder} {recorded.flags}")
    return make_env(recorded)


def other_versions(run: Run, env: gym.Env[Any, Any], module: str = "") -> list[str]:
    """One line if packages have other versions than when the run began, else none."""
    then, now = run.metadata.get("versions"), versions() | packages_of(env, module)
    if not isinstance(then, dict):
        return []
    changed = [
        f"{name} {version} (was {str(then[name])[:40]!r})"
        for name, version in now.items()
        if then.get(name, version) != version
    ]
    if not changed:
        return []
    return [f"{run.folder}: other versions, so not exact to the bit: {', '.join(changed)}"]


def packages_of(env: gym.Env[Any, Any], module: str = "") -> dict[str, str]:
    """Versions of the packages that an environment comes from, where they can be found.

    Args:
        env: the environment.
        module: the module that registers it, if it is known.
    """
    roots = {name.partition(".")[0] for name in (type(env.unwrapped).__module__, module)}
    roots -= {"", "__main__", "tgm", "gymnasium", *sys.stdlib_module_names}
    found: dict[str, str] = {}
    for root in sorted(roots):
        packages = metadata.packages_distributions().get(root, [])
        found |= {package: metadata.version(package) for package in sorted(set(packages))}
        own = getattr(sys.modules.get(root), "__version__", None)
        if not packages and isinstance(own, str):
            found[root] = own
    return found
