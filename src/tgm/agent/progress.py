"""How far learning is: a bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Protocol


class HasStates(Protocol):
    """Something that knows some states."""

    @property
    def n_states(self) -> int:
        """How many."""


Advance = Callable[[HasStates], None]

PLAIN_LINES = 10  # lines in all where there is no terminal


@contextlib.contextmanager
def progress(n_steps: int, wanted: bool) -> Iterator[Advance]:
    """Yields a function to call after every step with the agent."""
    if not wanted:
        yield lambda agent: None
    elif sys.stderr.isatty():
        with _bar(n_steps) as advance:
            yield advance
    else:
        yield _plain(n_steps)


@contextlib.contextmanager
def _bar(n_steps: int) -> Iterator[Advance]:
    # Imported here: `import tgm` should not cost a terminal library.
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("learning"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[states]} states"),
        TimeRemainingColumn(),
    )
    refresh_every = max(1, n_steps // 200)
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("learn", total=n_steps, states=0)
        done = 0

        def advance(agent: HasStates) -> None:
            nonlocal done
            done += 1
            if done % refresh_every == 0 or done == n_steps:
                bar.update(task, completed=done, states=agent.n_states)

        yield advance


def _plain(n_steps: int) -> Advance:
    done = 0
    every = max(1, n_steps // PLAIN_LINES)

    def advance(agent: HasStates) -> None:
        nonlocal done
        done += 1
        if done % every == 0:
            print(f"learning: step {done} of {n_steps}, {agent.n_states} states", file=sys.stderr)

    return advance
