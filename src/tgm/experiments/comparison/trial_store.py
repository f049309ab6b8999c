"""The folder of a comparison: one small file for each finished trial, never overwritten.

`trials/MAZE/AGENT/seed-S-steps-N.json` holds a trial and its result; `results.csv` and
`curves.csv` are assembled from all of them, in an order that does not depend on how they came.
Their column `maze` holds the name of the maze, or another environment with its arguments.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tgm.envs.facts import SOLVED_WITHIN
from tgm.errors import RunError
from tgm.experiments.harness.env_trial import EnvResult, EnvTrial
from tgm.experiments.harness.plain import as_folder, to_plain
from tgm.experiments.harness.store import ResultStore
from tgm.experiments.harness.trial import Trial, TrialResult
from tgm.files import read_bytes, write_atomically

TRIALS, RESULTS_FILE, CURVES_FILE = "trials", "results.csv", "curves.csv"

IDENTITY = ("maze", "agent", "seed", "steps")
WORLD = ("noise", "max_episode_steps")
MEASURES = (
    "solved_at",
    "final_return",
    "optimal_return",
    "solved_return",
    "regret",
    "recent_reward",
    "n_episodes",
    "n_states",
    "true_states",
    "is_exact",
    "seconds",
)
LOOKS = ("step", "greedy_return", "recent_reward")

LARGEST_TABLE = 32_000_000  # bytes of a CSV file
MOST_ROWS, MOST_FIELDS = 300_000, 2_000_000  # in it

Row = dict[str, Any]
AnyTrial = Trial | EnvTrial


class TrialStore(ResultStore[AnyTrial, TrialResult]):
    """Owner of a comparison's folder."""

    files = f"{TRIALS}/*/*/*.json"

    def __init__(self, folder: Path) -> None:
        """Use `folder`, which is made when the first trial is written."""
        super().__init__(folder, Trial, TrialResult)

    def path(self, trial: AnyTrial) -> Path:
        """The file of a trial."""
        name = f"seed-{trial.seed}-steps-{trial.steps}.json"
        return self.folder / TRIALS / as_folder(trial.world) / trial.agent / name

    def types_of(self, trial: dict[str, Any]) -> tuple[type[AnyTrial], type[TrialResult]]:
        """A trial in a maze, or in any environment."""
        return (EnvTrial, EnvResult) if "env" in trial else (Trial, TrialResult)

    def trials(self) -> Iterator[tuple[AnyTrial, TrialResult]]:
        """All finished trials, in order of maze, agent, steps and seed."""
        return iter(sorted(super().trials(), key=lambda pair: _order(pair[0])))

    def read(self, path: Path) -> tuple[AnyTrial, TrialResult]:
        """See ResultStore; older versions called a maze solved whose goal is beyond the limit."""
        trial, result = super().read(path)
        if isinstance(trial, Trial) and not trial.maze.can_be_solved(trial.max_episode_steps):
            result = replace(result, solved_at=None)
        return trial, result

    def write_tables(self) -> None:
        """Assemble results.csv and curves.csv from the files of all finished trials, if any."""
        if not (self.folder / TRIALS).exists():
            return
        results, curves = [], []
        for trial, result in self.trials():
            results.append(result_row(trial, result))
            curves += curve_rows(trial, result)
        write_csv(self.folder / RESULTS_FILE, (*IDENTITY, *WORLD, *MEASURES), results)
        write_csv(self.folder / CURVES_FILE, (*IDENTITY, *LOOKS), curves)


def result_row(trial: AnyTrial, result: TrialResult) -> Row:
    """The row of results.csv."""
    values = {**to_plain(trial), **_facts(trial), **to_plain(result), **_identity(trial)}
    return {name: values.get(name) for name in (*IDENTITY, *WORLD, *MEASURES)}


def _facts(trial: AnyTrial) -> Row:
    """What is known of a maze; of another environment the result says it."""
    if isinstance(trial, EnvTrial):
        return {}
    best = trial.best_return
    return {
        "optimal_return": best,
        "solved_return": best - SOLVED_WITHIN if math.isfinite(best) else None,
        "true_states": len(trial.maze.moves),
    }


def curve_rows(trial: AnyTrial, result: TrialResult) -> list[Row]:
    """The rows of curves.csv: one for each check."""
    identity = _identity(trial)
    return [
        {**identity, **{name: getattr(check, name) for name in LOOKS}} for check in result.checks
    ]


def write_csv(path: Path, heads: Iterable[str], rows: Iterable[Row]) -> None:
    """Write rows as CSV, whole or not at all; None is an empty field."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(heads), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_atomically(path, text.getvalue().encode())


def read_csv(path: Path) -> list[Row]:
    """The rows of a table that `write_csv` wrote, with numbers as numbers."""
    try:
        return [
            {name: _value(name, text) for name, text in row.items()}
            for row in csv.DictReader(open_table(path))
        ]
    except (csv.Error, ValueError, TypeError) as error:
        raise RunError(f"{path}: not a table of results ({error!s:.200})") from None


def open_table(path: Path) -> io.StringIO:
    """The text of a CSV file that is small enough to be read; a RunError if it is not."""
    data = read_bytes(path, LARGEST_TABLE)
    n_rows = data.count(b"\n") + data.count(b"\r")
    if n_rows > MOST_ROWS or n_rows + data.count(b",") > MOST_FIELDS:
        raise RunError(f"{path}: has more than {MOST_ROWS} rows or {MOST_FIELDS} fields")
    try:
        return io.StringIO(data.decode("utf-8"), newline="")
    except UnicodeDecodeError as error:
        raise RunError(f"{path}: is not UTF-8 (byte {error.start})") from None


def _value(name: str, text: str) -> Any:
    if name in ("maze", "agent"):
        return text
    if text == "":
        return None
    if text in ("True", "False"):
        return text == "True"
    return float(text) if any(sign in text for sign in ".en") else int(text)


def _identity(trial: AnyTrial) -> Row:
    return {
        "maze": trial.world,
        "agent": trial.agent,
        "seed": trial.seed,
        "steps": trial.steps,
    }


def _order(trial: AnyTrial) -> tuple[Any, ...]:
    return (*maze_order(trial.world), trial.agent, trial.steps, trial.seed)


def maze_order(name: str) -> tuple[int, str]:
    """Sorts the numbered mazes of the paper by number, and before all others."""
    return (int(name), name) if name.isdecimal() else (1_000_000, name)
