"""From trials to a table with one row for each level of noise, with and without filtering."""

from __future__ import annotations

from collections.abc import Sequence
from math import erf, sqrt

import numpy as np

from tgm.envs import Maze
from tgm.experiments.harness.tables import count, grouped, markdown
from tgm.experiments.harness.trial import Trial, TrialResult

Results = Sequence[tuple[Trial, TrialResult]]


def report(results: Results) -> str:
    """The table."""
    rows = []
    levels = grouped(results, lambda pair: (pair[0].noise, dict(pair[0].settings)["filtering"]))
    for (noise, filtering), pairs in levels.items():
        group = [result for _, result in pairs]
        rows.append(
            {
                "noise": noise,
                "best possible error": f"{best_possible_error(pairs[0][0].maze, noise):.2%}",
                "filtering": "yes" if filtering else "no",
                "solved at the end": count([result.solved_at is not None for result in group]),
                "exact": count([result.is_exact for result in group]),
                "mean return": round(float(np.mean([r.final_return for r in group])), 2),
                "states, median": float(np.median([r.n_states or 0 for r in group])),
            }
        )
    return markdown(rows)


def best_possible_error(maze: Maze, noise: float) -> float:
    """Share of single observations that the best classifier gives to a wrong cell.

    It knows the cells, all equally likely, and chooses the nearest: an error in x or y happens on
    each side that has a neighbour, beyond half the distance to it.
    """
    beyond = 0.5 * (1.0 - erf(0.5 / (noise * sqrt(2.0))))
    cells = set(maze.cells)
    wrong = []
    for x, y in maze.cells:
        right_x = 1.0 - beyond * ((x - 1, y) in cells) - beyond * ((x + 1, y) in cells)
        right_y = 1.0 - beyond * ((x, y - 1) in cells) - beyond * ((x, y + 1) in cells)
        wrong.append(1.0 - right_x * right_y)
    return float(np.mean(wrong))
