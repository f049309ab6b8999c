"""How far learning is: a bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn


class HasStates(Protocol):
    """Something that knows some states."""

    @property
    def n_states(self) -> int:
        """How many."""


Advance = Callable[[HasStates], None]

PLAIN_LINES = 10  # lines in all where there is no terminal, or more if it takes long:
PLAIN_SECONDS = 30.0  # at least one in this time
BAR_SECONDS = 0.2  # between two moves of the bar
NARROW = 60  # columns of a terminal, below which only figures are shown


class QuietStderr:
    """Standard error for progress: what cannot be written is left out.

    The stream may be closed, on a full disk, a pipe without a reader, None, or anything that a
    program put there; none of this is a reason to stop learning.
    """

    def __init__(self) -> None:
        """The standard error of this moment; rich puts another there while its bar is shown."""
        self._stream = sys.stderr

    def write(self, text: str) -> int:
        """Write, if possible."""
        with contextlib.suppress(Exception):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush, if possible."""
        with contextlib.suppress(Exception):
            self._stream.flush()

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        with contextlib.suppress(Exception):
            return bool(self._stream.isatty())
        return False

    @property
    def encoding(self) -> str:
        """That of the stream."""
        return getattr(self._stream, "encoding", None) or "utf-8"

    def as_file(self) -> IO[str]:
        """The same, for functions that want a file and use no more of it than this."""
        return cast("IO[str]", self)


def write_line(line: str) -> None:
    """Write a line to standard error, if possible."""
    stream = QuietStderr()
    stream.write(f"{line}\n")
    stream.flush()


@contextlib.contextmanager
def progress(n_steps: int, wanted: bool) -> Iterator[Advance | None]:
    """Yields a function to call after every step with the agent; None if it is not wanted."""
    if not wanted:
        yield None
    elif QuietStderr().isatty():
        with _bar(n_steps) as advance:
            yield advance
    else:
        yield _plain(n_steps)


def on_terminal(*columns: ProgressColumn, vanishes: bool = False) -> Progress:
    """rich's bar of these columns on standard error; one that `vanishes` is gone when it ends."""
    from rich.console import Console
    from rich.progress import Progress

    # A closed standard output stays closed: rich would leave one of its own in its place.
    redirects = sys.stdout is not None
    console = Console(file=QuietStderr().as_file())
    return Progress(*columns, console=console, transient=vanishes, redirect_stdout=redirects)


@contextlib.contextmanager
def _bar(n_steps: int) -> Iterator[Advance]:
    # Imported here: `import tgm` should not cost a terminal library.
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        SpinnerColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    is_narrow = shutil.get_terminal_size().columns < NARROW
    columns = (
        SpinnerColumn(),  # it moves while a single step takes long
        *(() if is_narrow else (TextColumn("learning"), BarColumn())),
        MofNCompleteColumn(),
        TextColumn("{task.fields[states]} states"),
        TimeRemainingColumn(),
    )
    with on_terminal(*columns) as bar:
        task = bar.add_task("learn", total=n_steps, states=0)
        done, moved_at = 0, 0.0

        def advance(agent: HasStates) -> None:
            nonlocal done, moved_at
            done += 1
            now = time.monotonic()
            if now - moved_at >= BAR_SECONDS or done == n_steps:
                moved_at = now
                bar.update(task, completed=done, states=agent.n_states)

        yield advance


def _plain(n_steps: int) -> Advance:
    done, written_at = 0, time.monotonic()
    every = max(1, n_steps // PLAIN_LINES)

    def advance(agent: HasStates) -> None:
        nonlocal done, written_at
        done += 1
        if done % every == 0 or time.monotonic() - written_at >= PLAIN_SECONDS:
            written_at = time.monotonic()
            write_line(f"learning: step {done} of {n_steps}, {agent.n_states} states")

    return advance
