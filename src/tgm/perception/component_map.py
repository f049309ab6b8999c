"""A change of structure as one value: which old components become which new ones, and why."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from tgm.distributions import FloatArray, IntArray

MoveKind = Literal["birth", "split", "merge", "removal", "fixed", "change"]


@dataclass(frozen=True)
class Move:
    """One proposed change of structure, accepted or refused.

    Attributes:
        kind: the kind of change.
        ids: ids of the components concerned, the surviving or new one first.
        cause: the reason, in words.
        gain: change of the log evidence in nats, if the move was decided by evidence.
        accepted: whether the change was made.
    """

    kind: MoveKind
    ids: tuple[int, ...]
    cause: str
    gain: float | None = None
    accepted: bool = True

    def to_dict(self) -> dict[str, Any]:
        """The move as plain values, for JSON."""
        return {
            "kind": self.kind,
            "ids": list(self.ids),
            "cause": self.cause,
            "gain": self.gain,
            "accepted": self.accepted,
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Move:
        """The move that `to_dict` wrote."""
        return cls(**(values | {"ids": tuple(values["ids"])}))


@dataclass(frozen=True)
class ComponentMap:
    """Which old components become which new components.

    A link (new, old, weight): the share `weight` of the counts of the old component goes to the new
    one. An old component without links is removed; a new one without links starts empty.

    Attributes:
        n_old, n_new: number of components before and after.
        new, old: (n_links,) indices.
        weight: (n_links,) shares in [0, 1]; the shares of one old component sum to at most one.
        moves: the moves that made this change.
    """

    n_old: int
    n_new: int
    new: IntArray
    old: IntArray
    weight: FloatArray
    moves: tuple[Move, ...] = ()

    @classmethod
    def of_survivors(
        cls, n_old: int, sources: IntArray, moves: tuple[Move, ...] = ()
    ) -> ComponentMap:
        """Each new component continues one old component (`sources[new]`) or none (-1)."""
        new = np.flatnonzero(sources >= 0)
        return cls(n_old, len(sources), new, sources[new], np.ones(len(new)), moves)

    @classmethod
    def of_merge(cls, n_slots: int, one: int, other: int) -> ComponentMap:
        """A map of slots: slot `other` becomes part of slot `one`."""
        old = np.arange(n_slots)
        return cls(n_slots, n_slots, np.where(old == other, one, old), old, np.ones(n_slots))

    @classmethod
    def of_removal(cls, n_slots: int, gone: int) -> ComponentMap:
        """A map of slots: slot `gone` is removed."""
        kept = np.delete(np.arange(n_slots), gone)
        return cls(n_slots, n_slots, kept, kept, np.ones(len(kept)))

    @classmethod
    def of_split(cls, n_slots: int, state: int, child: int, share: float) -> ComponentMap:
        """A map of slots: a share of the counts of slot `state` goes to the empty slot `child`."""
        kept = np.arange(n_slots)
        weight = np.ones(n_slots)
        weight[state] = 1.0 - share
        if share > 0.0:
            kept = np.append(kept, state)
            weight = np.append(weight, share)
        new = kept.copy()
        new[n_slots:] = child
        return cls(n_slots, n_slots, new, kept, weight)

    @cached_property
    def changed(self) -> dict[int, list[tuple[int, float]]]:
        """The old components that change: (new component, share) of each; none if removed.

        A component with one link, to the same index with weight 1, does not change.
        """
        goes_on = (self.new == self.old) & (self.weight == 1.0)
        is_changed = np.ones(self.n_old, dtype=bool)
        is_changed[self.old[goes_on]] = False
        others = np.flatnonzero(~goes_on)
        is_changed[self.old[others]] = True
        links: dict[int, list[tuple[int, float]]] = {
            old: [] for old in np.flatnonzero(is_changed).tolist()
        }
        for link in np.flatnonzero(is_changed[self.old]).tolist():
            links[int(self.old[link])].append((int(self.new[link]), float(self.weight[link])))
        return links

    def carry_counts(self, counts: FloatArray) -> FloatArray:
        """Re-index counts, which add: (..., n_old) -> (..., n_new)."""
        carried = np.zeros((self.n_new, *counts.shape[:-1]))
        shares = counts[..., self.old] * self.weight
        np.add.at(carried, self.new, np.moveaxis(shares, -1, 0))
        # Contiguous, as when read from a file, so that sums round the same.
        return np.ascontiguousarray(np.moveaxis(carried, 0, -1))

    def carry_pair_counts(self, counts: FloatArray) -> FloatArray:
        """Re-index counts of (before, after) pairs: (..., n_old, n_old) -> (..., n_new, n_new)."""
        after = self.carry_counts(counts)
        both = self.carry_counts(np.swapaxes(after, -1, -2))
        return np.ascontiguousarray(np.swapaxes(both, -1, -2))

    def carry_values(self, values: FloatArray, *, newborn: float) -> FloatArray:
        """Re-index values that average, such as action values: (..., n_old) -> (..., n_new).

        A new component gets the weighted mean over its links, or `newborn` if it has none.
        """
        total = self.carry_counts(np.ones(self.n_old))
        averages = self.carry_counts(values) / np.where(total > 0, total, 1.0)
        return np.where(total > 0, averages, newborn)
