"""A map by dead reckoning: one clone for each place that the moves lead to, and each of its looks.

Two ways that lead to one place are known to do so before their futures were compared, so a map
closes long before it does by folding. It is one more proposal: the evidence decides whether it is
better than foldings, and which actions move.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tgm.structure.folding import Folding
from tgm.structure.reckoning import Place, Reckoning, axes_of, kinds_of
from tgm.transition.automaton import BEGIN, END, Automaton, Episode
from tgm.transition.clone_evidence import Kind, OutcomeBase

MOST_ROUNDS = 3  # in which each answer is tried the other way round

Evidence = Callable[[Folding], float]


def reckoned_folding(
    episodes: Sequence[Episode], strength: float, evidence: Evidence, before: Reckoning | None
) -> Folding:
    """The folding by the reckoning with the highest evidence that is found; all is decided.

    An action moves at a look if it ever showed another one there, or if that was found out
    `before`. Where that contradicts itself, each answer is tried the other way round.
    """
    tree, axes = Automaton.of(episodes), axes_of(episodes)
    same, other = kinds_of(episodes)
    moving = same & (other | (before.moving if before is not None else set()))
    best = _mapped(tree, _reckoning(axes, same, moving), strength)
    if not contradictions(best):
        return best
    most, is_better = evidence(best), True
    free = _doubtful(same, other)
    for _ in range(MOST_ROUNDS):
        if not is_better:
            break
        is_better = False
        for kind in free:
            found = _mapped(tree, _reckoning(axes, same, moving ^ {kind}), strength)
            nats = evidence(found)
            if nats > most:
                best, most, moving, is_better = found, nats, moving ^ {kind}, True
    return best


def contradictions(folding: Folding) -> int:
    """Number of rows of clones with several outcomes."""
    rows = (folding.graph.rows[clone] for clone in folding.clones[1:])
    return sum(len(row) > 1 for one in rows for row in one.values())


def _reckoning(axes: dict[int, tuple[int, int]], same: set[Kind], moving: set[Kind]) -> Reckoning:
    return Reckoning(axes, frozenset(moving), frozenset(same - moving))


def _doubtful(same: set[Kind], other: set[Kind]) -> list[Kind]:
    """Pairs whose answer may be wrong: the action moves somewhere, and the look stayed the same."""
    may_move = {action for _, action in other}
    return sorted(kind for kind in same if kind[1] in may_move)


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
