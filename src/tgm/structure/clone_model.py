"""Places that look alike, found in episodes: several foldings compete, and one state per symbol."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from tgm.structure.cue_model import MODELS, cued_foldings
from tgm.structure.folding import MOST_WORK, Folding, labelled_folding
from tgm.transition.automaton import BEGIN, END, Automaton, Episode, Row
from tgm.transition.clone_evidence import OutcomeBase, log_chance, log_mixed, log_same


class Setting(NamedTuple):
    """How sure a fold must be, in nats, step by step; and the strength of the base."""

    levels: tuple[float, ...]
    strength: float


LEVELS = ((3.0, 1.0), (1.5,), (6.0, 2.0))
BASE_STRENGTHS = (0.5, 0.1, 0.02)
CHANCES = (0.01, 0.1, 0.4, 0.8)  # shares of rows of chance that compete
CUED_SHARES = (0.02, 0.1, 0.5)  # shares of rows that depend on a cue; as likely as each other
FIRST = Setting(LEVELS[0], BASE_STRENGTHS[0])


def fold_episodes(
    episodes: Sequence[Episode],
    base: OutcomeBase,
    settings: Sequence[Setting],
    most_work: float = MOST_WORK,
) -> tuple[Folding, Setting] | None:
    """The folding with the highest evidence, and the setting that made it.

    Foldings of the prefix tree, one for each setting, compete with those by a cue. None if all took
    too long.

    Args:
        episodes: what happened.
        base: what actions do at places that look alike, as it was believed before.
        settings: those that compete.
        most_work: rows that are laid onto others, for each node.
    """
    tree, best = Automaton.of(episodes), None
    for setting in settings:
        folding = Folding(tree.copy(), base.with_strength(setting.strength), most_work)
        folding.settle(setting.levels)
        evidence = folding_evidence(folding)
        if not folding.is_given_up and (best is None or evidence > best[0]):
            best = evidence, folding, setting
    rivals = cued_foldings(episodes, settings[0].strength)
    if best is not None and rivals:  # those have no undecided nodes, which fit any outcome
        best = folding_evidence(best[1].closed()), best[1], best[2]
    for cued in rivals:
        evidence = folding_evidence(cued)
        if best is None or evidence > best[0]:
            best = evidence, cued, settings[0]
    return None if best is None else (best[1], best[2])


def refolded(folding: Folding, episodes: Sequence[Episode], levels: tuple[float, ...]) -> Folding:
    """The clones of before with all episodes laid along their edges.

    What these do not know hangs below them, and is settled.
    """
    old, graph = folding.graph, Automaton()
    node_of = {clone: number for number, clone in enumerate(folding.clones)}
    graph.symbols = [old.symbols[clone] for clone in folding.clones]
    graph.rows = [
        {
            action: {o: [0, node_of[edge[1]]] for o, edge in row.items() if edge[1] in node_of}
            for action, row in old.rows[clone].items()
        }
        for clone in folding.clones
    ]
    for episode in episodes:
        node = 0
        for action, outcome in episode:
            node = graph.advance(node, action, outcome)
    graph.rows = [_visited(rows) for rows in graph.rows]
    found = Folding(graph, folding.base)
    found.is_cued = folding.is_cued
    reached = set(graph.reachable([0]))
    for node in range(1, len(folding.clones)):
        if node in reached:
            found.accept(node)
    found.settle(levels)
    return found


def closed_evidence(folding: Folding | None) -> float:
    """The evidence of a folding if nothing is left undecided, which would explain anything.

    Minus infinity if there is none, or if that takes too long.
    """
    closed = None if folding is None else folding.closed()
    return -math.inf if closed is None or closed.is_given_up else folding_evidence(closed)


def better_closed(one: Folding | None, other: Folding) -> Folding | None:
    """The one of two foldings whose evidence is higher if nothing is left undecided."""
    return other if closed_evidence(other) > closed_evidence(one) else one


def _visited(rows: dict[int, Row]) -> dict[int, Row]:
    """Without edges that nothing went along."""
    kept = {a: {o: edge for o, edge in row.items() if edge[0]} for a, row in rows.items()}
    return {action: row for action, row in kept.items() if row}


def folding_evidence(folding: Folding) -> float:
    """ln evidence of all episodes by a folding: rows of clones, then of what is undecided."""
    if folding.is_cued:
        return _cued_evidence(folding)
    graph = folding.graph
    n_alike = {symbol: len(alike) for symbol, alike in folding.by_symbol.items()}
    tally = _Tally(folding.base.strength)
    for node in graph.reachable(folding.clones):
        for action, row in graph.rows[node].items():
            if node in folding.is_clone:
                tally.choose([n_alike.get(graph.symbols[edge[1]], 0) for edge in row.values()])
            if action != BEGIN:
                tally.add((graph.symbols[node], action), row)
    return tally.log_evidence()


def _cued_evidence(folding: Folding) -> float:
    """ln evidence where the cue may matter for each action at each symbol, or not.

    Where it does not, places with different cues have one row. A cue leads to no choice of edges:
    they cost as much as with one state for each symbol.
    """
    graph, by_kind = folding.graph, dict[tuple[int, int], list[Row]]()
    for node in graph.reachable(folding.clones):
        for action, row in graph.rows[node].items():
            by_kind.setdefault((graph.symbols[node], action), []).append(row)
    kinds, sure = list[tuple[_Tally, _Tally]](), -math.log(MODELS)
    for kind, rows in by_kind.items():
        together = _joined(rows)
        sure -= len(together) * math.log(2.0)
        if kind[1] == BEGIN:
            continue
        one, apart = _Tally(folding.base.strength), _Tally(folding.base.strength)
        one.add(kind, together)
        for row in rows:
            apart.add(kind, row)
        kinds.append((one, apart))
    return sure + max(_log_cued(kinds, chance) for chance in CHANCES)


def _joined(rows: Sequence[Row]) -> Row:
    """The outcomes of all rows."""
    together: Row = {}
    for row in rows:
        for outcome, (count, target) in row.items():
            together.setdefault(outcome, [0, target])[0] += count
    return together


def _log_cued(kinds: Sequence[tuple[_Tally, _Tally]], chance: float) -> float:
    """ln evidence of rows together or apart, averaged over the shares of those that are apart."""
    pairs = [(one.log_given(chance), apart.log_given(chance)) for one, apart in kinds]
    found = [sum(log_mixed(*pair, share) for pair in pairs) for share in CUED_SHARES]
    most = max(found)
    return most + math.log(sum(math.exp(one - most) for one in found) / len(found))


def gain_of_cue(episodes: Sequence[Episode]) -> float:
    """Nats by which the best cue explains all episodes better than one state for each symbol.

    Minus infinity if no look can be a cue.
    """
    foldings = cued_foldings(episodes, FIRST.strength)
    best = max((folding_evidence(one) for one in foldings), default=-math.inf)
    return best - plain_evidence(episodes)


def gain_of_clones(folding: Folding, episodes: Sequence[Episode]) -> float:
    """Nats by which clones explain all episodes better than one state for each symbol.

    Undecided nodes fit any outcome, so each is first folded onto its most likely clone. Minus
    infinity if that takes too long.
    """
    return closed_evidence(folding) - plain_evidence(episodes)


def plain_evidence(episodes: Sequence[Episode]) -> float:
    """ln evidence of all episodes with one state for each symbol."""
    labels = [[END if one.ended else one.symbol for _, one in episode] for episode in episodes]
    # There is one row of each kind, which no other row predicts: the strength does not matter.
    return folding_evidence(labelled_folding(episodes, labels, BASE_STRENGTHS[0]))


class _Tally:
    """Evidence of rows in turn, each expected by those before; the share of chance is learned."""

    def __init__(self, strength: float) -> None:
        self._base = OutcomeBase(strength)
        self._rows: list[tuple[float, float]] = []  # ln evidence if it is the same, or chance
        self._sure = 0.0

    def choose(self, n_alike: list[int]) -> None:
        """Pay for the choice of a clone by each edge, ln(1 + n) among n that look alike."""
        self._sure -= sum(math.log(1 + n) for n in n_alike)

    def add(self, kind: tuple[int, int], row: Row) -> None:
        """One more row."""
        same = log_same(row, kind, self._base)
        if len(row) == 1:
            self._sure += same
        else:
            self._rows.append((same, log_chance(row, kind, self._base)))
        self._base.add_row(kind, row)

    def log_evidence(self) -> float:
        """With the share of chance that explains the rows best."""
        return max(self.log_given(chance) for chance in CHANCES)

    def log_given(self, chance: float) -> float:
        """With one share of chance."""
        return self._sure + sum(log_mixed(same, other, chance) for same, other in self._rows)
