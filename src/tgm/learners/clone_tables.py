"""A folding as arrays: clones, where their actions lead, and the belief in them."""

from __future__ import annotations

import math

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.inference.filtering import condition, predict
from tgm.planning.belief_planner import HiddenWorld
from tgm.planning.clone_planner import ClonePlanner
from tgm.transition.automaton import BEGIN, END, ROOT, Row

UNKNOWN_WAY = 0.02  # tries that "it may lead to any clone" is worth in a row
NEVER = 1e-12  # least likelihood of a clone: its logarithm is finite


class CloneTables:
    """One row for each clone; ends are none.

    Attributes:
        clones: nodes of the folding.
        symbols: (n_states,) what each looks like.
        weight: (n_states,) how often each was reached.
        counts: (n_actions, n_states, n_states) tries; those that ended an episode stay in place.
        ends: (n_actions, n_states) tries that ended an episode.
        rewards: (n_actions, n_states) sums.
        values: (n_states, n_actions) greedy.
    """

    def __init__(self, planner: ClonePlanner) -> None:
        """Read a folding as it is."""
        folding = planner.folding
        symbols = folding.graph.symbols
        self.clones = [c for c in folding.clones if symbols[c] not in (ROOT, END)]
        self._index = {clone: i for i, clone in enumerate(self.clones)}
        self._folding = folding
        n, n_actions = len(self.clones), planner.n_actions
        self.symbols: IntArray = np.array([symbols[c] for c in self.clones], dtype=np.intp)
        self.counts = np.zeros((n_actions, n, n))
        self.ends, self.rewards = np.zeros((n_actions, n)), np.zeros((n_actions, n))
        for i, clone in enumerate(self.clones):
            for action, row in folding.graph.rows[clone].items():
                self._read_row(i, clone, action, row)
        self.starts = np.zeros(n)
        for outcome, (count, target) in folding.graph.rows[0].get(BEGIN, {}).items():
            if outcome.reward:  # a piece of an episode: it did not begin there
                continue
            for j, share in self._shares((0, BEGIN, outcome), target):
                self.starts[j] += count * share
        into = self.counts.sum(axis=(0, 1)) - np.einsum("ai->i", self.ends)
        self.weight = np.maximum(1.0, into + self.starts)
        found = [planner.greedy_values(clone) for clone in self.clones]
        self.values = np.array(found, dtype=np.float64).reshape(n, n_actions)

    def _read_row(self, i: int, clone: int, action: int, row: Row) -> None:
        for outcome, (count, target) in row.items():
            self.rewards[action, i] += count * outcome.reward
            if outcome.ended:
                self.ends[action, i] += count
                self.counts[action, i, i] += count
                continue
            shares = self._shares((clone, action, outcome), target)
            for j, share in shares or [(i, 1.0)]:
                self.counts[action, i, j] += count * share

    def _shares(self, key: tuple, target: int) -> list[tuple[int, float]]:  # type: ignore[type-arg]
        """The clones that an edge leads to, by their probabilities."""
        if target in self._index:
            return [(self._index[target], 1.0)]
        rivals = self._folding.undecided.get(key)
        if rivals is None:
            alike = self._folding.by_symbol.get(self._folding.graph.symbols[target], ())
            rivals = [(0.0, clone) for clone in alike]
        weights = [math.exp(nats - rivals[0][0]) for nats, _ in rivals]
        total = sum(weights)
        pairs = zip(rivals, weights, strict=True)
        return [(self._index[clone], weight / total) for (_, clone), weight in pairs]

    def hidden_world(self, gamma: float) -> HiddenWorld:
        """What plans under doubt are made from."""
        tries = self.counts.sum(axis=2)
        ways = self.counts / np.maximum(tries, 1.0)[:, :, None]
        n = len(self.clones)
        ways[:, np.arange(n), np.arange(n)] -= self.ends / np.maximum(tries, 1.0)
        rewards = self.rewards / np.maximum(tries, 1.0)
        return HiddenWorld(ways, rewards, tries > 0.0, self.values, self.symbols, gamma)

    # --- beliefs ----------------------------------------------------------------------------------

    def place(self, clone: int) -> int | None:
        """The row of a clone; None of an end."""
        return self._index.get(clone)

    def looked(self, likelihood: FloatArray) -> FloatArray:
        """(n, n_states) belief from what is seen alone; `likelihood` is (n, n_states)."""
        return condition(self.weight / self.weight.sum(), np.log(likelihood + NEVER))[0]

    def after(self, expected: FloatArray, likelihood: FloatArray) -> FloatArray:
        """(n_states,) belief after something was seen, from what was expected."""
        return condition(expected, np.log(likelihood + NEVER))[0]

    def expected(self, before: FloatArray | None, action: int | None) -> FloatArray:
        """(n_states,) where an action leads from a belief (n_states,), or where episodes begin."""
        anywhere = self.weight / self.weight.sum()
        if before is None or action is None:
            reached, tries = self.starts, self.starts.sum()
            return np.asarray((reached + UNKNOWN_WAY * anywhere) / (tries + UNKNOWN_WAY))
        rows = self.counts[action].copy()
        n = len(rows)
        rows[np.arange(n), np.arange(n)] -= self.ends[action]  # steps that ended are no way to stay
        rows += UNKNOWN_WAY * anywhere
        rows /= rows.sum(axis=1, keepdims=True)
        return predict(before, rows)

    def likelihood(self, seen: FloatArray, names: IntArray) -> FloatArray:
        """(n, n_states) from probabilities (n, n_names) of the symbols alone."""
        column = {int(name): k for k, name in enumerate(names.tolist())}
        columns = [column.get(symbol, -1) for symbol in self.symbols.tolist()]
        padded = np.concatenate([seen, np.zeros((len(seen), 1))], axis=1)
        return padded[:, columns]
