"""`tgm fit`: states and transitions of a logged file, as a table, a model and a run."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from tgm.cli.fit_points import fit_points
from tgm.cli.fit_words import evidence_line, policy_lines, state_rows, transition_rows
from tgm.cli.flags import Switch, optional
from tgm.cli.output import print_json, print_lines, print_table
from tgm.cli.report import report_within
from tgm.cli.waiting import busy
from tgm.data import Log, read
from tgm.errors import ConfigError, RunError
from tgm.estimators.temporal_mixture import TemporalMixture
from tgm.runs import Run
from tgm.runs.logged import LoggedRows, record_log

RUNS = Path("runs")
TEMPORAL_FILE = "temporal.safetensors"


@dataclass(frozen=True)
class Fit:
    """Find the states and transitions of logged trajectories, and leave a run directory.

    Row after row, a file holds an observation, the action that was taken there, and its reward.
    With --points rows have no order: clusters are found, in files of any size.
    """

    data: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="DATA")]
    """A .csv, .tsv or .parquet file; or a Minari data set: its folder, or minari:ID. With
    --points also a folder of .parquet files, or a .npy file."""

    obs: Annotated[tuple[str, ...], optional("COLUMN ...")] = ()
    """Columns of an observation; of a Minari data set all features if not given."""

    action: Annotated[str | None, optional("COLUMN")] = None
    """Column of the action: whole numbers or text."""

    episode: Annotated[str | None, optional("COLUMN")] = None
    """Column that says what belongs to one episode; the whole file is one if not given."""

    reward: Annotated[str | None, optional("COLUMN")] = None
    """Column of the reward."""

    terminated: Annotated[str | None, optional("COLUMN")] = None
    """Column that is 1 or true where the step ended the episode by itself."""

    out: Annotated[Path | None, optional("DIR", "(default: a new one under runs/)")] = None
    """Directory of the run; it must not exist."""

    points: Switch = False
    """Rows are points without an order: find their clusters. Parquet and .npy files are read in
    chunks, so that they may be larger than memory."""

    dask: Annotated[str | None, optional("ADDRESS")] = None
    """With --points: address of a Dask scheduler, such as tcp://host:8786, whose workers read the
    Parquet files and sum their chunks; they need the same disk."""

    max_states: int = 100
    """How many states there may be."""

    gamma: float = 0.99
    """Discount of a step, for the plan."""

    report: bool = True
    """Write report.html into the run, if the inspector is installed."""

    json: Switch = False
    """Print one JSON object instead."""

    def run(self) -> int:
        """Fit, print what was found, write the run, and return the exit code."""
        if not 0.0 <= self.gamma < 1.0:
            raise ConfigError(f"--gamma is {self.gamma}; it must be from 0 to below 1")
        if self.points:
            self._check_points()
            out = None if self.out is None else self._folder()
            return fit_points(self.data, self.obs, out, dask=self.dask, as_json=self.json)
        if self.dask is not None:
            raise ConfigError("--dask is for rows without an order; add --points")
        out = self._folder()
        log = read(self.data, self.obs, self.action, self.episode, self.reward, self.terminated)
        with busy(f"learning from {log.n_rows:,} rows"):
            model = TemporalMixture(self.max_states).fit(log)
            agent = model.to_agent(seed=0)
            record_log(agent, logged_rows(model, log), out, model.free_energy_)
        model.save(out / TEMPORAL_FILE)
        run = Run.open(out)
        report = report_within(run) if self.report else None
        if self.json:
            print_json(self._facts(model, log, out, report))
        else:
            self._print(model, log, out, report)
        return 0

    def _check_points(self) -> None:
        """Points have no order: what says something of time does not go with them."""
        for name in ("action", "episode", "reward", "terminated"):
            if getattr(self, name) is not None:
                raise ConfigError(f"--{name} does not go with --points, whose rows have no order")

    def _folder(self) -> Path:
        """The directory of the run; refused before the work is done if it exists."""
        out = self.out
        if out is None:
            stem = Path(self.data.removeprefix("minari:")).stem or "log"
            free = (RUNS / f"fit-{stem}{'' if n == 1 else f'-{n}'}" for n in range(1, 10_000))
            return next(path for path in free if not path.exists())
        if out.exists():
            raise RunError(f"{out}: exists already; name another directory with --out")
        return out

    def _print(self, model: TemporalMixture, log: Log, out: Path, report: Path | None) -> None:
        print_lines(evidence_line(model, log), "")
        heads, rows = state_rows(model)
        print_table(heads, rows)
        heads, rows = transition_rows(model)
        if rows:
            print_lines("", "most likely transitions")
            print_table(heads, rows)
        else:
            print_lines("", "no transitions: every episode is one row")
        print_lines(*policy_lines(model, self.gamma))
        print_lines("", f"the run is in {out}: tgm inspect {shlex.quote(str(out))} shows it")
        if report is not None:
            print_lines(f"{report} opens in any browser")

    def _facts(
        self, model: TemporalMixture, log: Log, out: Path, report: Path | None
    ) -> dict[str, Any]:
        facts: dict[str, Any] = {
            "run": str(out),
            "rows": log.n_rows,
            "episodes": log.n_episodes,
            "states": model.n_states_,
            "features": list(log.feature_names),
            "actions": list(log.action_values),
            "means": model.means_.tolist(),
            "weights": model.weights_.tolist(),
            "transitions": model.world_.transitions.tolist(),
            "free_energy": model.free_energy_,
            "score": model.score(log),
        }
        if model.world_.has_rewards and log.action_values:
            plan = model.policy(self.gamma)
            facts |= {"policy": list(plan.actions), "values": plan.values.tolist()}
        return facts if report is None else facts | {"report": str(report)}


def logged_rows(model: TemporalMixture, log: Log) -> LoggedRows:
    """A log as a run shows it: with expected values in place of missing ones."""
    world = model.world_
    episodes, density = world.read(log)
    marginals = world.smoothed(log)
    points = world.filled(log, marginals)
    states = world.path(log)
    rewards = np.zeros(log.n_rows) if log.rewards is None else np.nan_to_num(log.rewards)
    terminated = np.zeros(log.n_episodes, bool) if log.terminated is None else log.terminated
    seen = density[np.arange(log.n_rows), states]
    return LoggedRows(points, episodes.actions, rewards, log.lengths, terminated, states, seen)
