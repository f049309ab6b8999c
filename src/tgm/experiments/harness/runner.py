"""The runner of every study: it runs the trials without a result, and stores each result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic

from tgm.experiments.harness.pool import Outcome, Result, Trial, run_trials
from tgm.experiments.harness.store import ResultStore


@dataclass(frozen=True)
class Finished(Generic[Trial, Result]):
    """The trials of a study after a call of the runner.

    Attributes:
        results: the finished trials with their results, in the order of the trials.
        failures: the trials that failed, in the order of the trials.
        n_before: number of trials that were finished before this call.
    """

    results: list[tuple[Trial, Result]]
    failures: list[Outcome[Trial, Result]]
    n_before: int


def run_stored(
    trials: Sequence[Trial],
    work: Callable[[Trial], Result],
    store: ResultStore[Trial, Result],
    *,
    jobs: int = 1,
    dask: str | None = None,
    on_outcome: Callable[[Outcome[Trial, Result]], object] = lambda outcome: None,
    is_slow: Callable[[Trial], bool] = lambda trial: False,
) -> Finished[Trial, Result]:
    """Run the trials that have no result in `store`, and store each result at once.

    Args:
        trials: what to run.
        work, jobs, dask: see `run_trials`.
        store: where results are, and go.
        on_outcome: called when a trial is over; at once for those that were finished before.
        is_slow: trials that start first, so that no process waits long for the last one.
    """
    results = {trial: store.find(trial) for trial in trials}
    waiting = sorted(
        (trial for trial, result in results.items() if result is None),
        key=lambda trial: not is_slow(trial),
    )
    for trial, result in results.items():
        if result is not None:
            on_outcome(Outcome(trial, result))
    if waiting:
        store.prepare()
    failures: list[Outcome[Trial, Result]] = []
    for outcome in run_trials(waiting, work, jobs=jobs, dask=dask):
        if outcome.result is None:
            failures.append(outcome)
        else:
            store.add(outcome.trial, outcome.result)
            results[outcome.trial] = outcome.result
        on_outcome(outcome)
    failures.sort(key=lambda outcome: trials.index(outcome.trial))
    found = [(trial, result) for trial, result in results.items() if result is not None]
    return Finished(found, failures, len(results) - len(waiting))
