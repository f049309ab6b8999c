"""Events are kept as they were, whatever becomes of the array that they came in."""

import numpy as np
import pytest

from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.learners.events import Event, events_from_arrays, events_to_arrays


def test_an_event_that_is_kept_does_not_change_with_the_array_of_the_observation():
    observation = np.array([1.0, 2.0])
    kept = Event(observation, 3, -1.0, True).kept()
    observation[:] = 9.0
    assert kept.point.tolist() == [1.0, 2.0]
    assert (kept.action, kept.reward, kept.terminated) == (3, -1.0, True)


class Told:
    """Notes what it is shown."""

    def begin(self, observation):
        return ("begin", observation.tolist())

    def observe(self, action, reward, observation, *, terminated):
        return ("observe", action, reward, observation.tolist(), terminated)


EVENTS = [
    Event(np.array([1.0, 2.0])),
    Event(np.array([3.0, 4.0]), 0, -1.0),
    Event(np.array([5.0, 6.0]), 2, 0.5, True),
]


def test_an_event_without_an_action_begins_an_episode():
    assert EVENTS[0].show(Told()) == ("begin", [1.0, 2.0])
    assert EVENTS[1].show(Told()) == ("observe", 0, -1.0, [3.0, 4.0], False)
    assert EVENTS[2].show(Told()) == ("observe", 2, 0.5, [5.0, 6.0], True)


def test_events_survive_a_file():
    arrays = events_to_arrays(EVENTS, 2)
    again = events_from_arrays(ArrayReader(arrays), 2, 3)
    assert [event.show(Told()) for event in again] == [event.show(Told()) for event in EVENTS]
    assert events_from_arrays(ArrayReader(events_to_arrays([], 2)), 2, 3) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [("action", 3), ("action", -2), ("reward", np.nan), ("point", 1e10), ("point", np.inf)],
)
def test_events_that_were_changed_are_refused(name, value):
    arrays = events_to_arrays(EVENTS, 2)
    arrays[name] = np.full_like(arrays[name], value)
    with pytest.raises(DataError):
        events_from_arrays(ArrayReader(arrays), 2, 3, 1e9)


def test_an_event_without_more_is_the_start_of_an_episode():
    event = Event(np.zeros(2))
    assert (event.action, event.reward, event.terminated) == (None, 0.0, False)
