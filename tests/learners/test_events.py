"""Events are kept as they were, whatever becomes of the array that they came in."""

import numpy as np

from tgm.learners.events import Event


def test_an_event_that_is_kept_does_not_change_with_the_array_of_the_observation():
    observation = np.array([1.0, 2.0])
    kept = Event(observation, 3, -1.0, True).kept()
    observation[:] = 9.0
    assert kept.point.tolist() == [1.0, 2.0]
    assert (kept.action, kept.reward, kept.terminated) == (3, -1.0, True)
