"""Folding: which nodes of a prefix tree are the same place, by the evidence of their whole futures.

Accepted places (clones of their symbols) are joined by edges; what hangs below them as a tree is
undecided. A subtree is laid onto each clone that looks like its first node, along its whole future.
If that is improbable for all of them it is a new clone; if it is probable for one alone, they are
one place; ties stay undecided until more is known.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence

from tgm.structure.reckoning import Place, Reckoning
from tgm.transition.automaton import END, Automaton, Episode, Outcome, Row, copied
from tgm.transition.clone_evidence import OutcomeBase, log_evidence

CONFLICT = 4.0  # nats against being the same place, from which it is another one
SLACK = 3.0  # nats beyond that, after which a fold is not followed further
FOLDED_CHANCE = 0.01  # share of random rows that a fold assumes

MOST_WORK = 100  # rows joined, for each node; in a world of chance folding would not end

EdgeKey = tuple[int, int, Outcome]
"""Node, action and outcome."""
Candidates = list[tuple[float, int]]
"""Nats for being the same place as a clone, and that clone; the best first."""
UndoLog = list[tuple[dict[int, Row], int, Row | None]]


class Folding:
    """An automaton whose accepted nodes are clones.

    Attributes:
        graph: the nodes.
        clones: accepted nodes, the root first, in the order in which they were accepted.
        is_clone: the same as a set.
        by_symbol: clones by what they look like.
        undecided: edges to nodes that may be several clones.
        base: what actions do at places that look alike.
        is_cued: whether a cue says which clone an edge leads to.
        place_of: with a cue, the place of each clone, if that is more than what it looks like.
        edge_nats: with such places, ln probability of where they lead.
        reckoning: by which edges lead to places; None if they were found by folding.
        reckoned_at: then, the place of each clone but ends.
        is_strict: whether no fold may contradict what is known, however much it explains.
        is_given_up: whether it took too long; what was not decided stays undecided.
    """

    def __init__(
        self,
        graph: Automaton,
        base: OutcomeBase,
        most_work: float = MOST_WORK,
        *,
        is_strict: bool = False,
    ) -> None:
        """Accept the root alone; `most_work` is for each node."""
        self.graph, self.base, self._work_per_node = graph, base, most_work
        self.is_cued, self.is_strict = False, is_strict
        self.place_of: dict[int, int] = {}
        self.edge_nats = 0.0
        self.reckoning: Reckoning | None = None
        self.reckoned_at: dict[int, Place] = {}
        self.clones: list[int] = [0]
        self.is_clone: set[int] = {0}
        self.by_symbol: dict[int, list[int]] = {}
        self.undecided: dict[EdgeKey, Candidates]
        self._begin_work()

    def accept(self, node: int) -> None:
        """Make a node a clone."""
        self.clones.append(node)
        self.is_clone.add(node)
        self.by_symbol.setdefault(self.graph.symbols[node], []).append(node)

    def lead_on(self, node: int, action: int, outcome: Outcome) -> bool:
        """With a cue, let an outcome that is new at a clone lead to the clone of the same cue.

        That is the only one of its symbol that can be reached. With a reckoning it leads to its
        place, which becomes a clone if it is new. Else nothing is done. Returns whether it is new.
        """
        graph, n_clones = self.graph, len(self.clones)
        if self.reckoning is not None:
            self._lead_to_place(self.reckoning, node, action, outcome)
        if not self.is_cued or self.place_of or node not in self.is_clone or outcome.ended:
            return len(self.clones) > n_clones
        alike = [one for one in graph.reachable([node]) if graph.symbols[one] == outcome.symbol]
        if len(alike) == 1 and alike[0] in self.is_clone:
            graph.rows[node].setdefault(action, {}).setdefault(outcome, [0, alike[0]])
        return False

    @property
    def is_labelled(self) -> bool:
        """Whether a cue or a reckoning says which place is which, and nothing was folded."""
        return self.is_cued or self.reckoning is not None

    @property
    def has_chance(self) -> bool:
        """Whether an action of a clone, or of an undecided node, had several outcomes."""
        rows = (self.graph.rows[node] for node in self.graph.reachable(self.clones) if node)
        return any(len(row) > 1 for one in rows for row in one.values())

    def _lead_to_place(
        self, reckoning: Reckoning, node: int, action: int, outcome: Outcome
    ) -> None:
        graph, symbol = self.graph, self.graph.symbols[node]
        place: Place | None = None
        if not outcome.ended:
            place = reckoning.beginning(outcome)
            if node:
                place = reckoning.after(self.reckoned_at[node], symbol, action, outcome)
        looks = END if outcome.ended else outcome.symbol
        alike = self.by_symbol.get(looks, ())
        target = next((one for one in alike if self.reckoned_at.get(one) == place), None)
        if target is None:
            target = len(graph.symbols)
            graph.symbols.append(looks)
            graph.rows.append({})
            self.accept(target)
            if place is not None:
                self.reckoned_at[target] = place
        graph.rows[node].setdefault(action, {})[outcome] = [0, target]
        self.base.add((symbol, action), outcome)

    # --- one fold ---------------------------------------------------------------------------------

    def fold(self, clone: int, node: int, log: UndoLog, floor: float = -math.inf) -> float:
        """Lay a subtree onto a clone, along its whole future; returns the gain of evidence.

        Stops as soon as the gain is below `floor`, or what speaks against a strict fold is below
        -CONFLICT. `log` says how to undo it.
        """
        rows, symbols, base = self.graph.rows, self.graph.symbols, self.base
        gain, against, pairs = 0.0, 0.0, [(clone, node)]
        limit = -CONFLICT if self.is_strict and floor > -math.inf else -math.inf
        while pairs:
            onto, laid = pairs.pop()
            if onto == laid:
                continue
            known, symbol = rows[onto], symbols[onto]
            for action, new in rows[laid].items():
                old = known.get(action)
                log.append((known, action, old))
                if old is None:
                    known[action] = copied(new)
                    continue
                kind = (symbol, action)
                if len(old) == len(new) == 1 and old.keys() == new.keys():
                    # Most rows do the same again: then all but the base cancels.
                    ((outcome, (count, target)),) = old.items()
                    known[action] = {outcome: [count + new[outcome][0], target]}
                    pairs.append((target, new[outcome][1]))
                    gain -= base.log_probability(kind, outcome)
                    continue
                apart = log_evidence(old, kind, base, FOLDED_CHANCE)
                apart += log_evidence(new, kind, base, FOLDED_CHANCE)
                both = known[action] = copied(old)
                for outcome, edge in new.items():
                    there = both.get(outcome)
                    if there is None:
                        both[outcome] = [edge[0], edge[1]]
                    else:
                        there[0] += edge[0]
                        pairs.append((there[1], edge[1]))
                more = log_evidence(both, kind, base, FOLDED_CHANCE) - apart
                gain, against = gain + more, against + min(0.0, more)
                if gain < floor or against < limit:
                    return min(gain, floor)
        return gain

    def gain(self, clone: int, node: int) -> float:
        """The gain of evidence if a subtree were laid onto a clone; nothing is changed."""
        log: UndoLog = []
        gain = self.fold(clone, node, log, -CONFLICT - SLACK)
        self._work += len(log)
        for rows, action, old in reversed(log):
            if old is None:
                del rows[action]
            else:
                rows[action] = old
        return gain

    # --- all of them ------------------------------------------------------------------------------

    def settle(self, levels: tuple[float, ...]) -> None:
        """Accept or fold what hangs below the clones, the surest first.

        `levels` are nats by which one clone must be better than any other, tried in turn. At last
        what can be one clone alone is folded onto it, one at a time.
        """
        self._begin_work()
        phase = 0
        while phase <= len(levels):
            changed = self._pass(levels[phase] if phase < len(levels) else None)
            if self.is_given_up:
                break
            if not changed:
                phase += 1
            elif phase == len(levels):
                phase = 0
        self.count_base()

    def closed(self) -> Folding:
        """A copy in which nothing is undecided: each node is the likeliest clone."""
        other = Folding(self.graph.copy(), self.base, self._work_per_node, is_strict=self.is_strict)
        for clone in self.clones[1:]:
            other.accept(clone)
        other.is_cued, other.place_of = self.is_cued, dict(self.place_of)
        other.edge_nats = self.edge_nats
        other.reckoning, other.reckoned_at = self.reckoning, dict(self.reckoned_at)
        other._begin_work()
        while other._pass(-math.inf) and not other.is_given_up:
            pass
        return other

    def _begin_work(self) -> None:
        self.undecided, self.is_given_up, self._work = {}, False, 0
        self._most_work = self._work_per_node * (100 + len(self.graph.symbols))

    def _pass(self, level: float | None) -> bool:
        """Look at every edge that leads below the clones; returns whether something was decided."""
        changed = False
        self._odds_back = self._learned_odds()
        for key, edge in self._open_edges():
            decided = self._decide(key, edge, level)
            changed = changed or decided
            self.is_given_up = self._work > self._most_work
            if self.is_given_up or (decided and level is None):
                break
        return changed

    def _learned_odds(self) -> float:
        """ln odds that an outcome which looks like the clone where it happened leads back to it."""
        n_back, n_away, symbols = 1, 1, self.graph.symbols
        for node in self.clones:
            for row in self.graph.rows[node].values():
                for _, target in row.values():
                    n_back += target == node
                    is_alike = symbols[target] == symbols[node] and target != node
                    n_away += is_alike and target in self.is_clone
        return math.log(n_back / n_away)

    def _open_edges(self) -> Iterator[tuple[EdgeKey, list[int]]]:
        """Edges from clones to nodes that are none; the caller may decide on each."""
        graph = self.graph
        for node in list(self.clones):
            rows = graph.rows[node]
            for action in sorted(rows):
                by_count = sorted(rows[action].items(), key=lambda item: -item[1][0])
                for outcome, _ in by_count:
                    edge = rows[action][outcome]  # folding may have replaced it
                    if edge[1] in self.is_clone:
                        continue
                    if graph.symbols[edge[1]] == END:
                        self._end(edge)
                    else:
                        yield (node, action, outcome), edge

    def _end(self, edge: list[int]) -> None:
        """All ends are one place."""
        ends = self.by_symbol.get(END)
        if ends:
            edge[1] = ends[0]
        else:
            self.accept(edge[1])

    def _decide(self, key: EdgeKey, edge: list[int], level: float | None) -> bool:
        """Accept or fold the node that an edge leads to, if that is clear enough."""
        node = edge[1]
        rivals = self.by_symbol.get(self.graph.symbols[node], ())
        gains = [(self.gain(clone, node), clone) for clone in rivals]
        if key[0] in rivals:
            back = self._odds_back + math.log(len(rivals))
            gains = [(gain + back * (clone == key[0]), clone) for gain, clone in gains]
        possible = sorted((one for one in gains if one[0] > -CONFLICT), reverse=True)
        if not possible:
            self.accept(node)
        elif _is_clear(possible, level):
            self._join(key, node, possible[0][1])
        else:
            self.undecided[key] = possible
            return False
        self.undecided.pop(key, None)
        return True

    def _join(self, key: EdgeKey, node: int, clone: int) -> None:
        at, action, outcome = key
        row = self.graph.rows[at][action]
        row[outcome] = [row[outcome][0], clone]
        self.fold(clone, node, [])

    def count_base(self) -> None:
        """Count again how many clones show what."""
        base = OutcomeBase(self.base.strength)
        for clone in self.clones:
            for action, row in self.graph.rows[clone].items():
                base.add_row((self.graph.symbols[clone], action), row)
        self.base = base


def _is_clear(possible: Candidates, level: float | None) -> bool:
    """Whether the first of the candidates is clearly the best; without a level, the only one."""
    if level is None:
        return len(possible) == 1
    second = possible[1][0] if len(possible) > 1 else 0.0
    return possible[0][0] >= level + max(0.0, second)


def labelled_folding(
    episodes: Sequence[Episode], labels: Sequence[Sequence[Hashable]], strength: float
) -> Folding:
    """Each label is a clone, and nothing is undecided; there is a label for each step.

    An outcome of a clone leads to the label that came after it for the first time, whatever the
    label of a later step: so each episode can be followed.
    """
    graph, nodes = Automaton(), dict[Hashable, int]()
    for episode, path in zip(episodes, labels, strict=True):
        node = 0
        for (action, outcome), label in zip(episode, path, strict=True):
            row = graph.rows[node].setdefault(action, {})
            if outcome not in row:
                if label not in nodes:
                    nodes[label] = len(graph.symbols)
                    graph.symbols.append(END if outcome.ended else outcome.symbol)
                    graph.rows.append({})
                row[outcome] = [0, nodes[label]]
            row[outcome][0] += 1
            node = row[outcome][1]
    folding = Folding(graph, OutcomeBase(strength))
    for node in range(1, len(graph.symbols)):
        folding.accept(node)
    folding.count_base()
    return folding
