"""The steps that are kept in a world that flows: a bounded number, thinned when it is full."""

from __future__ import annotations

import numpy as np

from tgm.distributions import FloatArray
from tgm.files.arrays import ANY, LARGEST, ArrayReader, Arrays
from tgm.transition.flow_units import Steps

MOST_FLOW_STEPS = 8000  # steps; then half of them are left
MOST_STARTS = 64  # first observations of episodes: the newest
IMAGINED_FROM = 16  # first observations from which plans are imagined
VISITED = 8  # recent places from which they are imagined too
RECENT_STEPS = 480  # steps in which those places were


class FlowMemory:
    """Steps in order of time, and where episodes began.

    Attributes:
        n_new: steps that were added since `all_learned`: the last ones.
        starts: first observations of the newest episodes.
    """

    def __init__(self, n_features: int) -> None:
        """Keep nothing yet."""
        self._n_features, self._n = n_features, 0
        self._rows = _empty(64, n_features)
        self.n_new = 0
        self.starts: list[FloatArray] = []

    def __len__(self) -> int:
        return self._n

    def begin(self, observation: FloatArray) -> None:
        """An episode began."""
        self.starts = [*self.starts[-(MOST_STARTS - 1) :], observation.copy()]

    def add(
        self,
        departure: FloatArray,
        action: int,
        reward: float,
        arrival: FloatArray,
        *,
        ended: bool,
    ) -> None:
        """Keep a step."""
        if self._n == len(self._rows.action):
            more = _empty(2 * self._n, self._n_features)
            for field, longer in zip(self._rows, more, strict=True):
                longer[: self._n] = field
            self._rows = more
        rows, last = self._rows, self._n
        rows.departure[last], rows.arrival[last] = departure, arrival
        rows.action[last], rows.reward[last], rows.ended[last] = action, reward, ended
        self._n += 1
        self.n_new += 1

    def steps(self) -> Steps:
        """All of them."""
        return self._rows.chosen(slice(self._n))

    def places(self) -> FloatArray:
        """(n, n_features) from which plans are imagined: the newest starts, and recent places.

        Recent places show that a plan fails late in an episode; starts alone do not.
        """
        lately = self.steps().departure[-RECENT_STEPS :: RECENT_STEPS // VISITED]
        return np.concatenate([np.array(self.starts[-IMAGINED_FROM:]), lately])

    def lately(self) -> FloatArray:
        """(n, n_features) where the newest steps began."""
        return self.steps().departure[-RECENT_STEPS:]

    def all_learned(self) -> int:
        """Mark all steps as learned; returns how many were evicted, because memory was full.

        Of those that stay up to a quarter are ends, the newest; the others are thinned evenly.
        """
        self.n_new = 0
        if self._n < MOST_FLOW_STEPS:
            return 0
        steps, half = self.steps(), MOST_FLOW_STEPS // 2
        ends = np.flatnonzero(steps.ended)[-half // 4 :]
        others = np.setdiff1d(np.arange(self._n), ends)
        spread = np.linspace(0, len(others) - 1, half - len(ends)).astype(np.intp)
        kept = np.sort(np.concatenate([ends, others[spread]]))
        n_gone = self._n - len(kept)
        self._rows, self._n = steps.chosen(kept), len(kept)
        return n_gone

    def let_new_go(self) -> int:
        """Forget the steps that were not learned; returns how many."""
        n_gone, self.n_new = self.n_new, 0
        self._n -= n_gone
        return n_gone

    def to_arrays(self) -> Arrays:
        """Everything."""
        starts = np.array(self.starts).reshape(-1, self._n_features)
        arrays: Arrays = dict(zip(Steps._fields, self.steps(), strict=True))
        return arrays | {"starts": starts, "n_new": np.array([self.n_new])}

    def restore(self, saved: ArrayReader, n_actions: int) -> None:
        """Take over what `to_arrays` gave, checked."""
        n_features = self._n_features
        departure = saved.floats("departure", ANY, n_features, size=LARGEST)
        self._n = n = len(departure)
        self._rows = Steps(
            departure,
            saved.whole("action", n, high=n_actions - 1),
            saved.floats("reward", n, size=LARGEST),
            saved.floats("arrival", n, n_features, size=LARGEST),
            saved.flags("ended", n),
        )
        if n == 0:
            self._rows = _empty(64, n_features)
        self.starts = list(saved.floats("starts", ANY, n_features, size=LARGEST))
        self.n_new = min(saved.count("n_new"), n)


def _empty(n: int, n_features: int) -> Steps:
    shape = (n, n_features)
    return Steps(
        np.zeros(shape), np.zeros(n, np.intp), np.zeros(n), np.zeros(shape), np.zeros(n, bool)
    )
