"""Posterior sampling: one world for each episode."""

import numpy as np
from tests.planning.worlds import corridor, make, new_strategy

ALIVE = np.arange(4)


def values_of(strategy, planner, rng, state=2):
    return strategy.values(planner, [(state, 1.0)], ALIVE, 0, rng)


def test_a_sample_is_kept_for_an_episode():
    model, planner = corridor()
    strategy, rng = new_strategy("posterior_sampling"), np.random.default_rng(0)
    strategy.begin_episode()
    first = values_of(strategy, planner, rng)
    model.add(2, 0, 1, 5.0, -1.0, 0.0)  # what is learned in the episode does not change it
    np.testing.assert_array_equal(first, values_of(strategy, planner, rng))
    strategy.begin_episode()
    assert not np.array_equal(first, values_of(strategy, planner, rng))


def test_an_untried_row_has_the_highest_value():
    _, planner = corridor()
    values = values_of(new_strategy("posterior_sampling"), planner, np.random.default_rng(0), 3)
    assert values[1] == planner.highest


def test_of_two_equal_actions_the_less_tried_is_preferred():
    model, planner = make(3)
    planner.see_reward(-1.0)
    planner.see_reward(0.0)
    for state in range(3):
        model.add(state, 0, (state + 1) % 3, 100.0, -1.0, 0.0)
        model.add(state, 1, (state + 1) % 3, 1.0 if state == 0 else 100.0, -1.0, 0.0)
    strategy, rng, preferred = new_strategy("posterior_sampling"), np.random.default_rng(0), 0
    for _ in range(30):
        strategy.begin_episode()
        values = strategy.values(planner, [(0, 1.0)], np.arange(3), 0, rng)
        preferred += bool(values[1] > values[0])
    assert preferred > 25


def test_what_a_row_has_not_shown_may_be_as_good_as_the_best_known():
    model, planner = make(2)
    for reward in (0.0, 1.0):
        planner.see_reward(reward)
    for action in range(2):
        model.add(0, action, 0, 1.0, 0.0, 0.0)  # nothing leads to state 1, as far as is known
        model.add(1, action, 1, 500.0, 1.0, 0.0)  # which is worth 10
    strategy, rng, drawn = new_strategy("posterior_sampling"), np.random.default_rng(0), []
    for _ in range(40):
        strategy.begin_episode()
        drawn.append(strategy.values(planner, [(0, 1.0)], np.arange(2), 10, rng).max())
    assert all(0 <= value <= 10.01 for value in drawn)
    assert np.mean(drawn) > 2
    # The more often it was tried, the less there is left.
    for action in range(2):
        model.add(0, action, 0, 500.0, 0.0, 0.0)
    strategy.begin_episode()
    assert strategy.values(planner, [(0, 1.0)], np.arange(2), 10, rng).max() < 1
