"""The campaign behind docs/results.md: a comparison of all agents in six mazes."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from tgm.agent.progress import write_line
from tgm.envs import load_maze, maze_names
from tgm.errors import ConfigError
from tgm.experiments.baselines import PAPER_AGENTS
from tgm.experiments.behaviour_suite.scoring import facts_of
from tgm.experiments.comparison.compare import TrialOutcome, compare
from tgm.experiments.comparison.sweep import make_trials
from tgm.experiments.comparison.trial_store import (
    CURVES_FILE,
    RESULTS_FILE,
    AnyTrial,
    Row,
    TrialStore,
    maze_order,
    read_csv,
    write_csv,
)
from tgm.experiments.results.gymnasium_part import gymnasium_part
from tgm.experiments.results.kept_suite import OURS, keep, read_kept
from tgm.experiments.results.page import write_page
from tgm.experiments.results.suite_part import suite_part
from tgm.experiments.results.weak_points import weak_points
from tgm.files import write_atomically

STEPS = 5000
SEEDS = {agent: 20 if agent in ("tgm", "oracle") else 5 for agent in PAPER_AGENTS}
CURVE_AGENTS, CURVE_RUNS, CURVE_EVERY = ("tgm", "tgm-paper", "dqn", "a2c"), 5, 100
CURVE_HEADS = ("maze", "agent", "seed", "step", "greedy_return", "recent_reward")

ABOUT_FILE, GYMNASIUM = "about.json", "gymnasium"
SUITE, SUITE_FILE = "bsuite", "bsuite.json"  # results of each setting, and the scores

HEAD = """\
# Results

Written by `python -m tgm.experiments.results` from `docs/data`: do not edit. Three parts: the
mazes of the paper, environments of Gymnasium, and bsuite. The last two come from

```
tgm compare --envs CartPole-v1 --agents tgm dqn --seeds 2 --steps 3000 --out compared
tgm bsuite --experiments catch --out bsuite
python -m tgm.experiments.results --compared compared --suite bsuite
```

for any worlds and experiments: each call adds to what is there.
"""

ELSEWHERE = """\
Not in these tables: [worlds.md](worlds.md) has finite worlds with all their misses,
[flowing.md](flowing.md) smooth worlds and what noise does to them, the README all else in words.
"""


def campaign_trials(steps: int = STEPS) -> list[AnyTrial]:
    """Six mazes, all agents, as many seeds as SEEDS says."""
    mazes = [load_maze(name) for name in maze_names()]
    return [
        trial
        for agent, n_seeds in SEEDS.items()
        for trial in make_trials(mazes, [agent], range(n_seeds), steps)
    ]


def run_campaign(
    folder: Path, data: Path, trials: Sequence[AnyTrial], jobs: int, dask: str | None
) -> None:
    """Run what is not finished in `folder`, then put the small tables into `data`."""
    store = TrialStore(folder)
    began, load = time.perf_counter(), os.getloadavg()[0]
    done = 0

    def follow(outcome: TrialOutcome) -> None:
        nonlocal done
        done += 1
        if outcome.error or done % 20 == 0:
            minutes = (time.perf_counter() - began) / 60.0
            what = outcome.error or "done"
            write_line(f"{done} of {len(trials)}, {minutes:.1f} min: {outcome.trial.name} {what}")

    comparison = compare(trials, store, jobs=jobs, dask=dask, on_outcome=follow)
    if comparison.failures:
        sys.exit(f"{len(comparison.failures)} trials failed; call again to redo them")
    minutes = (time.perf_counter() - began) / 60.0
    data.mkdir(parents=True, exist_ok=True)
    write_csv(data / RESULTS_FILE, comparison.rows[0], comparison.rows)
    write_csv(data / CURVES_FILE, CURVE_HEADS, figure_curves(read_csv(folder / CURVES_FILE)))
    about = {
        **_about(trials[0].steps, jobs, minutes, comparison.n_before),
        "load": round(load, 1),
    }
    write_atomically(data / ABOUT_FILE, (json.dumps(about, indent=2) + "\n").encode())


def figure_curves(rows: Sequence[Row]) -> list[Row]:
    """Of curves.csv what the paper's figure 13 shows: four agents, five runs, every 100 steps."""
    return [
        {name: row[name] for name in CURVE_HEADS}
        for row in rows
        if row["agent"] in CURVE_AGENTS
        and row["seed"] < CURVE_RUNS
        and row["step"] % CURVE_EVERY == 0
    ]


def page_of(data: Path) -> str:
    """The page that the tables in `data` give; parts without a table are left out."""
    about = json.loads((data / ABOUT_FILE).read_text(encoding="utf-8"))
    mazes, others, suite = read_csv(data / RESULTS_FILE), data / GYMNASIUM, data / SUITE_FILE
    worlds = read_csv(others / RESULTS_FILE) if others.exists() else []
    curves = read_csv(others / CURVES_FILE) if others.exists() else []
    scores = json.loads(suite.read_text(encoding="utf-8")) if suite.exists() else None
    bad = "".join(f"- {line}\n" for line in weak_points(mazes, worlds, scores))
    parts = [HEAD, f"## What we are bad at\n{bad}\n{ELSEWHERE}", write_page(mazes, about)]
    if worlds:
        parts.append(gymnasium_part(worlds, curves))
    if scores is not None:
        parts.append(suite_part(scores))
    return "\n".join(parts)


def take_tables(data: Path, compared: Path | None, suite: Path | None) -> None:
    """Add what `tgm compare --envs` and `tgm bsuite` left to `data`.

    Args:
        data: folder of the tables.
        compared: the --out of `tgm compare`; None: nothing new.
        suite: the --out of `tgm bsuite`; None: nothing new.
    """
    if compared is not None:
        (data / GYMNASIUM).mkdir(parents=True, exist_ok=True)
        for name in (RESULTS_FILE, CURVES_FILE):
            _add_worlds(data / GYMNASIUM / name, compared / name)
    if suite is not None:
        keep(suite, data / SUITE)
        facts = facts_of(OURS, read_kept(data / SUITE))
        write_atomically(data / SUITE_FILE, (json.dumps(facts, indent=1) + "\n").encode())


def _add_worlds(table: Path, new: Path) -> None:
    """Add rows to a table; all rows of a world come from one campaign, under one load."""
    rows = read_csv(new)
    if not rows:
        raise ConfigError(f"{new} has no rows")
    worlds = {row["maze"] for row in rows}
    before = read_csv(table) if table.exists() else []
    rows += [row for row in before if row["maze"] not in worlds]
    heads = dict.fromkeys(name for row in rows for name in row)
    write_csv(table, heads, sorted(rows, key=lambda row: maze_order(row["maze"])))


def _about(steps: int, jobs: int, minutes: float, n_before: int) -> dict[str, Any]:
    packages = ("temporal-gaussian-mixture", "numpy", "stable_baselines3", "torch")
    return {
        "steps": steps,
        "cores": os.cpu_count(),
        "jobs": jobs,
        "minutes": round(minutes, 1),
        "finished_before": n_before,
        "versions": {
            "Python": platform.python_version(),
            **{name: metadata.version(name) for name in packages},
        },
    }
