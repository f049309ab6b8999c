"""From trials to a table of variants and mazes."""

from __future__ import annotations

from collections.abc import Sequence

from tgm.experiments.ablation.sweep import VARIANTS
from tgm.experiments.harness.tables import grouped, markdown, median
from tgm.experiments.harness.trial import Trial, TrialResult

Results = Sequence[tuple[Trial, TrialResult]]

HEADER = "Solved / runs, median step of solving, runs with exact structure.\n\n"


def report(results: Results) -> str:
    """The table: one row for each variant, one column for each maze."""
    names = {tuple(sorted(settings.items())): name for name, settings in VARIANTS.items()}
    rows = []
    for settings, group in grouped(results, lambda pair: pair[0].settings).items():
        by_maze = grouped(group, lambda pair: pair[0].maze.name)
        cells = {maze: cell([result for _, result in pairs]) for maze, pairs in by_maze.items()}
        rows.append({"variant": names[settings], **cells})
    return HEADER + markdown(rows)


def cell(results: Sequence[TrialResult]) -> str:
    """Solved, median step and exact, in few characters."""
    solved = [result.solved_at for result in results if result.solved_at is not None]
    exact = sum(bool(result.is_exact) for result in results)
    middle = median(solved)
    when = "never" if middle is None else f"{middle:.0f}"
    return f"{len(solved)}/{len(results)}, {when}, {exact}"
