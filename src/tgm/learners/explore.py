"""From action values to an action, by the strategy that the settings name."""

from __future__ import annotations

import numpy as np

from tgm.config import TGMConfig
from tgm.distributions import FloatArray
from tgm.planning.exploration import epsilon_greedy, greedy, published_epsilon, softmax


def explore(config: TGMConfig, values: FloatArray, n_steps: int, rng: np.random.Generator) -> int:
    """The index of the action to try; values are (n_actions,)."""
    if config.exploration == "epsilon_greedy":
        epsilon = published_epsilon(n_steps, config.epsilon_decay)
        return draw(epsilon_greedy(values, epsilon), rng)
    if config.exploration == "softmax":
        return draw(softmax(values, config.temperature), rng)
    return draw(greedy(values), rng)


def draw(probabilities: FloatArray, rng: np.random.Generator) -> int:
    """One action, drawn from probabilities (n_actions,)."""
    chosen = np.searchsorted(np.cumsum(probabilities), rng.random(), side="right")
    return min(int(chosen), len(probabilities) - 1)
