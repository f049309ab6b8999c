"""Kept steps: how many, under which names, and what happens to them when states change."""

import numpy as np
import pytest

from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.memory.step import Step, difference, relabel
from tgm.memory.step_memory import StepMemory
from tgm.perception.component_map import ComponentMap


def step(number: float, after: int = 0, before: int = 0) -> Step:
    """A step from one state to another."""
    return Step(
        departure=np.zeros(2),
        before=[(before, 1.0)],
        action=0,
        reward=-1.0,
        end=0.0,
        arrival=np.array([number, 0.0]),
        entries=[(before, after, 1.0)],
        after=[(after, 1.0)],
    )


def numbers(steps) -> list[int]:
    return [int(one.arrival[0]) for one in steps]


def test_only_the_newest_of_each_state_are_kept():
    memory = StepMemory(3)
    steps = [step(n, after=n % 2) for n in range(12)]
    for one, following in zip(steps, [*steps[1:], None], strict=True):
        one.next = following
        memory.keep(one, int(one.arrival[0]) % 2)
    assert len(memory) == memory.n_evicted == 6
    assert numbers(memory.into(0)) == [6, 8, 10]
    assert numbers(memory.into(1)) == [7, 9, 11]
    assert memory.into(2) == []
    assert all(one.kept_in is None for one in steps[:6])
    assert all(one.kept_in is not None for one in steps[6:])


def test_the_last_that_tells_of_an_action_is_kept():
    memory = StepMemory(3)
    for n in range(7):
        memory.keep(step(n, before=5 if n == 1 else 4), 0)
    assert numbers(memory.into(0)) == [1, 5, 6]
    # Through a file it goes on in the same way.
    other = StepMemory(3)
    other.restore(ArrayReader(memory.to_arrays(n_features=2)), n_features=2, n_actions=1, n_slots=6)
    for known in (memory, other):
        known.keep(step(7, before=4), 0)
        assert numbers(known.into(0)) == [1, 6, 7]
    # One more from there, and the first is not the last any more.
    memory.keep(step(8, before=5), 0)
    assert numbers(memory.into(0)) == [6, 7, 8]


def test_a_step_from_an_unknown_state_is_no_witness_of_a_known_one():
    memory = StepMemory(3)
    unknown = step(0)
    unknown.before = []
    for one in (unknown, step(1, before=1), step(2, before=2), step(3, before=2)):
        memory.keep(one, 0)
    assert numbers(memory.into(0)) == [0, 1, 3]


def test_a_forgotten_row_takes_only_its_own_entries():
    memory = StepMemory(3)
    one, other_action = step(0), step(1)
    one.before, one.entries, one.after = [(0, 0.7), (2, 0.3)], [(0, 1, 0.7), (2, 0, 0.3)], [(1, 1)]
    other_action.action = 1
    for kept in (one, other_action):
        memory.keep(kept, 1)
    memory.forget_row(0, 0)
    assert one.entries == [(2, 0, 0.3)]
    assert one.retracted
    assert other_action.entries == [(0, 0, 1.0)]
    assert not other_action.retracted


def test_if_each_is_the_last_the_oldest_makes_room():
    memory = StepMemory(2)
    for n in range(4):
        memory.keep(step(n, before=n), 0)
    assert numbers(memory.into(0)) == [2, 3]


def test_what_is_let_go_holds_on_to_nothing():
    memory = StepMemory(1)
    old, middle, last = step(0, after=0), step(1, after=1), step(2, after=1)
    old.next, middle.next = middle, last
    for one in (old, middle, last):
        memory.keep(one, one.after[0][0])
    assert middle.kept_in is None
    assert middle.next is None


def test_steps_are_found_by_the_states_they_name():
    memory = StepMemory(3)
    steps = [step(0, before=0, after=1), step(1, before=1, after=2), step(2, before=0, after=2)]
    steps[2].entries.append((3, 2, 0.1))
    for one in steps:
        memory.keep(one, one.after[0][0])
    assert numbers(memory.steps_naming(0)) == [0, 2]
    assert numbers(memory.steps_naming(1)) == [0, 1]
    assert numbers(memory.steps_naming(2)) == [1, 2]
    assert numbers(memory.steps_naming(3)) == [2]
    assert memory.steps_naming(4) == []
    memory.take_out(steps[0])
    assert numbers(memory.steps_naming(0)) == [2]
    assert numbers(memory.steps_naming(1)) == [1]


