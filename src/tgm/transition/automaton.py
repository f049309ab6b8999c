"""Episodes as a graph: nodes that look like a symbol, and what each action did there.

A prefix tree of episodes is one, and so is a world whose places look alike: rows hold what
happened, and where their outcomes lead is the hidden state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from tgm.errors import DataError
from tgm.files.arrays import ANY, ArrayReader, Arrays

END = -1  # symbol of where an episode has ended
ROOT = -2  # symbol of the node before the first observation of an episode
BEGIN = -1  # the action of the root


class Outcome(NamedTuple):
    """What is seen of a step: the symbol that was reached, the reward, and whether it ended."""

    symbol: int
    reward: float
    ended: bool


class Happening(NamedTuple):
    """One step of an episode, or its beginning (`BEGIN`)."""

    action: int
    outcome: Outcome


Edge = list[int]
"""How often an outcome was seen, and the node that it leads to."""
Row = dict[Outcome, Edge]
"""The outcomes of one action at one node."""
Episode = list[Happening]


def copied(row: Row) -> Row:
    """The same outcomes with edges of its own."""
    return {outcome: [edge[0], edge[1]] for outcome, edge in row.items()}


class Automaton:
    """Nodes from 0, the root.

    Attributes:
        symbols: what each node looks like; `END` and `ROOT` are none.
        rows: by node and action.
    """

    def __init__(self) -> None:
        """Only the root."""
        self.symbols: list[int] = [ROOT]
        self.rows: list[dict[int, Row]] = [{}]

    @classmethod
    def of(cls, episodes: Iterable[Episode]) -> Automaton:
        """The prefix tree of episodes: those that begin in the same way share nodes."""
        tree = cls()
        for episode in episodes:
            node = 0
            for action, outcome in episode:
                node = tree.advance(node, action, outcome)
        return tree

    def advance(self, node: int, action: int, outcome: Outcome) -> int:
        """Count an outcome; returns the node that it leads to, a new one if it never happened."""
        row = self.rows[node].setdefault(action, {})
        edge = row.get(outcome)
        if edge is None:
            self.symbols.append(END if outcome.ended else outcome.symbol)
            self.rows.append({})
            edge = row[outcome] = [0, len(self.symbols) - 1]
        edge[0] += 1
        return edge[1]

    def copy(self) -> Automaton:
        """The same, independent of this one."""
        other = Automaton()
        other.symbols = list(self.symbols)
        other.rows = [
            {action: copied(row) for action, row in rows.items()} for rows in self.rows
        ]  # fmt: skip
        return other

    def reachable(self, nodes: Sequence[int]) -> list[int]:
        """The nodes, and all that can be reached from them."""
        found, seen = list(nodes), set(nodes)
        for node in found:
            for row in self.rows[node].values():
                for _, target in row.values():
                    if target not in seen:
                        seen.add(target)
                        found.append(target)
        return found

    # --- files ------------------------------------------------------------------------------------

    def to_arrays(self) -> Arrays:
        """Nodes, and edges in their order."""
        entries = [
            (node, action, *outcome, *edge)
            for node, rows in enumerate(self.rows)
            for action, row in rows.items()
            for outcome, edge in row.items()
        ]
        node, action, symbol, reward, ended, count, target = _columns(entries, 7)
        return {
            "symbols": np.array(self.symbols, dtype=np.intp),
            "node": np.array(node, dtype=np.intp),
            "action": np.array(action, dtype=np.intp),
            "symbol": np.array(symbol, dtype=np.intp),
            "reward": np.array(reward, dtype=np.float64),
            "ended": np.array(ended, dtype=bool),
            "count": np.array(count, dtype=np.intp),
            "target": np.array(target, dtype=np.intp),
        }

    @classmethod
    def from_arrays(cls, saved: ArrayReader, n_actions: int) -> Automaton:
        """Take over what `to_arrays` gave, checked."""
        self = cls()
        self.symbols = saved.whole("symbols", ANY, low=ROOT).tolist()
        n = len(self.symbols)
        if n == 0 or self.symbols[0] != ROOT or ROOT in self.symbols[1:]:
            raise DataError("array 'symbols' does not begin with the root, or has another one")
        self.rows = [{} for _ in range(n)]
        nodes = saved.whole("node", ANY, high=n - 1).tolist()
        m = len(nodes)
        columns = (
            saved.whole("action", m, low=BEGIN, high=n_actions - 1).tolist(),
            saved.whole("symbol", m, low=END).tolist(),
            saved.floats("reward", m).tolist(),
            saved.flags("ended", m).tolist(),
            saved.whole("count", m, low=1).tolist(),
            saved.whole("target", m, low=1, high=n - 1).tolist(),
        )
        entries = zip(nodes, *columns, strict=True)
        for node, action, symbol, reward, ended, count, target in entries:
            if (action == BEGIN) != (node == 0) or self.symbols[target] != symbol:
                raise DataError(f"an edge of node {node} does not fit the nodes that it joins")
            row = self.rows[node].setdefault(action, {})
            row[Outcome(symbol, reward, ended)] = [count, target]
        return self


def episodes_to_arrays(episodes: Sequence[Episode]) -> Arrays:
    """Episodes, one after the other."""
    entries = [(action, *outcome) for episode in episodes for action, outcome in episode]
    action, symbol, reward, ended = _columns(entries, 4)
    return {
        "action": np.array(action, dtype=np.intp),
        "symbol": np.array(symbol, dtype=np.intp),
        "reward": np.array(reward, dtype=np.float64),
        "ended": np.array(ended, dtype=bool),
    }


def episodes_from_arrays(saved: ArrayReader, n_actions: int) -> list[Episode]:
    """Take over what `episodes_to_arrays` gave, checked."""
    actions = saved.whole("action", ANY, low=BEGIN, high=n_actions - 1).tolist()
    n = len(actions)
    symbols = saved.whole("symbol", n, low=END).tolist()
    rewards, ended = saved.floats("reward", n).tolist(), saved.flags("ended", n).tolist()
    episodes: list[Episode] = []
    for action, *outcome in zip(actions, symbols, rewards, ended, strict=True):
        if action == BEGIN:
            episodes.append([])
        elif not episodes:
            raise DataError("array 'action' does not begin with an episode")
        episodes[-1].append(Happening(action, Outcome(*outcome)))
    return episodes


def _columns(entries: Sequence[tuple[float, ...]], width: int) -> Sequence[Sequence[float]]:
    return list(zip(*entries, strict=True)) if entries else [()] * width
