"""From fits to the table of docs/equations.md."""

from __future__ import annotations

from collections.abc import Sequence

from tgm.envs import load_maze
from tgm.experiments.dimension_erratum.sweep import FitTrial, Outcome
from tgm.experiments.harness.tables import markdown


def report(results: Sequence[tuple[FitTrial, Outcome]]) -> str:
    """The table, and a line that counts."""
    rows = [
        {
            "seed": trial.seed,
            "clusters proposed": result.proposed,
            "left with K, as printed": result.left_with_count,
            "left with O": result.left_with_dimension,
        }
        for trial, result in results
    ]
    cells = len(load_maze(results[0][0].maze).cells)
    collapsed = sum(result.left_with_count < result.proposed for _, result in results)
    kept = sum(result.left_with_dimension == cells for _, result in results)
    n = len(results)
    return markdown(rows) + (
        f"\nK: {collapsed} of {n} fits lost components; O: {kept} of {n} kept all {cells}.\n"
    )