def test_a_step_names_the_states_of_both_beliefs_and_of_its_entries():
    one = step(0)
    one.before, one.entries, one.after = [(1, 0.6)], [(2, 3, 0.2)], [(4, 0.5), (5, 0.4)]
    memory = StepMemory(3)
    memory.keep(one, 4)
    assert one.names == {1, 2, 3, 4, 5}


@pytest.mark.parametrize(("entry", "after"), [((2, 3), 4), ((2, 4), 4), ((1, 3), 4)])
def test_a_step_names_what_it_counted_where_that_is_not_what_is_believed(entry, after):
    one = step(0)
    one.before, one.entries, one.after = [(1, 1.0)], [(*entry, 1.0)], [(after, 1.0)]
    memory = StepMemory(3)
    memory.keep(one, after)
    assert one.names == {1, *entry, after}


def test_steps_that_led_the_same_way_share_it():
    memory = StepMemory(9)
    steps = [step(n) for n in range(3)]
    steps[2].action = 7
    for one in steps:
        memory.keep(one, 0)
    assert steps[0].way is steps[1].way is not steps[2].way
    assert [one.way.n_steps for one in steps if one.way is not None] == [2, 2, 1]
    for one in steps:
        memory.take_out(one)
    assert not memory._ways
    assert [one.way for one in steps] == [None] * 3


def test_a_step_that_is_taken_out_is_gone():
    memory = StepMemory(3)
    steps = [step(n) for n in range(3)]
    for one in steps:
        memory.keep(one, 0)
    memory.take_out(steps[1])
    assert numbers(memory.into(0)) == [0, 2]
    assert steps[1].kept_in is None
    memory.take_out(steps[1])  # twice does no harm
    assert len(memory) == 2


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([(1, 1.0)], [(1, 1.0)], 0.0),
        ([(1, 1.0)], [(2, 1.0)], 1.0),
        ([(1, 0.7), (2, 0.3)], [(2, 0.5), (1, 0.5)], 0.2),
        ([(1, 0.6)], [], 0.3),
        ([(1, 0.6), (2, 0.4)], [(3, 0.4), (1, 0.6)], 0.4),
    ],
)
def test_the_difference_of_beliefs_by_hand(one, other, expected):
    assert difference(one, other) == pytest.approx(expected)
    assert difference(other, one) == pytest.approx(expected)


def test_relabel_by_hand():
    belief = [(0, 0.5), (1, 0.3), (2, 0.2)]
    # 1 becomes part of 0, 2 is shared out, 3 is not concerned.
    shares = {1: [(0, 1.0)], 2: [(2, 0.75), (5, 0.25)]}
    assert relabel(belief, shares) == [
        (0, pytest.approx(0.8)),
        (2, pytest.approx(0.15)),
        (5, pytest.approx(0.05)),
    ]
    assert relabel([(3, 0.9)], shares) == [(3, 0.9)]
    # What is gone is "none of the known"; next to nothing is nothing.
    assert relabel(belief, {0: []}) == [(1, 0.3), (2, 0.2)]
    assert relabel([(0, 1e-7)], {}) == []
    # The most likely comes first, also when that changes.
    assert relabel([(0, 0.6), (1, 0.4)], {0: [(2, 0.5), (3, 0.5)]})[0] == (1, 0.4)


def test_the_entries_of_a_step_follow_both_its_ends():
    one = step(0, before=0, after=1)
    one.entries = [(0, 1, 0.6), (2, 1, 0.3)]
    one.before, one.after = [(0, 0.7), (2, 0.3)], [(1, 0.9)]
    before = {0: [(0, 0.5), (4, 0.5)]}
    after = {1: [(1, 0.25), (4, 0.75)]}
    one.relabel(before, after)
    assert {(s, t): pytest.approx(w) for s, t, w in one.entries} == {
        (0, 1): 0.075,
        (0, 4): 0.225,
        (4, 1): 0.075,
        (4, 4): 0.225,
        (2, 1): 0.075,
        (2, 4): 0.225,
    }
    assert one.before == [(0, 0.35), (4, 0.35), (2, 0.3)]
    assert one.after == [(4, pytest.approx(0.675)), (1, pytest.approx(0.225))]


