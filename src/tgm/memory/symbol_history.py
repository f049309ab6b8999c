"""Episodes that are kept as symbols, to be looked at again as a whole."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.errors import DataError
from tgm.files.arrays import ArrayReader, Arrays
from tgm.transition.automaton import (
    BEGIN,
    Episode,
    Happening,
    Outcome,
    episodes_from_arrays,
    episodes_to_arrays,
)

MOST_HISTORY_STEPS = 6000  # steps that are kept
LONGEST_EPISODE = 2000  # steps; a longer one is kept in pieces, so that old ones can be evicted
MOST_POINT_NUMBERS = 3_000_000  # in all kept points together


class SymbolHistory:
    """The newest episodes: what was seen as symbols, and the points that these stand for.

    Attributes:
        episodes: the newest last.
        points: the same as they were seen.
        n_steps: steps that are kept.
    """

    def __init__(self, n_features: int) -> None:
        """Nothing happened yet."""
        self.n_features = n_features
        self.episodes: list[Episode] = []
        self.points: list[list[FloatArray]] = []
        self.n_steps = 0
        self._most = max(100, min(MOST_HISTORY_STEPS, MOST_POINT_NUMBERS // n_features))

    @property
    def newest(self) -> Outcome:
        """What was seen last."""
        return self.episodes[-1][-1].outcome

    @property
    def is_long(self) -> bool:
        """Whether the newest episode is so long that a new piece of it should begin."""
        return len(self.episodes[-1]) > LONGEST_EPISODE and not self.newest.ended

    def begin(self, symbol: int, point: FloatArray) -> None:
        """Begin an episode; whole old episodes are evicted if too many steps are kept."""
        self._evict()
        self._append(Outcome(symbol, 0.0, False), point)

    def split(self) -> None:
        """Begin another piece of the newest episode where it is.

        Pieces begin at places of their own: each has a number, where others have no reward.
        """
        number = 1.0 + max(episode[0].outcome.reward for episode in self.episodes)
        self._evict()
        self._append(self.newest._replace(reward=number), self.points[-1][-1])

    def _evict(self) -> None:
        """Remove the oldest episodes, each whole, while too many steps are kept."""
        while self.n_steps > self._most and len(self.episodes) > 1:
            self.n_steps -= len(self.episodes.pop(0)) - 1
            del self.points[0]

    def _append(self, outcome: Outcome, point: FloatArray) -> None:
        self.episodes.append([Happening(BEGIN, outcome)])
        self.points.append([point.copy()])

    def add(self, action: int, outcome: Outcome, point: FloatArray) -> None:
        """A step of the newest episode."""
        self.episodes[-1].append(Happening(action, outcome))
        self.points[-1].append(point.copy())
        self.n_steps += 1

    def relabel(self, symbols_of: Callable[[FloatArray], IntArray]) -> bool:
        """Look at all kept points again: (n,) symbols of (n, n_features) points.

        Returns whether any has another symbol than before.
        """
        points = [point for episode in self.points for point in episode]
        symbols = iter(symbols_of(np.array(points).reshape(-1, self.n_features)).tolist())
        has_changed = False
        for episode in self.episodes:
            for i, (action, outcome) in enumerate(episode):
                symbol = next(symbols)
                if not outcome.ended and outcome.symbol != symbol:
                    episode[i] = Happening(action, outcome._replace(symbol=symbol))
                    has_changed = True
        return has_changed

    def recent_points(self, n: int) -> FloatArray:
        """(at most n, n_features) the newest points at which no episode ended."""
        found: list[FloatArray] = []
        for episode, points in zip(reversed(self.episodes), reversed(self.points), strict=True):
            is_last_out = episode[-1].outcome.ended
            found += points[:-1] if is_last_out else points
            if len(found) >= n:
                break
        return np.array(found[-n:]).reshape(-1, self.n_features)

    # --- files ------------------------------------------------------------------------------------

    def to_arrays(self) -> Arrays:
        """Everything."""
        points = [point for episode in self.points for point in episode]
        return {
            **episodes_to_arrays(self.episodes),
            "point": np.array(points, dtype=np.float64).reshape(-1, self.n_features),
        }

    def restore(self, saved: ArrayReader, n_actions: int) -> None:
        """Take over what `to_arrays` gave, checked."""
        self.episodes = episodes_from_arrays(saved, n_actions)
        self.n_steps = sum(len(episode) - 1 for episode in self.episodes)
        n = self.n_steps + len(self.episodes)
        points = iter(saved.floats("point", n, self.n_features))
        self.points = [[next(points) for _ in episode] for episode in self.episodes]
        if any(outcome.ended for one in self.episodes for _, outcome in one[:-1]):
            raise DataError("array 'ended' ends an episode that goes on")
