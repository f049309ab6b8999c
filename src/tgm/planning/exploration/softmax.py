"""Softmax: the more an action is worth, the more often it is tried."""

from __future__ import annotations

import numpy as np

from tgm.distributions import FloatArray
from tgm.planning.exploration.strategy import ExplorationStrategy, draw


def softmax(values: FloatArray, temperature: float) -> FloatArray:
    """Probabilities proportional to exp(value / temperature). values: (n_actions,)."""
    weights = np.exp((values - values.max()) / temperature)
    return np.asarray(weights / weights.sum())


class Softmax(ExplorationStrategy):
    """Boltzmann exploration with a constant temperature."""

    def choose(self, values: FloatArray, n_steps: int, rng: np.random.Generator) -> int:
        """Draw with probabilities proportional to exp(value / temperature)."""
        return draw(softmax(values, self.settings.temperature), rng)
