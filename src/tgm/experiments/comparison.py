"""A comparison: mazes x agents x seeds, what of it is done already, and the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tgm.envs import EnvSpec, Maze
from tgm.errors import ConfigError
from tgm.experiments.baselines import check_agent_name
from tgm.experiments.baselines.deep import DEEP_CONFIGS
from tgm.experiments.grid import Outcome, Work, run_trials
from tgm.experiments.trial import Trial, run_trial
from tgm.experiments.trial_store import Row, TrialStore, result_row


@dataclass(frozen=True)
class Comparison:
    """What a comparison found.

    Attributes:
        rows: one for each finished trial, as in results.csv, in the order of the trials.
        failures: the trials that failed.
        n_before: trials that were finished before.
    """

    rows: list[Row]
    failures: list[Outcome]
    n_before: int


def make_trials(
    mazes: Sequence[Maze | EnvSpec],
    agents: Sequence[str],
    seeds: Iterable[int],
    steps: int,
    check_every: int | None = None,
) -> list[Trial]:
    """Every agent in every maze with every seed; a `Maze` has its default noise and time limit."""
    named: dict[str, tuple[Maze, EnvSpec]] = {}
    for given in mazes:
        spec = EnvSpec.of_maze(given) if isinstance(given, Maze) else given
        maze = spec.maze
        if maze is None:
            raise ConfigError(f"'{spec.name}' is not a maze; a trial needs one")
        if named.setdefault(maze.name, (maze, spec)) != (maze, spec):
            raise ConfigError(f"two mazes are called '{maze.name}'; rename one of the files")
    return [
        Trial(maze, check_agent_name(agent), seed, steps, check_every, **spec.options)
        for maze, spec in named.values()
        for agent in dict.fromkeys(agents)
        for seed in seeds
    ]


def compare(
    trials: Sequence[Trial],
    store: TrialStore,
    *,
    jobs: int = 1,
    dask: str | None = None,
    on_outcome: Callable[[Outcome], object] = lambda outcome: None,
    work: Work = run_trial,
) -> Comparison:
    """Run what is not finished yet, and keep each result at once.

    Args:
        trials: what to run.
        store: where results are, and go.
        jobs, dask, work: see `run_trials`.
        on_outcome: called when a trial is over; at once for those that were finished before.
    """
    results = {trial: store.find(trial) for trial in trials}
    # The slow ones first, so that no worker waits long for the last.
    waiting = sorted(
        (trial for trial, result in results.items() if result is None),
        key=lambda trial: trial.agent not in DEEP_CONFIGS,
    )
    for trial, result in results.items():
        if result is not None:
            on_outcome(Outcome(trial, result))
    failures: list[Outcome] = []
    try:
        for outcome in run_trials(waiting, jobs=jobs, dask=dask, work=work):
            if outcome.result is None:
                failures.append(outcome)
            else:
                store.add(outcome.trial, outcome.result)
                results[outcome.trial] = outcome.result
            on_outcome(outcome)
    finally:
        # After Ctrl-C too: what is finished is in the tables.
        store.write_tables()
    rows = [result_row(trial, result) for trial, result in results.items() if result is not None]
    failures.sort(key=lambda outcome: trials.index(outcome.trial))
    return Comparison(rows, failures, len(trials) - len(waiting))
