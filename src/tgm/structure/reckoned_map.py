"""A map by dead reckoning: one clone for each place that the moves lead to, and each of its looks.

Two ways that lead to one place are known to do so before their futures were compared, so a map
closes long before it does by folding. It is one more proposal: the evidence decides whether it is
better than foldings, which actions undo each other, and which steps are exceptions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence, Set
from itertools import combinations

from tgm.structure.folding import Folding
from tgm.structure.place_filter import filtered_reckoning
from tgm.structure.reckoning import (
    Axes,
    Place,
    Reckoning,
    Step,
    axes_of,
    is_move,
    steps_of,
    with_axis,
)
from tgm.transition.automaton import BEGIN, END, Automaton, Episode
from tgm.transition.clone_evidence import OutcomeBase

MOST_RECKONINGS = 3  # rounds in which each exception is tried the other way round

Evidence = Callable[[Folding], float]


def reckoned_folding(
    episodes: Sequence[Episode], strength: float, evidence: Evidence, before: Reckoning | None
) -> Folding:
    """The folding by the reckoning with the highest evidence that is found; all is decided.

    An action moves where the look stays the same if it ever showed another one at such a place; or
    as it was found out `before`. Where such a map contradicts itself, each place may have answers
    of its own (`filtered_folding`); if that is no better, each answer is tried the other way round,
    from both beginnings. Actions that undo no other are tried in pairs.
    """
    search = _Search(episodes, strength, evidence)
    beginnings, most = search.beginnings(before), -math.inf
    for exceptions in beginnings:
        found = search.begin(exceptions)
        if not contradictions(found):
            return found
        most = max(most, search.most)
    filtered = filtered_folding(episodes, strength)
    if filtered is not None and evidence(filtered) > most:
        return filtered
    tried = list[tuple[float, Folding]]()
    for exceptions in beginnings:
        tried.append(search.run(exceptions))
        if not contradictions(tried[-1][1]):
            break
    return max(tried, key=lambda one: one[0])[1]


def filtered_folding(episodes: Sequence[Episode], strength: float) -> Folding | None:
    """The map of the filter (`place_filter.py`); None if there is none that nothing contradicts."""
    axes = axes_of(episodes)
    reckoning = filtered_reckoning(episodes, axes) if axes else None
    if reckoning is None:
        return None
    found = _mapped(Automaton.of(episodes), reckoning, strength)
    return found if contradictions(found) == 0 else None


def contradictions(folding: Folding) -> int:
    """Number of rows of clones with several outcomes."""
    rows = (folding.graph.rows[clone] for clone in folding.clones[1:])
    return sum(len(row) > 1 for one in rows for row in one.values())


class _Search:
    """The best map so far of one prefix tree."""

    def __init__(self, episodes: Sequence[Episode], strength: float, evidence: Evidence) -> None:
        self._tree = Automaton.of(episodes)
        self._strength, self._evidence = strength, evidence
        self._axes, self._steps = axes_of(episodes), steps_of(episodes)
        # An action that never shows another look cannot be seen to move.
        self._may_move = {action for _, action, _ in filter(is_move, self._steps)}
        self._moving = {(look, action) for look, action, _ in filter(is_move, self._steps)}

    def beginnings(self, before: Reckoning | None) -> list[set[Step]]:
        """Exceptions by what the steps say alone, and with what was found out before."""
        still = {step for step in self._steps if not is_move(step)}
        first = {step for step in still if step[:2] in self._moving}
        known = first if before is None else self._steps & (before.exceptions | first)
        return [first] if known == first else [set(known), first]

    def begin(self, exceptions: set[Step]) -> Folding:
        """The map of a beginning, with the best pairs."""
        self.best = self._map(self._axes, exceptions)
        self.most = self._evidence(self.best)
        self.try_pairs()
        return self.best

    def run(self, exceptions: set[Step]) -> tuple[float, Folding]:
        """The best map from a beginning, with its evidence."""
        self.begin(exceptions)
        for _ in range(MOST_RECKONINGS):
            most = self.most
            self.try_exceptions()
            if not contradictions(self.best) or self.most <= most:
                break
            self.try_pairs()
        return self.most, self.best

    @property
    def _now(self) -> Reckoning:
        assert self.best.reckoning is not None
        return self.best.reckoning

    def try_pairs(self) -> None:
        """Let two actions that undo no other undo each other."""
        for pair in combinations(sorted(self._may_move), 2):
            if not self._now.axes.keys() & {*pair}:
                self._try(with_axis(self._now.axes, *pair), set(self._now.exceptions))

    def try_exceptions(self) -> None:
        """Try each answer the other way round, until nothing contradicts itself.

        For steps to the same look, first for both directions of an axis at once; and for steps to
        another look that are not usual.
        """
        axes = self._now.axes
        same = {one for one in self._steps if not is_move(one) and one[1] in axes}
        turns = [*_both_ways(axes, same)]
        turns += [{step} for step in sorted(same | _unusual(self.best))]
        for turned in turns:
            is_better = self._try(axes, {*self._now.exceptions} ^ turned)
            if is_better and not contradictions(self.best):
                break

    def _try(self, axes: Axes, exceptions: set[Step]) -> bool:
        found = self._map(axes, exceptions)
        nats = self._evidence(found)
        is_better = nats > self.most
        if is_better:
            self.best, self.most = found, nats
        return is_better

    def _map(self, axes: Axes, exceptions: set[Step]) -> Folding:
        reckoning = Reckoning(axes, frozenset(self._steps), frozenset(exceptions))
        return _mapped(self._tree, reckoning, self._strength)


def _both_ways(axes: Axes, steps: Set[Step]) -> Iterator[set[Step]]:
    """Pairs of steps that look the same and lead both ways on one axis."""
    back = {axes[a]: a for a in axes}
    for look, action, after in sorted(steps):
        axis, direction = axes.get(action, (0, 0))
        other = (look, back.get((axis, -direction), action), after)
        if direction > 0 and other in steps:
            yield {(look, action, after), other}


def _unusual(folding: Folding) -> set[Step]:
    """Steps to another look than the row that they are in usually shows."""
    graph, found = folding.graph, set[Step]()
    for clone in folding.clones[1:]:
        look = graph.symbols[clone]
        for action, row in graph.rows[clone].items():
            usual = max(row, key=lambda outcome: row[outcome][0])
            for outcome in row:
                if outcome != usual and not outcome.ended and outcome.symbol != look:
                    found.add((look, action, outcome.symbol))
    return found


def _mapped(tree: Automaton, reckoning: Reckoning, strength: float) -> Folding:
    """The clones that the nodes of a prefix tree are; parents come before their children."""
    graph, clone_of = Automaton(), dict[tuple[Place, int], int]()
    clones: list[int] = [0] * len(tree.symbols)
    places: list[Place] = [()] * len(tree.symbols)
    for node, rows in enumerate(tree.rows):
        own, symbol, place = graph.rows[clones[node]], tree.symbols[node], places[node]
        for action, row in rows.items():
            known = own.setdefault(action, {})
            for outcome, (count, child) in row.items():
                if outcome.ended:
                    key: tuple[Place, int] = ((), END)
                elif action == BEGIN:
                    key = (reckoning.beginning(outcome), outcome.symbol)
                else:
                    key = (reckoning.after(place, symbol, action, outcome), outcome.symbol)
                if key not in clone_of:
                    clone_of[key] = len(graph.symbols)
                    graph.symbols.append(key[1])
                    graph.rows.append({})
                clones[child], places[child] = clone_of[key], key[0]
                known.setdefault(outcome, [0, clones[child]])[0] += count
    folding = Folding(graph, OutcomeBase(strength))
    folding.reckoning = reckoning
    for (place, _), clone in clone_of.items():
        folding.accept(clone)
        if place:
            folding.reckoned_at[clone] = place
    folding.count_base()
    return folding
