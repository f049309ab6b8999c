"""Slots and ids: the row of each state in the arrays, and its name, which is never used again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from tgm.distributions import FloatArray
from tgm.errors import DataError
from tgm.files.arrays import ANY, ArrayReader, Arrays

FIRST_SLOTS = 16  # slots at the beginning; their number doubles when all are used
NO_DENSITY = -1e300  # the log density of a slot without a state, and of another symbol
LEAST_WEIGHT = 0.05  # points; a state with fewer is empty
SURELY_SEEN = 1.5  # points; a state with fewer may be an outlier of another, and does not decide
NO_WEIGHT = 1e-6  # points; a weight below this is rounding


class StateSlots:
    """Owner of the slots of an observation model: a slot holds one state or none.

    A free slot is used again, an id never. A subclass names in `PER_SLOT` its arrays with one entry
    for each slot; they grow together, with zeros.
    """

    PER_SLOT: ClassVar[tuple[str, ...]] = ()
    surely_seen: float = SURELY_SEEN

    def __init__(self) -> None:
        """No states yet."""
        self.ids = np.full(FIRST_SLOTS, -1, dtype=np.intp)
        self.is_alive = np.zeros(FIRST_SLOTS, dtype=bool)
        self.alive = np.empty(0, dtype=np.intp)
        """(n_alive,) slots that hold a state, in order."""
        self.n_slots = 0  # slots used so far, free ones between them included
        self.next_id = 0
        self._free: list[int] = []

    @property
    def n_alive(self) -> int:
        """Number of states."""
        return len(self.alive)

    @property
    def next_slot(self) -> int:
        """The slot that the next `birth` will take."""
        return self._free[-1] if self._free else self.n_slots

    def birth(self) -> int:
        """The slot of a new state without points."""
        if self._free:
            slot = self._free.pop()
        else:
            if self.n_slots == len(self.ids):
                self._grow()
            slot = self.n_slots
            self.n_slots += 1
        self.is_alive[slot] = True
        self.ids[slot] = self.next_id
        self.next_id += 1
        self.alive = np.flatnonzero(self.is_alive[: self.n_slots])
        return slot

    def remove(self, slot: int) -> None:
        """Empty a slot."""
        self.is_alive[slot] = False
        self.ids[slot] = -1
        self._free.append(slot)
        self.alive = np.flatnonzero(self.is_alive[: self.n_slots])

    def _pairs_within(
        self, slots: Sequence[int], squares: FloatArray, highest: float
    ) -> list[tuple[int, int]]:
        """Each of some slots with each other state within a squared distance.

        `squares` (n, n_slots) are the squared distances of the n slots from all.
        """
        rows, others = (squares < highest).nonzero()
        pairs = zip(rows.tolist(), others.tolist(), strict=True)
        return [
            (slots[row], other)
            for row, other in pairs
            if other != slots[row] and self.is_alive.item(other)
        ]

    def _grow(self) -> None:
        """Have twice as many slots."""
        self.ids = np.concatenate([self.ids, np.full_like(self.ids, -1)])
        self.is_alive = np.concatenate([self.is_alive, np.zeros_like(self.is_alive)])
        for name in self.PER_SLOT:
            values = getattr(self, name)
            setattr(self, name, np.concatenate([values, np.zeros_like(values)]))

    def slots_to_arrays(self) -> Arrays:
        """Which state is in which slot."""
        return {
            "ids": self.ids[: self.n_slots],
            "next_id": np.array([self.next_id]),
            "free": np.array(self._free, dtype=np.intp),
        }

    def restore_slots(self, saved: ArrayReader) -> None:
        """Take over what `slots_to_arrays` gave, checked."""
        ids = saved.whole("ids", ANY, low=-1)
        n_slots = self.n_slots = len(ids)
        while len(self.ids) < n_slots:
            self._grow()
        self.next_id = saved.count("next_id")
        self.ids[:n_slots] = ids
        self.is_alive[:n_slots] = ids >= 0
        self.alive = np.flatnonzero(self.is_alive[:n_slots])
        self._free = saved.whole("free", ANY, high=n_slots - 1).tolist()
        names = ids[self.alive].tolist()
        if len(set(names)) != len(names):
            raise DataError("array 'ids' holds an id twice")
        if any(name >= self.next_id for name in names):
            raise DataError(f"next_id is {self.next_id}, an id that is in use or was")
        if sorted(self._free) != np.flatnonzero(~self.is_alive[:n_slots]).tolist():
            raise DataError("array 'free' does not name the slots without a state")
