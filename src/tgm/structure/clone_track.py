"""Where an episode is in a folding: at a clone, or below the clones, at one of several."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tgm.structure.folding import Folding
from tgm.transition.automaton import Happening, Outcome


class CloneTrack:
    """Follows an episode.

    Attributes:
        node: where it is.
        below: by the clone at which the tail below the clones may have begun: the clone where it
            would be now (None where that is not known), and nats for it. None at a clone.
        length: steps of the tail.
    """

    def __init__(self, folding: Folding, episode: Sequence[Happening] = ()) -> None:
        """Follow an episode that is in the graph."""
        self._folding = folding
        self.node = 0
        self.below: dict[int, tuple[int | None, float]] | None = None
        self.length = 0
        for action, outcome in episode:
            self.follow(action, outcome)

    def follow(self, action: int, outcome: Outcome) -> None:
        """One step on, along an edge that is there."""
        folding, before = self._folding, self.node
        self.node = folding.graph.rows[before][action][outcome][1]
        if self.node in folding.is_clone:
            self.below = None
        elif before in folding.is_clone:
            rivals = folding.undecided.get((before, action, outcome))
            if rivals is None:
                alike = folding.by_symbol.get(folding.graph.symbols[self.node], ())
                rivals = [(0.0, clone) for clone in alike]
            self.below, self.length = {clone: (clone, nats) for nats, clone in rivals}, 0
        else:
            self._follow_below(action, outcome)

    def _follow_below(self, action: int, outcome: Outcome) -> None:
        folding = self._folding
        followed: dict[int, tuple[int | None, float]] = {}
        for first, (clone, nats) in (self.below or {}).items():
            row = None if clone is None else folding.graph.rows[clone].get(action)
            if row is None or clone is None:
                followed[first] = (None, nats)
            elif outcome in row:
                target = row[outcome][1]
                kind = (folding.graph.symbols[clone], action)
                nats -= folding.base.log_probability(kind, outcome)
                followed[first] = (target if target in folding.is_clone else None, nats)
        self.below = followed
        self.length += 1

    @property
    def rivals(self) -> list[tuple[float, int]]:
        """Clones where the episode may be below the clones, with nats for each; the best first."""
        found = [(nats, clone) for clone, nats in (self.below or {}).values() if clone is not None]
        return sorted(found, reverse=True)

    @property
    def shares(self) -> dict[int, float]:
        """The probability of each clone; empty where nothing is known."""
        if self.below is None:
            return {self.node: 1.0}
        rivals = self.rivals
        weights: dict[int, float] = {}
        for nats, clone in rivals:
            weights[clone] = weights.get(clone, 0.0) + math.exp(nats - rivals[0][0])
        total = sum(weights.values())
        return {clone: weight / total for clone, weight in weights.items()}

    def is_clear(self, level: float) -> bool:
        """Whether the tail began at one clone by so many nats."""
        nats = sorted((nats for _, nats in (self.below or {}).values()), reverse=True)
        return bool(nats) and nats[0] >= level + max(0.0, nats[1] if len(nats) > 1 else 0.0)
