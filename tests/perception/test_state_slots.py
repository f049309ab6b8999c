"""Slots and ids: a slot is used again, an id never."""

from typing import ClassVar

import numpy as np
import pytest

from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.perception.state_slots import FIRST_SLOTS, StateSlots


class Weighed(StateSlots):
    """Slots with a weight and a mean each."""

    PER_SLOT: ClassVar = ("weight", "mean")

    def __init__(self) -> None:
        super().__init__()
        self.weight, self.mean = np.zeros(FIRST_SLOTS), np.zeros((FIRST_SLOTS, 2))


def restored(arrays) -> Weighed:
    slots = Weighed()
    slots.restore_slots(ArrayReader(arrays))
    return slots


def test_a_slot_is_used_again_and_an_id_never():
    slots = StateSlots()
    assert [slots.birth() for _ in range(3)] == [0, 1, 2]
    slots.remove(1)
    assert slots.alive.tolist() == [0, 2]
    assert slots.n_alive == 2
    assert slots.next_slot == 1
    assert slots.birth() == 1
    assert slots.ids[:3].tolist() == [0, 3, 2]
    assert slots.next_slot == 3


def test_the_slot_that_was_freed_last_is_taken_first():
    slots = StateSlots()
    for _ in range(4):
        slots.birth()
    slots.remove(0)
    slots.remove(2)
    assert [slots.birth(), slots.birth(), slots.birth()] == [2, 0, 4]


def test_arrays_grow_with_the_slots_and_keep_what_they_hold():
    slots = Weighed()
    for number in range(FIRST_SLOTS):
        slot = slots.birth()
        slots.weight[slot], slots.mean[slot] = 1.0 + number, number
    new = slots.birth()
    assert len(slots.ids) == len(slots.is_alive) == len(slots.weight) == 2 * FIRST_SLOTS
    assert slots.mean.shape == (2 * FIRST_SLOTS, 2)
    assert slots.weight[:new].tolist() == [1.0 + number for number in range(FIRST_SLOTS)]
    assert not slots.weight[new:].any()
    assert slots.ids[new] == FIRST_SLOTS
    assert (slots.ids[new + 1 :] == -1).all()


@pytest.mark.parametrize("n_states", [5, FIRST_SLOTS + 1, 4 * FIRST_SLOTS])
def test_slots_survive_a_file(n_states):
    slots = Weighed()
    for _ in range(n_states):
        slots.birth()
    slots.remove(3)
    slots.remove(1)
    copy = restored(slots.slots_to_arrays())
    np.testing.assert_array_equal(copy.alive, slots.alive)
    assert len(copy.weight) >= n_states
    for _ in range(3):
        assert copy.birth() == slots.birth()
    np.testing.assert_array_equal(copy.ids[: copy.n_slots], slots.ids[: slots.n_slots])


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("ids", [0, 0, 2], "an id twice"),
        ("ids", [0, -1, -2], "ids"),
        ("next_id", [2], "next_id is 2, an id that is in use or was"),
        ("free", [], "does not name the slots without a state"),
        ("free", [0], "does not name the slots without a state"),
        ("free", [1, 1], "does not name the slots without a state"),
        ("free", [3], "free"),
    ],
)
def test_slots_that_contradict_themselves_are_refused(name, value, message):
    slots = StateSlots()
    for _ in range(3):
        slots.birth()
    slots.remove(1)
    arrays = slots.slots_to_arrays() | {name: np.array(value, dtype=np.intp)}
    with pytest.raises(DataError, match=message):
        restored(arrays)
