"""Greedy: probabilities by hand, and values that are the planner's."""

import numpy as np
from tests.planning.worlds import corridor, new_strategy

from tgm.planning import greedy


def test_ties_share_the_probability():
    assert greedy(np.array([1.0, 3.0, 3.0])).tolist() == [0, 0.5, 0.5]


def test_only_best_actions_are_taken():
    strategy, rng = new_strategy("greedy"), np.random.default_rng(0)
    values = np.array([1.0, 3.0, 3.0])
    assert {strategy.choose(values, 0, rng) for _ in range(100)} == {1, 2}


def test_the_values_are_those_of_the_greedy_policy():
    _, planner = corridor()
    rng, alive = np.random.default_rng(0), np.arange(4)
    values = new_strategy("greedy").values(planner, [(3, 1.0)], alive, 0, rng)
    np.testing.assert_array_equal(values, planner.greedy_values(alive)[3])
