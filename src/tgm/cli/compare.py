"""`tgm compare`: agents side by side."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from tgm.agent.progress import QuietStderr
from tgm.cli.flags import Switch, optional
from tgm.cli.maze_flags import MazeFlags, warn_of_limit
from tgm.cli.output import plain, print_json, print_lines, print_table, say
from tgm.cli.streams import OutputError
from tgm.envs import maze_names
from tgm.errors import ConfigError
from tgm.experiments.baselines import check_extras
from tgm.experiments.comparison import Comparison, compare, make_trials
from tgm.experiments.comparison.analysis import per_agent, per_maze
from tgm.experiments.comparison.compare import TrialOutcome
from tgm.experiments.comparison.trial_store import RESULTS_FILE, TrialStore
from tgm.experiments.harness.pool import usable_cores
from tgm.experiments.harness.trial import run_trial

PLAIN_LINES = 20  # of progress in all, where there is no terminal


@dataclass(frozen=True)
class Compare:
    """Train several agents in several mazes, with several seeds, and compare them.

    A trial is one agent in one maze with one seed. Each finished trial is a small file that is
    never overwritten: called again, the command continues with the trials that are missing.
    """

    mazes: tuple[str, ...] = maze_names()
    """Mazes: names from `tgm mazes`, or maze files."""

    agents: tuple[str, ...] = ("tgm", "tgm-paper", "dqn", "a2c")
    """Agents: tgm, tgm-paper; dqn, a2c, ppo with the paper's settings; dqn-tuned, a2c-tuned,
    ppo-tuned; random; oracle, which observes the true cell."""

    maze_flags: Annotated[MazeFlags, tyro.conf.OmitArgPrefixes] = field(default_factory=MazeFlags)
    """Noise and time limit of the mazes."""

    seeds: int = 5
    """Number of seeds."""

    first_seed: int = 0
    """The first of them."""

    steps: int = 5000
    """Training steps of each trial."""

    check_every: Annotated[
        int | None, optional("STEPS", "(default: 10 up to step 1,000, then 100)")
    ] = None
    """Steps between greedy checks."""

    jobs: Annotated[int | None, optional("N", "(default: one for each core)")] = None
    """Processes on this machine."""

    dask: Annotated[str | None, optional("ADDRESS")] = None
    """Address of a Dask scheduler whose workers are used instead, such as tcp://host:8786."""

    out: Path = Path("comparison")
    """Folder of the results; finished trials in it are not run again."""

    record: Switch = False
    """Leave a run directory of each trial in OUT/runs, for `tgm runs` and `tgm inspect`. With
    --dask the workers write them, and need the same disk."""

    json: Switch = False
    """Print one JSON object instead."""

    def run(self) -> int:
        """Compare, print the tables, and return the exit code."""
        self._check()
        specs = [self.maze_flags.request(maze=name).spec() for name in self.mazes]
        seeds = range(self.first_seed, self.first_seed + self.seeds)
        trials = make_trials(specs, self.agents, seeds, self.steps, self.check_every)
        for spec in specs:
            warn_of_limit(spec)
        if self.dask is None:
            check_extras(self.agents)
        runs = self.out.resolve() / "runs" if self.record else None
        with _progress(len(trials)) as advance:
            comparison = compare(
                trials,
                TrialStore(self.out),
                jobs=usable_cores() if self.jobs is None else self.jobs,
                dask=self.dask,
                on_outcome=advance,
                work=partial(run_trial, record=runs),
            )
        for failure in comparison.failures:
            say(f"tgm: {failure.trial.name} failed: {failure.error}")
        try:
            self._print(comparison)
        except OutputError:
            if not comparison.failures:
                raise  # otherwise a failed trial decides the exit code
        return 1 if comparison.failures else 0

    def _check(self) -> None:
        for name in ("mazes", "agents"):
            if not getattr(self, name):
                raise ConfigError(f"--{name} is empty; name at least one")
        for flag, value in (("seeds", self.seeds), ("steps", self.steps)):
            if value < 1:
                raise ConfigError(f"--{flag} is {value}; it must be above 0")
        for flag, number in (("check-every", self.check_every), ("jobs", self.jobs)):
            if number is not None and number < 1:
                raise ConfigError(f"--{flag} is {number}; it must be above 0")
        if self.first_seed < 0:
            raise ConfigError(f"--first-seed is {self.first_seed}; it must be at least 0")
        if self.dask is not None and self.jobs is not None:
            raise ConfigError("--jobs and --dask are two different places to run; give one")

    def _print(self, comparison: Comparison) -> None:
        table, overall = per_maze(comparison.rows), per_agent(comparison.rows)
        if self.json:
            failed = [
                {**_identity(outcome), "error": outcome.error} for outcome in comparison.failures
            ]
            print_json(
                {
                    "out": str(self.out),
                    "finished_before": comparison.n_before,
                    "table": table,
                    "overall": overall,
                    "trials": comparison.rows,
                    "failed": failed,
                }
            )
            return
        if not table:
            print_lines("no trial was finished")
            return
        cells = [_maze_cells(row) for row in table]
        for part in _PARTS:  # two tables: each fits 80 columns
            print_table([_MAZE_HEADS[i] for i in part], [[row[i] for i in part] for row in cells])
            print_lines("")
        print_table(_AGENT_HEADS, [_agent_cells(row, overall[0]) for row in overall])
        print_lines("", *_NOTES)
        before = f", {comparison.n_before} of them from before" if comparison.n_before else ""
        print_lines(f"{len(comparison.rows)} trials{before}: {self.out / RESULTS_FILE}")


