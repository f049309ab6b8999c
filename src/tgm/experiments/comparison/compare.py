"""Runs a comparison, or what is left of it, and keeps its tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tgm.experiments.baselines.deep import DEEP_CONFIGS
from tgm.experiments.comparison.trial_store import AnyTrial, Row, TrialStore, result_row
from tgm.experiments.harness.env_trial import EnvTrial, run_env_trial
from tgm.experiments.harness.pool import Outcome
from tgm.experiments.harness.runner import run_stored
from tgm.experiments.harness.trial import TrialResult, run_trial

TrialOutcome = Outcome[AnyTrial, TrialResult]


@dataclass(frozen=True)
class Comparison:
    """What a comparison found.

    Attributes:
        rows: one for each finished trial, as in results.csv, in the order of the trials.
        failures: the trials that failed.
        n_before: trials that were finished before.
    """

    rows: list[Row]
    failures: list[TrialOutcome]
    n_before: int


def run_any_trial(trial: AnyTrial, record: Path | None = None) -> TrialResult:
    """Run a trial in a maze or in any other environment; see `run_trial`."""
    if isinstance(trial, EnvTrial):
        return run_env_trial(trial, record)
    return run_trial(trial, record)


def compare(
    trials: Sequence[AnyTrial],
    store: TrialStore,
    *,
    jobs: int = 1,
    dask: str | None = None,
    on_outcome: Callable[[TrialOutcome], object] = lambda outcome: None,
    work: Callable[[AnyTrial], TrialResult] = run_any_trial,
) -> Comparison:
    """Run what is not finished yet, and keep each result at once; see `run_stored`."""
    try:
        finished = run_stored(
            trials,
            work,
            store,
            jobs=jobs,
            dask=dask,
            on_outcome=on_outcome,
            is_slow=lambda trial: trial.agent in DEEP_CONFIGS,
        )
    finally:
        # After Ctrl-C too: what is finished is in the tables.
        store.write_tables()
    rows = [result_row(trial, result) for trial, result in finished.results]
    return Comparison(rows, finished.failures, finished.n_before)
