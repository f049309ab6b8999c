"""What must hold before a run is begun or gone on with: the same agent, the same world, no loss."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import gymnasium as gym

from tgm.agent import TGMAgent
from tgm.errors import RunError
from tgm.runs.env_spec import World
from tgm.runs.folder import versions
from tgm.runs.lock import is_locked
from tgm.runs.reader import Run


def check_is_new(agent: TGMAgent, path: Path) -> None:
    """A run from its first step needs an agent that has begun nothing, not even an episode."""
    if agent.n_steps:
        raise RunError(
            f"{path}: a new run begins with an agent that has lived 0 steps, "
            f"and this one has lived {agent.n_steps}"
        )
    if agent.n_episodes:
        raise RunError(
            f"{path}: the first episode of the agent was broken off before its first step, which "
            "a run cannot tell; make a new agent"
        )


def check_is_free(run: Run) -> None:
    """RunError if somebody writes the run."""
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
    """How a seed and settings differ from those of the run, in words."""
    then = {"seed": run.facts["seed"], **run.facts["config"]}
    now = then | ({} if seed is None else {"seed": seed}) | (config or {})
    return [
        f"{name} is {now.get(name)!r}, not {then.get(name)!r:.100}"
        for name in sorted(then.keys() | now.keys())
        if now.get(name) != then.get(name)
    ]


def check_world(run: Run, world: World) -> list[str]:
    """RunError if `world` is another one than the run's; else a line for what cannot be judged."""
    then = run.world
    found = then.differences(world)
    if found:
        raise RunError(f"{run.folder}: is a run in another world: {'; '.join(found)}")
    if then.id and not world.id:
        return [
            f"{run.folder}: the environment has no id; whether it is the run's '{then.id}' "
            "cannot be checked"
        ]
    if then.wrappers != world.wrappers:
        names = [", ".join(each.wrappers) or "none" for each in (world, then)]
        return [f"{run.folder}: the wrappers of the environment are {names[0]}, not {names[1]}"]
    return []


def other_versions(run: Run, env: gym.Env[Any, Any], module: str = "") -> list[str]:
    """One line if packages have other versions than when the run began, else none."""
    then, now = run.facts.get("versions"), versions() | packages_of(env, module)
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
