"""States keep their ids when another learner of the same events takes over."""

from types import SimpleNamespace

import numpy as np

from tgm.learners.state_names import labels_of, rename
from tgm.perception.observation_model import NO_STATE


def test_labels_are_numbers_from_zero_and_no_state_is_one_of_them():
    assert labels_of([7, 3, NO_STATE, 7]).tolist() == [2, 1, 0, 2]


def test_a_state_takes_the_id_that_most_of_its_events_had():
    states = SimpleNamespace(ids=np.array([0, 1, 2, -1]), alive=np.array([0, 1, 2]), next_id=3)
    learner = SimpleNamespace(world=SimpleNamespace(states=states))
    # State 4 of the new learner is gone again, and 8 was the id of a state that was given up.
    names, old = [0, 0, 1, 1, 2, 4], [5, 5, 5, 7, NO_STATE, 8]
    assert rename(learner, names, old, next_id=9) == [5, 5, 7, 7, 9, 10]
    assert states.ids.tolist() == [5, 7, 9, -1]
    assert states.next_id == 11