def filled() -> tuple[StepMemory, list[Step]]:
    memory = StepMemory(3)
    steps = [step(n, after=n % 3, before=(n + 1) % 3) for n in range(6)]
    for one in steps:
        memory.keep(one, one.after[0][0])
    return memory, steps


def test_steps_of_merged_states_are_kept_together():
    memory, steps = filled()
    change = ComponentMap(3, 3, np.array([0, 1, 1]), np.arange(3), np.ones(3))
    memory.apply(change)
    assert numbers(memory.into(0)) == [0, 3]
    # 1 and 2 had two each; there is room for three.
    assert len(memory.into(1)) == 3
    assert memory.into(2) == []
    assert all(one.after == [(1, 1.0)] and one.kept_in == 1 for one in memory.into(1))
    assert len(memory) == 5
    assert numbers(memory.steps_naming(2)) == []
    assert sum(one.kept_in is None for one in steps) == 1
    # From 1 to 0 and from 2 to 1 are from 1 to 0 and from 1 to 1 now.
    assert steps[0].entries == [(1, 0, 1.0)]
    assert steps[4].entries == [(1, 1, 1.0)]
    assert steps[4].before == [(1, 1.0)]


def test_entries_that_become_the_same_add_up():
    memory = StepMemory(3)
    one = step(0)
    one.entries, one.after = [(0, 1, 0.5), (0, 2, 0.4)], [(1, 0.5), (2, 0.4)]
    memory.keep(one, 1)
    memory.apply(ComponentMap(3, 3, np.array([0, 1, 1]), np.arange(3), np.ones(3)))
    assert one.entries == [(0, 1, 0.9)]
    assert one.after == [(1, 0.9)]


def test_steps_into_a_state_that_is_gone_are_let_go():
    memory, steps = filled()
    steps[0].after = [(0, 0.6), (1, 0.4)]  # into 0, or into 1
    kept = np.array([1, 2])
    memory.apply(ComponentMap(3, 3, kept, kept, np.ones(2)))
    assert memory.into(0) == []
    assert steps[0].kept_in == 1
    assert steps[0].after == [(1, 0.4)]
    assert steps[3].kept_in is None
    assert sorted(numbers(memory.into(1) + memory.into(2))) == [0, 1, 2, 4, 5]
    assert memory.steps_naming(0) == []
    # What left that state is not known any more, though it led where it led.
    assert steps[2].before == []
    assert steps[2].entries == []


def test_what_a_step_is_before_it_was_explained():
    new = Step(None, [], None, 0.0, 0.0, np.zeros(2))
    assert (new.log_fade, new.weight_then, new.entries, new.after) == (0.0, 0.0, [], [])
    assert new.next is new.kept_next is new.kept_in is None
    assert not new.retracted
    assert not new.is_outlier


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("home.state", [0, 0], "home.state' holds a state twice"),
        ("naming.state", [0, 0], "naming.state' holds a state twice"),
        ("home.count", [1, 1], "3 kept steps, but 2"),
        ("home.count", [3, 1], "3 kept steps, but 4"),
        ("home.count", [4, 0], "home.count"),
        ("home.count", [1, 2], "where it did not lead"),
        ("home.state", [1, 0], "where it did not lead"),
        ("home.state", [0, 2], "home.state"),
        ("naming.step", [0, 1, 2, 0, 1, 1], "does not fit the kept steps"),
        ("naming.step", [0, 1, 2, 0, 1, 3], "naming.step"),
        ("n_evicted", [-1], "n_evicted"),
    ],
)
def test_kept_steps_that_do_not_fit_are_refused(name, value, reason):
    memory = StepMemory(3)
    memory.keep(step(0, after=0, before=1), 0)
    memory.keep(step(1, after=0, before=1), 0)
    memory.keep(step(2, after=1, before=0), 1)
    arrays = memory.to_arrays(n_features=2)
    StepMemory(3).restore(ArrayReader(arrays), 2, 1, 2)
    arrays[name] = np.array(value)
    with pytest.raises(DataError, match=reason):
        StepMemory(3).restore(ArrayReader(arrays), 2, 1, 2)
