"""Helpers of the strategies: expected values, and a draw."""

import numpy as np
import pytest

from tgm.planning.exploration.strategy import draw, expected_values


class Fixed:
    """A generator whose next number is known."""

    def __init__(self, number: float) -> None:
        self.number = number

    def random(self) -> float:
        return self.number


def test_expected_values_by_hand():
    table = np.array([[1.0, 2.0], [5.0, 6.0]])
    assert expected_values(table, []).tolist() == [0, 0]
    assert expected_values(table, [(1, 1.0)]).tolist() == [5, 6]
    assert expected_values(table, [(0, 0.25), (1, 0.75)]).tolist() == [4, 5]


@pytest.mark.parametrize(("number", "action"), [(0.0, 1), (0.24, 1), (0.26, 2), (0.99, 2)])
def test_an_action_is_drawn_by_its_probability(number, action):
    assert draw(np.array([0.0, 0.25, 0.75]), Fixed(number)) == action


def test_probabilities_that_sum_to_less_than_one_by_rounding_give_the_last_action():
    tenths = np.full(10, 0.1)
    assert np.cumsum(tenths)[-1] < 1
    assert draw(tenths, Fixed(float(np.nextafter(1.0, 0.0)))) == 9
