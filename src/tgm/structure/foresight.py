"""What a map by dead reckoning foresees: how a place looks to which another way has led.

A row pays for its outcome, as if any look could follow. Where the moves lead to a place that is
known, only the move has to be paid for, and whether the look is what it was there.
"""

from __future__ import annotations

import math

from tgm.structure.edge_code import log_share
from tgm.structure.folding import Folding
from tgm.structure.reckoning import Place, Reckoning
from tgm.transition.automaton import BEGIN, Outcome
from tgm.transition.clone_evidence import OutcomeBase


class Foresight:
    """Nats that are saved by what is foreseen, row by row."""

    def __init__(self, folding: Folding, reckoning: Reckoning) -> None:
        """Where episodes begin is known."""
        self._folding, self._reckoning = folding, reckoning
        self._clones, self._places = set[int](), set[Place]()
        for _, target in folding.graph.rows[0].get(BEGIN, {}).values():
            self._arrive(target)
        self._saved, self._hits, self._misses = 0.0, 0, 0

    def add(self, base: OutcomeBase, node: int, action: int) -> None:
        """A row, before the base knows it."""
        at, row = self._folding.reckoned_at, self._folding.graph.rows[node][action]
        symbol = self._folding.graph.symbols[node]
        for outcome, (_, target) in row.items():
            place = at.get(target)
            if place is None or place == at.get(node):
                continue
            if target in self._clones:
                self._hits += 1
                if len(row) == 1:
                    self._saved += self._log_odds(base, symbol, action, outcome)
            elif place in self._places:
                self._misses += 1
            self._arrive(target)

    @property
    def gain(self) -> float:
        """Nats, with what it costs that a place sometimes shows another look."""
        return self._saved + log_share(self._hits, self._misses)

    def _log_odds(self, base: OutcomeBase, symbol: int, action: int, outcome: Outcome) -> float:
        """ln probability of any move with this reward, less that of the outcome."""
        kind, one = (symbol, action), base.log_probability((symbol, action), outcome)
        others = [
            math.exp(base.log_probability(kind, other))
            for other in base.counts.get(kind, {})
            if other != outcome and self._is_like(symbol, action, other, outcome)
        ]
        return math.log(math.exp(one) + math.fsum(others)) - one

    def _is_like(self, symbol: int, action: int, other: Outcome, outcome: Outcome) -> bool:
        is_move = self._reckoning.is_moving(symbol, action, other.symbol)
        return is_move and other[1:] == outcome[1:]

    def _arrive(self, clone: int) -> None:
        self._clones.add(clone)
        place = self._folding.reckoned_at.get(clone)
        if place is not None:
            self._places.add(place)
