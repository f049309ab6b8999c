"""Signs of progress on standard error, where it is not known how long something takes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

from tgm.agent.progress import QuietStderr, on_terminal


@contextlib.contextmanager
def busy(what: str) -> Iterator[None]:
    """Within this context a terminal shows that `what` goes on, and for how long."""
    if not QuietStderr().isatty():
        yield
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with on_terminal(*columns, vanishes=True) as bar:
        bar.add_task(what, total=None)
        yield
