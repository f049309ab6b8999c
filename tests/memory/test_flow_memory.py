"""The memory of a world that flows: what it keeps when it is full."""

import numpy as np
import pytest

from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.memory.flow_memory import FlowMemory


def test_the_starts_of_the_newest_64_episodes_are_kept():
    memory = FlowMemory(1)
    for episode in range(100):
        memory.begin(np.array([float(episode)]))
    assert [start.item() for start in memory.starts] == list(range(36, 100))


def test_plans_are_imagined_from_the_newest_starts_and_from_recent_places():
    memory = FlowMemory(1)
    for step in range(1000):
        if step % 20 == 0:
            memory.begin(np.array([-float(step)]))
        memory.add(np.array([float(step)]), 0, 0.0, np.zeros(1), ended=False)
    places = memory.places()[:, 0]
    assert places[:16].tolist() == list(range(-680, -981, -20))
    assert places[16:].tolist() == list(range(520, 1000, 60))


def test_a_full_memory_keeps_half_of_its_steps_and_not_only_ends():
    """Of 8000 steps every second ends an episode; 4000 are left, a quarter for the newest ends."""
    memory = FlowMemory(1)
    for step in range(8000):
        memory.add(np.array([float(step)]), 0, 0.0, np.zeros(1), ended=step % 2 == 0)
        if step == 7998:
            assert memory.all_learned() == 0
    assert memory.all_learned() == 4000
    kept = memory.steps()
    assert len(memory) == len(kept.action) == 4000
    times = kept.departure[:, 0]
    assert (np.diff(times) > 0.0).all()
    newest_ends = np.arange(6000, 8000, 2)  # a quarter of those that are left
    assert np.isin(newest_ends, times).all()
    assert 1500 < np.sum(~kept.ended) < 2000
    assert times[0] < 5.0  # the others are spread evenly over all time
    assert np.diff(times).max() < 10.0


def three_steps() -> FlowMemory:
    memory = FlowMemory(2)
    memory.begin(np.array([1.0, 2.0]))
    for step in range(3):
        place = np.array([float(step), -1.0])
        memory.add(place, step % 2, 0.5 * step, place + 1.0, ended=step == 2)
    return memory


def test_new_steps_are_counted_until_they_are_learned():
    memory = three_steps()
    assert memory.n_new == len(memory) == 3
    assert memory.all_learned() == 0
    assert (memory.n_new, len(memory)) == (0, 3)
    memory.add(np.zeros(2), 0, 0.0, np.zeros(2), ended=False)
    assert memory.n_new == 1


def test_what_was_given_may_change_later():
    memory, place = FlowMemory(1), np.zeros(1)
    memory.begin(place)
    memory.add(place, 0, 0.0, place, ended=False)
    place += 9.0
    assert memory.starts[0].item() == memory.steps().departure.item() == 0.0


def test_steps_keep_their_order_when_memory_grows():
    memory = FlowMemory(1)
    for step in range(200):
        memory.add(np.array([float(step)]), step % 3, -step, np.array([step + 0.5]), ended=False)
    steps = memory.steps()
    assert steps.departure.ravel().tolist() == list(range(200))
    np.testing.assert_array_equal(steps.arrival.ravel(), np.arange(200) + 0.5)
    np.testing.assert_array_equal(steps.action, np.arange(200) % 3)
    np.testing.assert_array_equal(steps.reward, -np.arange(200))


def test_a_memory_survives_a_file_and_goes_on():
    memory, copy = three_steps(), FlowMemory(2)
    memory.all_learned()
    memory.add(np.zeros(2), 1, 7.0, np.ones(2), ended=False)
    copy.restore(ArrayReader(memory.to_arrays()), 2)
    assert copy.n_new == 1
    for one in (memory, copy):
        one.add(np.ones(2), 0, 8.0, np.zeros(2), ended=True)
    for ours, theirs in zip(memory.steps(), copy.steps(), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert [start.tolist() for start in copy.starts] == [[1.0, 2.0]]
    empty = FlowMemory(2)
    empty.restore(ArrayReader(FlowMemory(2).to_arrays()), 2)
    empty.add(np.ones(2), 0, 8.0, np.zeros(2), ended=True)
    assert len(empty) == 1


def test_a_file_with_an_action_that_is_none_is_refused():
    with pytest.raises(DataError, match="action"):
        FlowMemory(2).restore(ArrayReader(three_steps().to_arrays()), 1)


def test_steps_that_were_not_learned_can_be_let_go():
    memory = FlowMemory(1)
    for step in range(30):
        if step == 20:
            memory.all_learned()
        memory.add(np.array([float(step)]), 0, 0.0, np.zeros(1), ended=False)
    assert memory.let_new_go() == 10
    assert memory.steps().departure[:, 0].tolist() == list(range(20))
    assert memory.let_new_go() == 0
    memory.add(np.array([50.0]), 0, 0.0, np.zeros(1), ended=False)
    assert memory.steps().departure[-1].item() == 50.0
    assert memory.n_new == 1
