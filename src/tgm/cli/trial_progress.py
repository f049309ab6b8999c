"""How far the trials of a command are, on standard error."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from tgm.agent.progress import QuietStderr, on_terminal
from tgm.cli.output import plain, say
from tgm.experiments.harness.pool import Outcome

PLAIN_LINES = 20  # of progress in all, where there is no terminal


@contextlib.contextmanager
def show_progress(what: str, n_trials: int) -> Iterator[Callable[[Outcome[Any, Any]], None]]:
    """Yields a function to call with each outcome: a bar on a terminal, else lines now and then."""
    if not QuietStderr().isatty():
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
    with on_terminal(*columns) as bar:
        task = bar.add_task(what, total=n_trials)
        yield lambda outcome: bar.update(task, advance=1, description=plain(outcome.trial.name))


def _plain_progress(n_trials: int) -> Callable[[Outcome[Any, Any]], None]:
    done = 0
    every = max(1, n_trials // PLAIN_LINES)

    def advance(outcome: Outcome[Any, Any]) -> None:
        nonlocal done
        done += 1
        if done % every == 0:
            what = "failed" if outcome.result is None else "done"
            say(f"{done} of {n_trials} trials: {outcome.trial.name} {what}")

    return advance
