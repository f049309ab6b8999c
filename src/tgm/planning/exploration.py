"""From action values to the probabilities of actions."""

from __future__ import annotations

import numpy as np

from tgm.distributions import FloatArray


def greedy(values: FloatArray) -> FloatArray:
    """All probability on the best actions, shared evenly between ties. values: (n_actions,)."""
    best = values == values.max()
    return np.asarray(best / best.sum())


def epsilon_greedy(values: FloatArray, epsilon: float) -> FloatArray:
    """Any action with probability epsilon, a best one otherwise. values: (n_actions,)."""
    return epsilon / len(values) + (1.0 - epsilon) * greedy(values)


def softmax(values: FloatArray, temperature: float) -> FloatArray:
    """Probabilities proportional to exp(value / temperature). values: (n_actions,)."""
    weights = np.exp((values - values.max()) / temperature)
    return np.asarray(weights / weights.sum())


def published_epsilon(step: int, decay: float) -> float:
    """exp(-t / decay), the schedule of the paper's experiments (decay 2000)."""
    return float(np.exp(-step / decay))
