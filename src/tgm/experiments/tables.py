"""Small tools of all trials: runs side by side, and tables in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


def run_all(work: Callable[[Task], Result], tasks: Iterable[Task], jobs: int) -> list[Result]:
    """The results in the order of the tasks, whatever the number of processes."""
    if jobs == 1:
        return [work(task) for task in tasks]
    with ProcessPoolExecutor(jobs) as pool:
        return list(pool.map(work, tasks))


def print_table(rows: Sequence[dict[str, Any]]) -> None:
    """A Markdown table of rows with the same keys."""
    print("| " + " | ".join(rows[0]) + " |")
    print("|" + "---|" * len(rows[0]))
    for row in rows:
        cells = ("never" if value is None else f"{value}" for value in row.values())
        print("| " + " | ".join(cells) + " |", flush=True)
