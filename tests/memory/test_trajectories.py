"""Kept points by hand: what is a step, what is forgotten, what a file may hold."""

import numpy as np
import pytest

from tgm.errors import DataError
from tgm.memory.trajectories import NO_ACTION, Trajectories


def two_trials() -> Trajectories:
    """Points 0, 1, 2 with actions 5 and 6, then 3 and 4 with action 7; the second trial is open."""
    memory = Trajectories(1)
    memory.begin_trial(np.array([0.0]))
    memory.add_step(5, np.array([1.0]))
    memory.add_step(6, np.array([2.0]))
    memory.end_trial()
    memory.begin_trial(np.array([3.0]))
    memory.add_step(7, np.array([4.0]))
    return memory


def steps(memory: Trajectories) -> list[tuple[float, int, float]]:
    found, points = memory.transitions, memory.points[:, 0]
    return list(zip(points[found.before], found.actions.tolist(), points[found.after], strict=True))


def test_steps_are_between_neighbours_of_a_trial():
    memory = two_trials()
    assert len(memory) == 5
    assert memory.points.ravel().tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert memory.actions.tolist() == [5, 6, NO_ACTION, 7, NO_ACTION]
    assert memory.has_next.tolist() == [True, True, False, True, False]
    assert steps(memory) == [(0.0, 5, 1.0), (1.0, 6, 2.0), (3.0, 7, 4.0)]
    chosen = memory.transitions.where(np.array([False, True, True]))
    assert chosen.before.tolist() == [1, 3]
    assert chosen.actions.tolist() == [6, 7]
    assert chosen.after.tolist() == [2, 4]


def test_the_newest_is_open_until_its_trial_ends():
    memory = two_trials()
    assert memory.newest_is_open
    memory.end_trial()
    assert not memory.newest_is_open


def test_what_is_forgotten_takes_the_steps_to_and_from_it():
    memory = two_trials()
    memory.forget(np.array([False, True, False, False, False]))
    assert memory.points.ravel().tolist() == [0.0, 2.0, 3.0, 4.0]
    assert steps(memory) == [(3.0, 7, 4.0)]
    memory.add_step(8, np.array([9.0]))
    assert steps(memory) == [(3.0, 7, 4.0), (4.0, 8, 9.0)]
    memory.forget(np.array([True, False, False, False, False]))
    memory.end_trial()
    memory.begin_trial(np.array([10.0]))
    assert memory.actions.tolist() == [NO_ACTION, 7, 8, NO_ACTION, NO_ACTION]


def test_a_restored_memory_goes_on():
    memory = Trajectories(1)
    memory.restore(np.arange(3.0)[:, None], np.array([5, NO_ACTION, NO_ACTION]))
    assert steps(memory) == [(0.0, 5, 1.0)]
    assert not memory.newest_is_open
    memory.begin_trial(np.array([7.0]))
    for number in range(200):
        memory.add_step(6, np.array([8.0 + number]))
    assert len(memory) == 204
    assert steps(memory)[1:3] == [(7.0, 6, 8.0), (8.0, 6, 9.0)]


@pytest.mark.parametrize(
    ("points", "actions", "message"),
    [
        (np.zeros((3, 2)), [5, 5, -1], "kept points"),
        (np.zeros(3), [5, 5, -1], "kept points"),
        (np.zeros((3, 1)), [5, -1], "kept actions have shape"),
        (np.zeros((3, 1)), [5, -1, 5], "end with 5"),
    ],
)
def test_what_does_not_fit_is_refused(points, actions, message):
    with pytest.raises(DataError, match=message):
        Trajectories(1).restore(points, np.array(actions))


def test_nothing_may_be_restored():
    memory = Trajectories(1)
    memory.restore(np.zeros((0, 1)), np.zeros(0, dtype=int))
    assert len(memory) == len(memory.transitions.before) == 0
