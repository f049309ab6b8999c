"""Epsilon-greedy: probabilities and the published schedule by hand."""

import math

import numpy as np
import pytest
from tests.planning.worlds import new_strategy

from tgm.planning import epsilon_greedy, published_epsilon

VALUES = np.array([0.0, 1.0, 0.0, 0.0])


def test_probabilities_by_hand():
    assert epsilon_greedy(VALUES, epsilon=0.2) == pytest.approx([0.05, 0.85, 0.05, 0.05])


def test_the_published_schedule():
    assert published_epsilon(0, 2000) == 1.0
    assert published_epsilon(5000, 2000) == pytest.approx(math.exp(-2.5))


def test_it_explores_less_as_steps_go_by():
    strategy, rng = new_strategy("epsilon_greedy", epsilon_decay=100.0), np.random.default_rng(0)

    def share_of_best(n_steps):
        return np.mean([strategy.choose(VALUES, n_steps, rng) == 1 for _ in range(2000)])

    # 1/4 of epsilon, and all the rest; a standard deviation is about 0.01.
    assert share_of_best(0) == pytest.approx(0.25, abs=0.04)
    assert share_of_best(100) == pytest.approx(1 - 0.75 / math.e, abs=0.04)
