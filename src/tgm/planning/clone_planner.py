"""Plans among clones: towards value, towards unknown actions, and to tell two clones apart."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from heapq import heappop, heappush

import numpy as np

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.structure.folding import Folding
from tgm.transition.automaton import END, ROOT, Outcome

MOST_GREEDY_SWEEPS = 1000  # at most, for the greedy values
TOLERANCE = 1e-7  # of the values, relative to the lowest
TOO_LONG = 150.0  # expected tries of a way to what is unknown
UNTRIED = -1  # stands for an action that was never tried
LONGEST_TEST = 12  # actions of a word that tells two clones apart


class ClonePlanner:
    """Plans in one folding as it is; what it finds is kept until the folding changes."""

    def __init__(self, folding: Folding, n_actions: int, gamma: float) -> None:
        """Nothing is planned yet."""
        self.folding, self.n_actions, self.gamma = folding, n_actions, gamma
        self._tests: dict[tuple[int, int], tuple[int, int] | None] = {}
        self._greedy: tuple[dict[int, int], FloatArray] | None = None
        self._shares: dict[tuple[int, Outcome], float] = {}

    # --- what is unknown --------------------------------------------------------------------------

    def towards_unknown(self, node: int) -> int | None:
        """The first action of a shortest way to one that was never tried; None if there is none.

        The length of a step is its expected tries, that of the new action those until one shows
        something else than what it does at places alike: what is not known matters more where it
        can be foreseen less. Of equal ways always the same is chosen, so that histories overlap
        and are compared sooner.
        """
        graph, n_actions = self.folding.graph, self.n_actions
        done, ways = set[int](), [(0.0, node, -1)]
        while ways:
            cost, at, first = heappop(ways)
            if at == UNTRIED:
                return first
            if at in done:
                continue
            done.add(at)
            rows = graph.rows[at]
            for action in range(n_actions):
                begin = action if first < 0 else first
                row = rows.get(action)
                if row is None:
                    tries = self._tries_to_surprise(graph.symbols[at], action)
                    heappush(ways, (cost + tries, UNTRIED, begin))
                    continue
                total = sum(edge[0] for edge in row.values())
                for outcome, (count, target) in row.items():
                    longer = cost + total / count  # tries until it happens
                    if longer < TOO_LONG and target not in done and not outcome.ended:
                        heappush(ways, (longer, target, begin))
        return None

    def _tries_to_surprise(self, symbol: int, action: int) -> float:
        """Until an action does something else than what it does at most places that look alike.

        Before it was tried at many of them, it is as likely to differ as other actions there that
        have done the same.
        """
        base = self.folding.base
        known = base.counts.get((symbol, action))
        if not known:
            return 1.0
        usual = max(known, key=lambda outcome: known[outcome])
        n_places = sum(known.values())
        prior = base.strength * (len(known) + 1)
        others = n_places - known[usual] + prior * self._share_of_others(symbol, usual)
        return (n_places + prior) / others

    def _share_of_others(self, symbol: int, usual: Outcome) -> float:
        """How often an action does something else where it does this at a place that looks alike.

        Of all actions; as likely as not before there are two such places.
        """
        key = (symbol, usual)
        if key not in self._shares:
            n_others, n_pairs = 0.5, 1.0
            for action in range(self.n_actions):
                known = self.folding.base.counts.get((symbol, action), {})
                if usual in known:
                    n_others += sum(known.values()) - known[usual]
                    n_pairs += max(0, sum(known.values()) - 1)
            self._shares[key] = n_others / n_pairs
        return self._shares[key]

    # --- what tells clones apart ------------------------------------------------------------------

    def test(self, one: int, other: int) -> tuple[int, int] | None:
        """Length and first action of the shortest word whose outcomes differ from two clones."""
        key = (one, other)
        if key not in self._tests:
            self._tests[key] = self._shortest_test(key)
        return self._tests[key]

    def telling_apart(self, rivals: Sequence[tuple[float, int]]) -> int | None:
        """The first action of the shortest word that tells two of the likeliest rivals apart."""
        tests = [
            self.test(rivals[i][1], rivals[j][1])
            for j in range(1, min(len(rivals), 5))
            for i in range(j)
        ]
        found = [test for test in tests if test is not None]
        return min(found)[1] if found else None

    def _shortest_test(self, pair: tuple[int, int]) -> tuple[int, int] | None:
        rows, is_clone = self.folding.graph.rows, self.folding.is_clone
        seen, words = {pair}, deque([(pair, 0, -1)])
        while words:
            (one, other), length, first = words.popleft()
            if length >= LONGEST_TEST:
                break
            for action in range(self.n_actions):
                row, rival = rows[one].get(action), rows[other].get(action)
                if row is None or rival is None:
                    continue
                begin = action if first < 0 else first
                usual = max(row, key=lambda outcome: row[outcome][0])
                if usual not in rival:
                    return length + 1, begin
                after = (row[usual][1], rival[usual][1])
                joined = after[0] == after[1] or usual.ended or not is_clone.issuperset(after)
                if not joined and after not in seen:
                    seen.add(after)
                    words.append((after, length + 1, begin))
        return None

    # --- what is worth most -----------------------------------------------------------------------

    def greedy_values(self, node: int) -> FloatArray | None:
        """(n_actions,) values of what is known; None of a node that was not there."""
        if self._greedy is None:
            self._greedy = self._swept()
        index, values = self._greedy
        return values[index[node]] if node in index else None

    def _swept(self) -> tuple[dict[int, int], FloatArray]:
        """Value iteration over the clones and what hangs below them.

        An action that was never tried is worth the least; just below the clones, as much as in the
        clone that a node is most likely to be.
        """
        graph, n_actions = self.folding.graph, self.n_actions
        nodes = graph.reachable(self.folding.clones)
        index = {node: i for i, node in enumerate(nodes)}
        edges = [
            (index[node] * n_actions + action, index[target], count, outcome.reward, outcome.ended)
            for node in nodes
            if graph.symbols[node] not in (END, ROOT)
            for action, row in graph.rows[node].items()
            for outcome, (count, target) in row.items()
        ]
        if not edges:
            return index, np.zeros((len(nodes), n_actions))
        source, target, count, reward, ended = (np.array(c) for c in zip(*edges, strict=True))
        size = len(nodes) * n_actions
        total = np.bincount(source, count, size)
        share = count / total[source]
        expected = np.bincount(source, share * reward, size)
        onward = share * self.gamma * ~ended.astype(bool)
        lowest = min(0.0, float(reward.min())) / (1.0 - self.gamma)
        unknown = np.flatnonzero(total == 0.0)
        borrow = self._borrowed(index, total.reshape(-1, n_actions) > 0.0)

        def sweep(values: FloatArray) -> FloatArray:
            found = expected + np.bincount(source, onward * values[target], size)
            found[unknown] = lowest
            found[borrow[0]] = found[borrow[1]]
            return np.asarray(found, dtype=np.float64)

        return index, _fixed_point(sweep, len(nodes), n_actions, 1.0 + abs(lowest))

    def _borrowed(self, index: dict[int, int], known: BoolArray) -> IntArray:
        """(2, n) rows below the clones, and those of the likeliest clones that stand for them."""
        graph, n_actions = self.folding.graph, self.n_actions
        pairs = []
        for (node, action, outcome), rivals in self.folding.undecided.items():
            edge = graph.rows[node].get(action, {}).get(outcome)
            if edge is None or edge[1] not in index or not rivals:
                continue
            below, clone = index[edge[1]], index[rivals[0][1]]
            for a in np.flatnonzero(known[clone] & ~known[below]).tolist():
                pairs.append((below * n_actions + a, clone * n_actions + a))
        return np.array(pairs, dtype=np.intp).reshape(-1, 2).T


def _fixed_point(
    sweep: Callable[[FloatArray], FloatArray], n_nodes: int, n_actions: int, unit: float
) -> FloatArray:
    """(n_nodes, n_actions) values that a sweep leaves as they are."""
    values = np.zeros(n_nodes)
    for _ in range(MOST_GREEDY_SWEEPS):
        found = sweep(values).reshape(n_nodes, n_actions)
        best = found.max(axis=1)
        # Root and ends have no actions: the worst is not what they are worth.
        best[0] = 0.0
        change = float(np.abs(best - values).max())
        values = best
        if change < TOLERANCE * unit:
            break
    return found
