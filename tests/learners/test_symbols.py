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
