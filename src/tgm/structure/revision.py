"""A change of structure that raises the evidence, as a value: a map, its moments, its moves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from tgm.distributions import FloatArray
from tgm.distributions.moments import Moments
from tgm.memory.step import Belief, Shares, Step
from tgm.perception.component_map import ComponentMap
from tgm.transition.planned_rows import Key


@dataclass(frozen=True, eq=False)
class Relabelling:
    """How one kept step follows a split: the shares of the states before it and after it."""

    step: Step
    before: Shares
    after: Shares

    @cached_property
    def relabelled(self) -> tuple[list[tuple[int, int, float]], Belief, Belief]:
        """Entries, belief before and belief after of the step, as they will be."""
        return self.step.relabelled(self.before, self.after)


@dataclass(frozen=True, eq=False)
class Revision:
    """Two states become one, or one becomes two.

    Attributes:
        change: the map of slots.
        gain: nats of evidence won.
        states: the slots that it concerns, the surviving one first.
        moments: what these states know afterwards.
        relabellings: in a split, how kept steps follow; in a merge they follow the map.
        halves: in a split, the shares of a point of the first state.
        part_into: in a split, the part of the second state in rows (state before, action) that
            lead to either, as the kept steps show it.
        part_from: the same for what leaves either, by (action, state after).
        retries: rows that deserve one more try afterwards.
    """

    change: ComponentMap
    gain: float
    states: tuple[int, int]
    moments: dict[int, Moments]
    relabellings: list[Relabelling] = field(default_factory=list)
    halves: Callable[[FloatArray], Belief] | None = None
    part_into: dict[Key, float] = field(default_factory=dict)
    part_from: dict[Key, float] = field(default_factory=dict)
    retries: list[Key] = field(default_factory=list)


@dataclass(frozen=True)
class Refusal:
    """A change that was weighed and refused: why, and the nats that it would have won."""

    states: tuple[int, ...]
    cause: str
    gain: float
