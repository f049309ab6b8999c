"""From trials to a table with one row for each seed."""

from __future__ import annotations

from collections.abc import Sequence

from tgm.experiments.harness.tables import markdown
from tgm.experiments.long_run.sweep import LongResult, LongTrial


def report(results: Sequence[tuple[LongTrial, LongResult]]) -> str:
    """The table."""
    return markdown(
        [
            {
                "seed": trial.seed,
                "steps": result.steps,
                "checks with a state lost": result.lost,
                "checks with a state doubled": result.doubled,
                "points kept": result.kept,
                "us per step, first tenth": result.microseconds[0],
                "us per step, last tenth": result.microseconds[-1],
            }
            for trial, result in results
        ]
    )