_MAZE_HEADS = (
    "maze",
    "agent",
    "solved",
    "steps to solve",
    "final return",
    "last 100 episodes",
    "regret",
    "states",
    "seconds",
)
_PARTS = (0, 1, 2, 3, 4), (0, 1, 5, 6, 7, 8)
_AGENT_HEADS = ("all mazes", "solved", "score", "slower than the first", "seconds")
_NOTES = (
    "steps to solve: median [95 % interval]; one that never solves counts as longest",
    "final return: interquartile mean of greedy episodes [95 % interval]",
    "score: the final return, from 0 to 1; regret: reward lost while training",
    "last 100 episodes: mean reward while training (standard deviation)",
    "seconds: of training alone",
)


def _maze_cells(row: dict[str, Any]) -> tuple[str, ...]:
    steps, *ends = (
        _number(row[name], ".0f", "never") for name in ("solve_steps", "solve_low", "solve_high")
    )
    recent = "-"
    if row["recent_reward_mean"] is not None:
        recent = f"{row['recent_reward_mean']:.1f} ({row['recent_reward_deviation']:.1f})"
    return (
        row["maze"],
        row["agent"],
        f"{row['solved']}/{row['runs']}",
        "never" if ends[0] == "never" else f"{steps} [{', '.join(ends)}]",
        f"{row['return_mean']:.2f} [{row['return_low']:.2f}, {row['return_high']:.2f}]",
        recent,
        _number(row["regret_mean"], ".0f"),
        _number(row["states_median"], "g"),
        f"{row['seconds_mean']:.2f}",
    )


def _agent_cells(row: dict[str, Any], first: dict[str, Any]) -> tuple[str, ...]:
    score = "-"
    if row["score_mean"] is not None:
        score = f"{row['score_mean']:.3f} [{row['score_low']:.3f}, {row['score_high']:.3f}]"
    slower = "-" if row is first else _number(row["first_is_better"], ".0%")
    return (
        row["agent"],
        f"{row['solved']}/{row['runs']}",
        score,
        slower,
        f"{row['seconds_mean']:.2f}",
    )


def _number(value: float | None, form: str, without: str = "-") -> str:
    return without if value is None else format(value, form)


def _identity(outcome: TrialOutcome) -> dict[str, Any]:
    trial = outcome.trial
    return {
        "maze": trial.maze.name,
        "agent": trial.agent,
        "seed": trial.seed,
        "steps": trial.steps,
    }


@contextlib.contextmanager
def _progress(n_trials: int) -> Iterator[Callable[[TrialOutcome], None]]:
    """Yields a function to call with each outcome: a bar on a terminal, else lines now and then."""
    stderr = QuietStderr()
    if not stderr.isatty():
        yield _plain_progress(n_trials)
        return
    columns = (
        SpinnerColumn(),  # it moves while a trial takes long
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    console = Console(file=stderr.as_file())
    with Progress(*columns, console=console, redirect_stdout=sys.stdout is not None) as bar:
        task = bar.add_task("comparing", total=n_trials)
        yield lambda outcome: bar.update(task, advance=1, description=plain(outcome.trial.name))


def _plain_progress(n_trials: int) -> Callable[[TrialOutcome], None]:
    done = 0
    every = max(1, n_trials // PLAIN_LINES)

    def advance(outcome: TrialOutcome) -> None:
        nonlocal done
        done += 1
        if done % every == 0:
            what = "failed" if outcome.result is None else "done"
            say(f"{done} of {n_trials} trials: {outcome.trial.name} {what}")

    return advance
