"""From trials to a table with one row for each maze."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tgm.experiments.harness.tables import grouped, markdown, median
from tgm.experiments.harness.trial import Trial, TrialResult
from tgm.experiments.solving.sweep import GOALS

Results = Sequence[tuple[Trial, TrialResult]]


def report(results: Results) -> str:
    """The table."""
    by_maze = grouped(results, lambda pair: pair[0].maze.name)
    return markdown([summarise(group) for group in by_maze.values()])


def summarise(results: Results) -> dict[str, Any]:
    """The row of one maze."""
    maze = results[0][0].maze.name
    solved = sorted(result.solved_at for _, result in results if result.solved_at is not None)
    steps = sum(trial.steps for trial, _ in results)
    return {
        "maze": maze,
        "runs": len(results),
        "solved": len(solved),
        "median": median(solved),
        "worst": solved[-1] if len(solved) == len(results) else None,
        "goal": GOALS.get(maze),
        "exact": sum(bool(result.is_exact) for _, result in results),
        "steps_per_second": round(steps / sum(result.seconds for _, result in results)),
    }
