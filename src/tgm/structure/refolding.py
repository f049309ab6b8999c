"""Better foldings of the same episodes: some clones are let go, what led to them is folded again.

A fold that seemed right when little was known is a row of several outcomes later, somewhere beyond
it. To fold all again from the beginning makes the same mistakes, or others. So a part of the best
folding is kept and the rest is folded again, many times, each with settings drawn at random.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

import numpy as np

from tgm.structure.clone_model import BASE_STRENGTHS, LEVELS, Setting, closed_evidence
from tgm.structure.folding import Folding
from tgm.transition.automaton import END, Automaton, Episode, Row

CAUTIOUS = ((10.0, 5.0, 2.0), (15.0,))  # nats, as LEVELS: more is left undecided for long
STRICT_TRIES = 0.7  # share of the tries in which no row may contradict a fold
NEAR_TRIES = 0.7  # share of the tries that let go only of what may be wrong, where there is that
PARTS_LET_GO = (0.3, 0.6, 1.0)  # of the clones that may be let go; one of these


def refolded(
    folding: Folding,
    episodes: Sequence[Episode],
    setting: Setting,
    without: Set[int] = frozenset(),
) -> Folding:
    """The clones of before, but for some, with all episodes laid along their edges.

    What these do not know hangs below them, and is settled.
    """
    old, graph = folding.graph, Automaton()
    kept = [clone for clone in folding.clones if clone not in without]
    node_of = {clone: number for number, clone in enumerate(kept)}
    graph.symbols = [old.symbols[clone] for clone in kept]
    graph.rows = [
        {
            action: {o: [0, node_of[edge[1]]] for o, edge in row.items() if edge[1] in node_of}
            for action, row in old.rows[clone].items()
        }
        for clone in kept
    ]
    for episode in episodes:
        node = 0
        for action, outcome in episode:
            node = graph.advance(node, action, outcome)
    graph.rows = [_visited(rows) for rows in graph.rows]
    base = folding.base.with_strength(setting.strength)
    found = Folding(graph, base, is_strict=setting.is_strict)
    found.is_cued = folding.is_cued
    reached = set(graph.reachable([0]))
    for node in range(1, len(kept)):
        if node in reached:
            found.accept(node)
    found.settle(setting.levels)
    return found


def _visited(rows: dict[int, Row]) -> dict[int, Row]:
    """Without edges that nothing went along."""
    kept = {a: {o: edge for o, edge in row.items() if edge[0]} for a, row in rows.items()}
    return {action: row for action, row in kept.items() if row}


def improved(
    folding: Folding, episodes: Sequence[Episode], rng: np.random.Generator, n_tries: int
) -> Folding:
    """The folding with the highest evidence, nothing left undecided, that some tries lead to."""
    best, closed = folding, folding.closed()
    most = closed_evidence(folding)
    for _ in range(n_tries):
        found = refolded(closed, episodes, _drawn_setting(rng), _let_go(closed, rng))
        nats = closed_evidence(found)
        if nats > most:
            best, closed, most = found, found.closed(), nats
    return best


def _drawn_setting(rng: np.random.Generator) -> Setting:
    levels = (*LEVELS, *CAUTIOUS)
    is_strict = bool(rng.random() < STRICT_TRIES)
    strength = BASE_STRENGTHS[rng.integers(len(BASE_STRENGTHS))]
    return Setting(levels[rng.integers(len(levels))], strength, is_strict)


def _let_go(folding: Folding, rng: np.random.Generator) -> set[int]:
    """Clones whose rows have several outcomes, and those before and after; or any; some of them."""
    graph = folding.graph
    inner = [clone for clone in folding.clones[1:] if graph.symbols[clone] != END]
    doubtful = {c for c in inner if any(len(row) > 1 for row in graph.rows[c].values())}
    near = set(doubtful)
    for clone in inner:
        after = {edge[1] for row in graph.rows[clone].values() for edge in row.values()}
        if clone in doubtful:
            near |= after
        elif after & doubtful:
            near.add(clone)
    pool = [clone for clone in inner if clone in near]
    if not pool or rng.random() >= NEAR_TRIES:
        pool = inner
    part = PARTS_LET_GO[rng.integers(len(PARTS_LET_GO))]
    return {clone for clone in pool if rng.random() < part}
