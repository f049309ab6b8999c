"""Episodes as blocks of rows, so that messages pass along many places of a log at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tgm.distributions import FloatArray, IntArray

BLOCK = 64  # rows of a block
NO_BLOCK = -1


@dataclass(frozen=True, eq=False)
class Episodes:
    """Rows of one or more episodes, one after the other.

    Attributes:
        points: (n_rows, n_features) observations; NaN is a value that is missing.
        actions: (n_rows,) index of the action between a row and the next one; the one of the last
            row of an episode is not used.
        lengths: (n_episodes,) rows of each episode, at least 1; they sum to n_rows.
        n_actions: number of actions; 1 where there are none.
    """

    points: FloatArray
    actions: IntArray
    lengths: IntArray
    n_actions: int = 1

    @property
    def n_rows(self) -> int:
        """Number of observations."""
        return len(self.points)

    @cached_property
    def starts(self) -> IntArray:
        """(n_episodes,) the first row of each episode."""
        return np.asarray(np.cumsum(self.lengths) - self.lengths)

    @cached_property
    def steps(self) -> list[IntArray]:
        """For each action, the rows that it leads on from within an episode."""
        goes_on = np.ones(self.n_rows, dtype=bool)
        goes_on[self.starts + self.lengths - 1] = False
        return [
            np.flatnonzero(goes_on & (self.actions == action)) for action in range(self.n_actions)
        ]

    @cached_property
    def blocks(self) -> Blocks:
        """The episodes cut into blocks."""
        return Blocks.of(self.starts, self.lengths)


@dataclass(frozen=True, eq=False)
class Blocks:
    """Pieces of episodes of at most BLOCK rows, the longest first.

    Attributes:
        first: (n_blocks,) the first row.
        length: (n_blocks,) number of rows, not increasing.
        before, after: (n_blocks,) the neighbours in the same episode; NO_BLOCK if there is none.
    """

    first: IntArray
    length: IntArray
    before: IntArray
    after: IntArray

    @classmethod
    def of(cls, starts: IntArray, lengths: IntArray) -> Blocks:
        """The blocks of episodes that start at `starts` and have `lengths` rows."""
        counts = -(-lengths // BLOCK)
        episode = np.repeat(np.arange(len(lengths)), counts)
        place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        first = starts[episode] + BLOCK * place
        length = np.minimum(BLOCK, lengths[episode] - BLOCK * place)
        order = np.argsort(-length, kind="stable")
        rank = np.empty(len(order), dtype=np.intp)
        rank[order] = np.arange(len(order))
        before, after = np.full(len(order), NO_BLOCK), np.full(len(order), NO_BLOCK)
        follows = np.flatnonzero(place > 0)
        before[rank[follows]], after[rank[follows - 1]] = rank[follows - 1], rank[follows]
        return cls(first[order], length[order], before, after)

    @cached_property
    def last(self) -> IntArray:
        """(n_blocks,) the last row."""
        return np.asarray(self.first + self.length - 1)
