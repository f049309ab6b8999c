"""From trials to a table with one row for each maze and unit."""

from __future__ import annotations

from collections.abc import Sequence

from tgm.experiments.harness.tables import count, grouped, markdown, median
from tgm.experiments.harness.trial import Trial, TrialResult
from tgm.experiments.solving.sweep import GOALS
from tgm.experiments.units.sweep import UNITS

Results = Sequence[tuple[Trial, TrialResult]]


def report(results: Results) -> str:
    """The table."""
    names = {unit: name for name, unit in UNITS.items()}
    rows = []
    groups = grouped(results, lambda pair: (pair[0].maze.name, pair[0].scale, pair[0].shift))
    for (maze, *unit), pairs in groups.items():
        group = [result for _, result in pairs]
        solved = [result.solved_at for result in group if result.solved_at is not None]
        steps = sum(trial.steps for trial, _ in pairs)
        rows.append(
            {
                "maze": maze,
                "observations": names[unit[0], unit[1]],
                "solved": count([result.solved_at is not None for result in group]),
                "median": median(solved),
                "worst": max(solved) if len(solved) == len(group) else None,
                "1.5 x the goal": round(1.5 * GOALS[maze]) if maze in GOALS else None,
                "exact": count([result.is_exact for result in group]),
                "us per step": round(1e6 * sum(result.seconds for result in group) / steps),
            }
        )
    return markdown(rows)
