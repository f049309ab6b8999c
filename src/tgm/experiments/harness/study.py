"""A study as a value, and its command line."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import tyro

from tgm.agent.progress import write_line
from tgm.errors import ConfigError, TGMError
from tgm.experiments.harness.fingerprint import code_fingerprint
from tgm.experiments.harness.plain import to_plain
from tgm.experiments.harness.pool import Outcome, Result, Trial, usable_cores
from tgm.experiments.harness.runner import run_stored
from tgm.experiments.harness.store import ResultStore

PROGRESS_LINES = 40  # in all


@dataclass(frozen=True, kw_only=True)
class Sweep(Generic[Trial]):
    """What every study has for flags; a study adds what it varies."""

    jobs: int | None = None
    """Processes on this machine; one for each core by default."""

    out: Path = Path("studies")
    """Folder of the results, in a subfolder for each study and each state of the code. Trials
    that are finished there are not run again."""

    json: bool = False
    """Print one line of JSON for each trial instead of the table."""

    def trials(self) -> list[Trial]:
        """Everything that the study runs."""
        raise NotImplementedError


SweepType = TypeVar("SweepType", bound=Sweep[Any])


@dataclass(frozen=True)
class Study(Generic[SweepType, Trial, Result]):
    """A study: what is varied, how one trial is run, and what is made of the results.

    Attributes:
        name: that of its module, `python -m tgm.experiments.NAME`.
        sweep: its flags, with the list of trials that they give.
        run: runs one trial.
        trial_type, result_type: dataclasses of plain values.
        report: makes the table from all trials with their results.
    """

    name: str
    sweep: type[SweepType]
    run: Callable[[Trial], Result]
    trial_type: type[Trial]
    result_type: type[Result]
    report: Callable[[Sequence[tuple[Trial, Result]]], str]


def run_study(
    study: Study[SweepType, Trial, Result], sweep: SweepType
) -> list[tuple[Trial, Result]]:
    """All trials of a sweep with their results; those that are stored are not run again."""
    for flag in ("jobs", "seeds", "steps"):
        value = getattr(sweep, flag, None)
        if value is not None and value < 1:
            raise ConfigError(f"--{flag} is {value}; it must be above 0")
    trials = sweep.trials()
    if not trials:
        raise ConfigError(f"{study.name}: nothing to run; one of the lists is empty")
    folder = sweep.out / study.name / code_fingerprint()
    finished = run_stored(
        trials,
        study.run,
        ResultStore(folder, study.trial_type, study.result_type),
        jobs=usable_cores() if sweep.jobs is None else sweep.jobs,
        on_outcome=_progress(len(trials)),
    )
    if finished.failures:
        for outcome in finished.failures:
            write_line(f"{outcome.trial.name} failed: {outcome.error}")
        sys.exit(f"{len(finished.failures)} trials failed; call again to redo them")
    return finished.results


def parse(
    study: Study[SweepType, Trial, Result], arguments: Sequence[str] | None = None
) -> SweepType:
    """The sweep that a command line asks for."""
    return tyro.cli(
        study.sweep,
        args=arguments,
        prog=f"python -m tgm.experiments.{study.name}",
        config=(tyro.conf.FlagCreatePairsOff,),
    )


def main(study: Study[SweepType, Trial, Result], arguments: Sequence[str] | None = None) -> None:
    """Run the study that a command line asks for, and print its table."""
    sweep = parse(study, arguments)
    try:
        results = run_study(study, sweep)
    except TGMError as error:
        write_line(f"{study.name}: {error}")
        sys.exit(2)
    if sweep.json:
        for trial, result in results:
            print(json.dumps({"trial": to_plain(trial), "result": to_plain(result)}))
    else:
        print(study.report(results), end="")


def _progress(n_trials: int) -> Callable[[Outcome[Any, Any]], None]:
    """A function to call with each outcome; it tells on standard error how far the study is."""
    began, done = time.perf_counter(), 0
    every = max(1, n_trials // PROGRESS_LINES)

    def advance(outcome: Outcome[Any, Any]) -> None:
        nonlocal done
        done += 1
        if outcome.error is not None or done % every == 0:
            minutes = (time.perf_counter() - began) / 60.0
            what = "done" if outcome.error is None else f"failed: {outcome.error}"
            write_line(f"{done} of {n_trials}, {minutes:.1f} min: {outcome.trial.name} {what}")

    return advance
