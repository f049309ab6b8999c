"""What a learner of states calls a point: the symbols that clones are of."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.learners.step_info import StepInfo
from tgm.perception.observation_model import NO_STATE
from tgm.transition.automaton import END

NOTHING_KNOWN = 0  # the symbol of everything before there is a state


class Reader(Protocol):
    """What recognises states."""

    @property
    def state_ids(self) -> IntArray:
        """(n_states,) names."""

    @property
    def outlier_share(self) -> float:
        """Share of the observations so far that belonged to no state."""

    def belief(self, observations: FloatArray) -> FloatArray:
        """(n_observations, n_states) probability of each state given each observation alone."""


def symbols_of(points: FloatArray, reader: Reader) -> IntArray:
    """(n,) the names of the most likely states of points (n, n_features), each by itself.

    Points that are equal are looked at once: where features are exact, most are.
    """
    names = reader.state_ids
    if len(names) == 0:
        return np.full(len(points), NOTHING_KNOWN, dtype=np.intp)
    place: dict[bytes, int] = {}
    which = [place.setdefault(point.tobytes(), len(place)) for point in points]
    different = np.frombuffer(b"".join(place), dtype=points.dtype).reshape(-1, points.shape[1])
    belief = reader.belief(different)
    return np.asarray(names[_likeliest(belief, np.array(which))][which], dtype=np.intp)


def _likeliest(belief: FloatArray, which: IntArray) -> IntArray:
    """(n_different,) the likeliest states, those first that most of the points belong to.

    A state that was born of an outlier beside another one has a few points of its edge. Given how
    many the two have, most of these belong to the other, and then even more: it is left without.

    Args:
        belief: (n_different, n_states) given each observation alone.
        which: (n,) the row of each point.
    """
    found = belief.argmax(axis=1)
    while True:
        before, counts = found, np.bincount(found[which], minlength=belief.shape[1])
        found = (belief * counts).argmax(axis=1)
        if (found == before).all():
            return np.asarray(found, dtype=np.intp)


def symbol_of(info: StepInfo, point: FloatArray, reader: Reader, ended: bool = False) -> int:
    """The symbol of the newest observation; all observations that end an episode share one."""
    if ended:
        return END
    if info.state != NO_STATE:
        return int(info.state)
    return int(symbols_of(point[None], reader)[0])
