"""The table of a campaign: what was tried, what survived, what was lost."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from tgm.errors import RunError

SHOWN = 30  # losses that are told in full


@dataclass
class Tally:
    """One line of the table."""

    promise: str
    tried: int = 0
    lost: list[str] = field(default_factory=list)

    @contextlib.contextmanager
    def trial(self, what: str) -> Iterator[None]:
        """One trial: whatever it raises is a loss, and the campaign goes on."""
        self.tried += 1
        try:
            yield
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{where.filename.rpartition('/')[2]}:{where.lineno}"
            self.lost.append(f"{what}: {type(error).__name__}: {error} ({place})")


def complaint(work: Callable[[], object]) -> str:
    """What a call complains about with a RunError, which is one line; empty if it does not."""
    try:
        work()
    except RunError as error:
        text = str(error)
        if "\n" in text:
            raise AssertionError(f"a complaint of several lines: {text!r}") from error
        return text
    return ""


def report(tallies: Iterable[Tally]) -> int:
    """Print the table and the first losses; the exit code."""
    tallies = list(tallies)
    width = max(len(tally.promise) for tally in tallies)
    print(f"| {'promise'.ljust(width)} |  tried | survived | lost |")
    print(f"|{'-' * (width + 2)}|-------:|---------:|-----:|")
    for tally in tallies:
        n_lost = len(tally.lost)
        numbers = f"{tally.tried:>6} | {tally.tried - n_lost:>8} | {n_lost:>4}"
        print(f"| {tally.promise.ljust(width)} | {numbers} |")
    for tally in tallies:
        for loss in tally.lost[:SHOWN]:
            print(f"\n{tally.promise}\n  {loss}")
    return int(any(tally.lost for tally in tallies))
