"""The trials of a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tgm.envs import EnvSpec, Maze, make_env
from tgm.errors import ConfigError
from tgm.experiments.baselines import check_agent_name, unfit
from tgm.experiments.baselines.rl_zoo import published_steps
from tgm.experiments.comparison.trial_store import AnyTrial
from tgm.experiments.harness.env_trial import EnvTrial
from tgm.experiments.harness.trial import Trial


def make_trials(
    worlds: Sequence[Maze | EnvSpec],
    agents: Sequence[str],
    seeds: Iterable[int],
    steps: int,
    check_every: int | None = None,
    solved_return: float | None = None,
    *,
    as_published: bool = False,
) -> list[AnyTrial]:
    """Every agent in every world with every seed.

    Args:
        worlds: mazes and other environments; a `Maze` has its default noise and time limit.
        agents: their names.
        seeds: of everything random.
        steps: of training.
        check_every: steps between checks; None: see `Trial` and `EnvTrial`.
        solved_return: mean return that solves an environment which is no maze; None: its own.
        as_published: agents with RL Zoo's settings train for the steps that these are for.
    """
    specs: list[EnvSpec] = []
    for given in worlds:
        spec = EnvSpec.of_maze(given) if isinstance(given, Maze) else given
        maze = spec.maze
        if maze is not None and any(
            other.maze is not None and other.maze.name == maze.name and other != spec
            for other in specs
        ):
            raise ConfigError(f"two mazes are called '{maze.name}'; rename one of the files")
        if spec not in specs:
            specs.append(spec)
    names = [check_agent_name(agent) for agent in dict.fromkeys(agents)]
    numbers = list(seeds)
    trials: list[AnyTrial] = []
    for spec in specs:
        for agent in names:
            own = published_steps(agent, spec.id) if as_published else None
            for seed in numbers:
                if spec.maze is None:
                    more = {"check_every": check_every, "solved_return": solved_return}
                    trials.append(EnvTrial.of(spec, agent, seed, own or steps, **more))
                else:
                    trials.append(Trial(spec.maze, agent, seed, steps, check_every, **spec.options))
    return trials


@dataclass(frozen=True)
class Misfit:
    """An agent that cannot be used in a world, and why."""

    world: str
    agent: str
    why: str


def without_misfits(trials: Sequence[AnyTrial]) -> tuple[list[AnyTrial], list[Misfit]]:
    """The trials whose agents can be used in their environments, and what was left out.

    An agent that fits nowhere, and an environment that cannot be made, is a ConfigError.
    """
    verdicts: dict[tuple[str, str], str] = {}
    for trial in trials:
        if isinstance(trial, EnvTrial) and (trial.world, trial.agent) not in verdicts:
            with make_env(trial.spec) as env:
                verdicts[trial.world, trial.agent] = unfit(trial.agent, env)
    fits = [trial for trial in trials if not verdicts.get((trial.world, trial.agent))]
    misfits = [Misfit(*pair, why) for pair, why in verdicts.items() if why]
    lost = [one for one in misfits if all(trial.agent != one.agent for trial in fits)]
    if lost:
        raise ConfigError(f"{lost[0].agent} cannot be used in {lost[0].world}: {lost[0].why}")
    return fits, misfits
