"""The symbols that clones are of: the states of an ordinary learner."""

import numpy as np

from tgm.learners.step_info import StepInfo
from tgm.learners.symbols import symbol_of, symbols_of
from tgm.transition.automaton import END


class Reader:
    """Two states, 7 at zero and 9 at one; or none."""

    def __init__(self, *names: int) -> None:
        self.state_ids = np.array(names, dtype=int)

    def belief(self, observations):
        near = np.clip(observations[:, 0], 0.0, 1.0)
        return np.column_stack([1.0 - near, near])


POINTS = np.array([[0.1], [0.9]])


def test_a_point_has_the_name_of_its_likeliest_state():
    assert symbols_of(POINTS, Reader(7, 9)).tolist() == [7, 9]
    assert symbols_of(POINTS, Reader()).tolist() == [0, 0]  # before there is a state


def test_what_the_learner_said_comes_first_and_an_end_before_all():
    reader = Reader(7, 9)
    assert symbol_of(StepInfo(3), POINTS[1], reader) == 3
    assert symbol_of(StepInfo(), POINTS[1], reader) == 9
    assert symbol_of(StepInfo(3), POINTS[1], reader, True) == END


def test_a_state_at_the_edge_of_another_one_is_left_without_points():
    """Most of the points at 0.6 are of state 7, of which there are so many."""
    points = np.array([[0.1]] * 40 + [[0.6]] * 3)
    assert symbols_of(points, Reader(7, 9)).tolist() == [7] * 43
    assert symbols_of(np.array([[0.1]] * 40 + [[0.999]]), Reader(7, 9)).tolist() == [7] * 40 + [9]
    assert symbols_of(np.array([[0.6]]), Reader(7, 9)).tolist() == [9]


def test_a_state_may_shrink_more_than_once():
    """With 5 of 12 points the second state keeps those at 0.9, with 4 of them not those at 0.7."""
    points = np.array([[0.0]] * 7 + [[0.55]] + [[0.6]] * 2 + [[0.7]] * 2)
    assert symbols_of(points, Reader(7, 9)).tolist() == [7] * 12
