"""Greedy: one of the best actions, as far as is known."""

from __future__ import annotations

import numpy as np

from tgm.distributions import FloatArray
from tgm.planning.exploration.strategy import ExplorationStrategy, draw


def greedy(values: FloatArray) -> FloatArray:
    """All probability on the best actions, shared evenly between ties. values: (n_actions,)."""
    best = values == values.max()
    return np.asarray(best / best.sum())


class Greedy(ExplorationStrategy):
    """Never explores on purpose: the baseline for the other strategies."""

    def choose(self, values: FloatArray, n_steps: int, rng: np.random.Generator) -> int:
        """One of the best actions; ties are drawn."""
        return draw(greedy(values), rng)
