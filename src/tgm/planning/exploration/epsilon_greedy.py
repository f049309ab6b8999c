"""Epsilon-greedy: sometimes any action, with the published schedule."""

from __future__ import annotations

import numpy as np

from tgm.distributions import FloatArray
from tgm.planning.exploration.greedy import greedy
from tgm.planning.exploration.strategy import ExplorationStrategy, draw


def epsilon_greedy(values: FloatArray, epsilon: float) -> FloatArray:
    """Any action with probability epsilon, a best one otherwise. values: (n_actions,)."""
    return epsilon / len(values) + (1.0 - epsilon) * greedy(values)


def published_epsilon(step: int, decay: float) -> float:
    """exp(-t / decay), the schedule of the paper's experiments (decay 2000)."""
    return float(np.exp(-step / decay))


class EpsilonGreedy(ExplorationStrategy):
    """The strategy of the paper's experiments."""

    def choose(self, values: FloatArray, n_steps: int, rng: np.random.Generator) -> int:
        """Any action with probability exp(-n_steps / epsilon_decay), a best one otherwise."""
        epsilon = published_epsilon(n_steps, self.settings.epsilon_decay)
        return draw(epsilon_greedy(values, epsilon), rng)
