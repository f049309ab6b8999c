"""What it costs to say where outcomes lead: nats for the edges of a folding, one after the other.

From the root on, in the order in which clones are reached, each edge leads to one of the clones of
its symbol that are known by then, or to a new one; all are as likely as each other. So n clones do
not pay for their names, of which there are n! orders. An outcome that looks like the place where it
happened often leads back to it (a wall, an action that does nothing): how often is learned from all
of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from tgm.structure.folding import Folding
from tgm.transition.automaton import END, Row


def log_edges(folding: Folding) -> float:
    """ln probability of where the edges of all clones lead; ends are one place, and are free.

    By dead reckoning they lead where the moves say: only the reckoning has to be known.
    """
    if folding.reckoning is not None:
        return folding.reckoning.log_probability
    graph, is_clone = folding.graph, folding.is_clone
    order, seen = [0], {0}
    n_known: dict[int, int] = {}
    n_back = n_away = 0
    found = 0.0
    for node in order:
        own, rows = graph.symbols[node], graph.rows[node]
        for action in sorted(rows):
            for _, target in rows[action].values():
                symbol = graph.symbols[target]
                if symbol == END:
                    continue
                if target == node:
                    n_back += 1
                    continue
                n_away += symbol == own
                known = n_known.get(symbol, 0)
                found -= math.log(1 + known - (symbol == own))
                if target in is_clone and target not in seen:
                    seen.add(target)
                    order.append(target)
                    n_known[symbol] = known + 1
    return found + log_share(n_back, n_away)


def log_joined_edges(rows: Iterable[tuple[int, Row]]) -> float:
    """The same with one clone for each symbol; `rows` are of pairs of a symbol and an action."""
    n_edges, n_back, symbols = 0, 0, set[int]()
    for own, row in rows:
        for outcome in row:
            if not outcome.ended:
                n_edges += 1
                n_back += outcome.symbol == own
                symbols.add(outcome.symbol)
    return log_share(n_back, 0) - (n_edges - n_back - len(symbols)) * math.log(2.0)


def log_share(n_one: int, n_other: int) -> float:
    """ln probability of a sequence of so many of two kinds, if any share is as likely."""
    return math.lgamma(n_one + 1) + math.lgamma(n_other + 1) - math.lgamma(n_one + n_other + 2)
