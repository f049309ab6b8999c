"""`tgm compare`: agents side by side."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import tyro

from tgm.cli.flags import Switch, optional
from tgm.cli.maze_flags import MazeFlags, warn_of_limit
from tgm.cli.output import print_json, print_lines, print_table, say
from tgm.cli.streams import OutputError
from tgm.cli.trial_progress import show_progress
from tgm.envs import EnvSpec, maze_names
from tgm.envs.registry import argument_names, parse_env_args, registered_env
from tgm.errors import ConfigError
from tgm.experiments.baselines import check_extras
from tgm.experiments.comparison import Comparison, compare, make_trials
from tgm.experiments.comparison.analysis import per_agent, per_maze
from tgm.experiments.comparison.compare import TrialOutcome, run_any_trial
from tgm.experiments.comparison.sweep import without_misfits
from tgm.experiments.comparison.trial_store import RESULTS_FILE, TrialStore
from tgm.experiments.harness.pool import usable_cores

MAZE_AGENTS = ("tgm", "tgm-paper", "dqn", "a2c")  # by default
ENV_AGENTS = ("tgm", "dqn", "ppo", "random")  # the same with --envs


@dataclass(frozen=True)
class Compare:
    """Train several agents in several worlds, with several seeds, and compare them.

    A trial is one agent in one world with one seed. Each finished trial is a small file that is
    never overwritten: called again, the command continues with the trials that are missing.
    """

    mazes: Annotated[
        tuple[str, ...] | None,
        optional("[MAZE ...]", "(default: all of `tgm mazes`, unless --envs is given)"),
    ] = None
    """Mazes: names from `tgm mazes`, or maze files."""

    envs: Annotated[tuple[str, ...] | None, optional("[ID ...]")] = None
    """Other Gymnasium environments, by their ids; module:id imports the module first."""

    env_args: Annotated[tuple[str, ...], optional("[NAME=VALUE ...]")] = ()
    """Arguments of --envs, as in `tgm train`; each environment gets those that it takes."""

    solved_return: Annotated[float | None, optional("RETURN")] = None
    """Mean greedy return from which on one of --envs counts as solved. By default its own
    threshold; where its rules are open and it has none, the best return less 5 %."""

    agents: Annotated[
        tuple[str, ...] | None,
        optional("[AGENT ...]", "(default: tgm tgm-paper dqn a2c; with --envs tgm dqn ppo random)"),
    ] = None
    """Agents: tgm, tgm-paper; dqn, a2c, ppo, in mazes with the paper's settings, elsewhere with
    those of RL Zoo or of their library; dqn-tuned, a2c-tuned, ppo-tuned for mazes; random; oracle,
    which observes the true cell of a maze; rmax and psrl, which are told the true state."""

    maze_flags: Annotated[MazeFlags, tyro.conf.OmitArgPrefixes] = field(default_factory=MazeFlags)
    """Noise and time limit of the mazes."""

    seeds: int = 5
    """Number of seeds."""

    first_seed: int = 0
    """The first of them."""

    steps: int = 5000
    """Training steps of each trial."""

    published_steps: Switch = False
    """DQN and PPO train for as many steps as RL Zoo's settings were published for (50,000 to
    1,000,000), where it has some; all others for --steps."""

    check_every: Annotated[
        int | None,
        optional("STEPS", "(default: in mazes 10 up to step 1,000, then 100; else 20 checks)"),
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
        specs = [self.maze_flags.request(maze=name).spec() for name in self._mazes]
        specs += self._environments()
        seeds = range(self.first_seed, self.first_seed + self.seeds)
        wanted = make_trials(
            specs,
            self._agents,
            seeds,
            self.steps,
            self.check_every,
            self.solved_return,
            as_published=self.published_steps,
        )
        trials, misfits = without_misfits(wanted)
        for spec in specs:
            warn_of_limit(spec)
        for misfit in misfits:
            say(f"tgm: {misfit.world} without {misfit.agent}: {misfit.why}")
        if self.dask is None:
            check_extras(self._agents)
        runs = self.out.resolve() / "runs" if self.record else None
        with show_progress("comparing", len(trials)) as advance:
            comparison = compare(
                trials,
                TrialStore(self.out),
                jobs=usable_cores() if self.jobs is None else self.jobs,
                dask=self.dask,
                on_outcome=advance,
                work=partial(run_any_trial, record=runs),
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
        for name in ("mazes", "envs", "agents"):
            if getattr(self, name) == ():
                raise ConfigError(f"--{name} is empty; name at least one")
        given = {
            "--env-args": self.env_args,
            "--solved-return": self.solved_return is not None,
            "--published-steps": self.published_steps,
        }
        for flag, is_given in given.items():
            if is_given and self.envs is None:
                raise ConfigError(f"{flag} is for the environments of --envs; give both")
        if self.solved_return is not None and not math.isfinite(self.solved_return):
            raise ConfigError(f"--solved-return is {self.solved_return}; it must be a number")
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

    @property
    def _mazes(self) -> tuple[str, ...]:
        if self.mazes is None:
            return maze_names() if self.envs is None else ()
        return self.mazes

    @property
    def _agents(self) -> tuple[str, ...]:
        if self.agents is None:
            return MAZE_AGENTS if self.envs is None else ENV_AGENTS
        return self.agents

    def _environments(self) -> list[EnvSpec]:
        """The environments of --envs, each with the arguments that it takes."""
        options = parse_env_args(self.env_args)
        found: list[EnvSpec] = []
        taken: set[str] = set()
        for env_id in self.envs or ():
            spec = registered_env(env_id)
            names = argument_names(spec.id)
            own = {k: v for k, v in options.items() if names is None or k in names}
            taken |= own.keys()
            found.append(registered_env(env_id, own))
        if unknown := [name for name in options if name not in taken]:
            takes = "; ".join(
                f"{spec.name} takes {', '.join(argument_names(spec.id) or ())}" for spec in found
            )
            raise ConfigError(f"--env-args: none of --envs takes '{unknown[0]}': {takes}")
        return found

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
        _print_worlds(table)
        print_table(_AGENT_HEADS, [_agent_cells(row, overall[0]) for row in overall])
        print_lines("", *_NOTES)
        before = f", {comparison.n_before} of them from before" if comparison.n_before else ""
        print_lines(f"{len(comparison.rows)} trials{before}: {self.out / RESULTS_FILE}")


_FIRST_PART = ("solved", "steps to solve", "final return", "solved from", "best")
_AGENT_HEADS = ("all worlds", "solved", "score", "slower than the first", "seconds")
_NOTES = (
    "steps to solve: median [95 % interval]; one that never solves counts as longest",
    "final return: interquartile mean of greedy episodes [95 % interval]",
    "score: the final return, from 0 to 1; regret: reward lost while training",
    "last 100 episodes: mean reward while training (standard deviation)",
    "seconds: of training alone",
)


def _print_worlds(table: list[dict[str, Any]]) -> None:
    """Worlds and agents, in two tables that fit 80 columns; without what is not known anywhere."""
    rows = [_world_cells(row) for row in table]
    key, heads = ["world", "agent"], [h for h in rows[0] if any(row[h] != "-" for row in rows)]
    first = [head for head in heads if head in _FIRST_PART]
    second = [head for head in heads if head not in (*key, *_FIRST_PART)]
    for part in (key + first, key + second):
        print_table(part, [[row[head] for head in part] for row in rows])
        print_lines("")


def _world_cells(row: dict[str, Any]) -> dict[str, str]:
    steps, *ends = (
        _number(row[name], ".0f", "never") for name in ("solve_steps", "solve_low", "solve_high")
    )
    recent = "-"
    if row["recent_reward_mean"] is not None:
        recent = f"{row['recent_reward_mean']:.1f} ({row['recent_reward_deviation']:.1f})"
    can_be_solved = row["solved_return"] is not None or row["solved"]
    has_truth = row["true_states"] is not None
    return {
        "world": row["maze"],
        "agent": row["agent"],
        "solved": f"{row['solved']}/{row['runs']}" if can_be_solved else "-",
        "steps to solve": "-"
        if not can_be_solved
        else ("never" if ends[0] == "never" else f"{steps} [{', '.join(ends)}]"),
        "final return": f"{row['return_mean']:.2f} [{row['return_low']:.2f}, "
        f"{row['return_high']:.2f}]",
        "solved from": _number(row["solved_return"], ".4g"),
        "best": _number(row["optimal_return"], ".4g"),
        "last 100 episodes": recent,
        "regret": _number(row["regret_mean"], ".0f"),
        "states": _number(row["states_median"], "g"),
        "of": _number(row["true_states"], "g") if has_truth else "-",
        "exact": f"{row['exact']}/{row['runs']}" if row["exact"] is not None else "-",
        "seconds": f"{row['seconds_mean']:.2f}",
    }


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
        "maze": trial.world,
        "agent": trial.agent,
        "seed": trial.seed,
        "steps": trial.steps,
    }
