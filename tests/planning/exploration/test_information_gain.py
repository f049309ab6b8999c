"""Information gain: a bonus for rows that were tried seldom."""

import numpy as np
import pytest
from tests.planning.worlds import corridor, make, new_strategy, swept

from tgm.transition.information import expected_information_gain

RNG = np.random.default_rng(0)


def test_of_two_equal_actions_the_less_tried_is_preferred():
    model, planner = make(3)
    planner.see_reward(-1.0)
    planner.see_reward(0.0)
    for state in range(3):
        model.add(state, 0, (state + 1) % 3, 100.0, -1.0, 0.0)
        model.add(state, 1, (state + 1) % 3, 1.0 if state == 0 else 100.0, -1.0, 0.0)
    values = new_strategy("information_gain").values(planner, [(0, 1.0)], np.arange(3), 0, RNG)
    assert values[1] > values[0]


def test_the_bonus_is_the_gain_in_ranges_of_reward():
    model, planner = corridor(tries=2.0)
    planner.see_reward(3.0)  # the range is 4
    new_strategy("information_gain", row_prior=0.7).values(
        planner, [(0, 1.0)], np.arange(4), 0, RNG
    )
    gain = expected_information_gain(model, 4, 0.7)
    assert planner.sweeper.bonus[:4] == pytest.approx(4 * gain)


def test_unknown_rows_have_the_highest_value():
    _, planner = corridor()
    values = swept(new_strategy("information_gain"), planner, 4)
    assert values[3, 1] == planner.highest == values.max()


def test_the_values_follow_the_bonus_as_rows_are_tried():
    model, planner = corridor(tries=2.0)
    model.add(3, 1, 3, 2.0, -1.0, 0.0)
    strategy = new_strategy("information_gain")
    before = swept(strategy, planner, 4)
    for state in range(4):
        model.add(state, 0, max(state - 1, 0), 50.0, -1.0, 0.0)  # as ever: no row has changed
    planner.forget_certainty()
    after = swept(strategy, planner, 4)
    assert (after[:, 0] < before[:, 0]).all()
