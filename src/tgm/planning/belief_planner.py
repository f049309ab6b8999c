"""Plans under doubt: values of actions where the agent may be in one of several states.

The mean of the values of the states assumes that the doubt ends after one step, whatever is done.
So nothing is paid for a look that ends it, and an action that leaves it as it is may seem good for
ever. Here the beliefs that may follow are the states of a plan of their own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tgm.distributions import BoolArray, FloatArray, IntArray

DOUBT = 0.05  # of the probability of the likeliest state: less likely ones are left out
MOST_BELIEFS = 100  # whose actions are looked at; of others the mean value is believed
MOST_UPDATES = 300  # Bellman updates, from the lowest value
DIGITS = 3  # of the probabilities of a belief; beliefs that agree in them are the same
EXACT = 1e-9  # of the values, relative to the lowest: smaller changes end the updates


class HiddenWorld(NamedTuple):
    """A world as it is known, and its values were the state always seen.

    Attributes:
        ways: (n_actions, n_states, n_states) probability of each next state; what is missing from
            1 is the end of the episode.
        rewards: (n_actions, n_states) expected.
        is_known: (n_actions, n_states) whether an action was tried.
        values: (n_states, n_actions) of each action in each state.
        looks: (n_states,) what is seen of each state.
        gamma: the discount.
    """

    ways: FloatArray
    rewards: FloatArray
    is_known: BoolArray
    values: FloatArray
    looks: IntArray
    gamma: float


def values_in_doubt(belief: FloatArray, world: HiddenWorld) -> FloatArray:
    """(n_actions,) values of actions in a belief (n_states,), with what is seen after each step.

    Q(b, a) = sum_s b(s) r(s, a) + gamma sum_o P(o | b, a) max_a' Q(b_o, a')

    where b_o is the belief after the look o, and Q(b, a) = Q(s, a) once the state is known. An
    action that was never tried in a state is worth there what `values` say. Exact where at most
    `MOST_BELIEFS` can follow.
    """
    return _Beliefs(likely(belief), world).values()


def is_doubt(belief: FloatArray) -> bool:
    """Whether more than one state of a belief (n_states,) is likely."""
    return bool(np.count_nonzero(_is_likely(belief)) > 1)


def likely(belief: FloatArray) -> FloatArray:
    """The same belief (n_states,) without improbable states."""
    kept = np.where(_is_likely(belief), belief, 0.0)
    return np.asarray(kept / kept.sum())


def _is_likely(belief: FloatArray) -> BoolArray:
    return np.asarray(belief >= DOUBT * belief.max(initial=0.0))


class _Beliefs:
    """The beliefs that can follow from one, breadth first, and a plan among them."""

    def __init__(self, start: FloatArray, world: HiddenWorld) -> None:
        self._world = world
        self._beliefs = [start]
        self._index = {_key(start): 0}
        self._edges: list[tuple[int, int, float]] = []  # row, next belief, probability
        gains = list[FloatArray | list[float]]()
        for number, belief in enumerate(self._beliefs):
            if number < MOST_BELIEFS and np.count_nonzero(belief) > 1:
                gains.append([self._follow(number, a) for a in range(len(world.ways))])
            else:
                gains.append(belief @ world.values)
        self._gains = np.array(gains)

    def _follow(self, number: int, action: int) -> float:
        """Find the beliefs after an action; returns its reward, and values where it is unknown."""
        world, belief = self._world, self._beliefs[number]
        known = np.where(world.is_known[action], belief, 0.0)
        after = known @ world.ways[action]
        row = number * len(world.ways) + action
        for look in np.unique(world.looks[after > 0.0]).tolist():
            seen = np.where(world.looks == look, after, 0.0)
            share = float(seen.sum())
            self._edges.append((row, self._number(seen / share), share))
        untried = (belief - known) @ world.values[:, action]
        return float(known @ world.rewards[action] + untried)

    def _number(self, belief: FloatArray) -> int:
        key = _key(belief)
        if key not in self._index:
            self._index[key] = len(self._beliefs)
            self._beliefs.append(belief)
        return self._index[key]

    def values(self) -> FloatArray:
        """(n_actions,) values of the actions in the first belief."""
        gamma, gains = self._world.gamma, self._gains
        columns = zip(*self._edges, strict=True) if self._edges else ((), (), ())
        row, after, share = (np.array(column) for column in columns)
        row, after = row.astype(np.intp), after.astype(np.intp)
        worst = min(0.0, float(self._world.rewards.min())) / (1.0 - gamma)
        lowest = min(worst, float(self._world.values.min()))
        found, best = gains, np.full(len(gains), lowest)
        for _ in range(MOST_UPDATES):
            onward = np.bincount(row, gamma * share * best[after], gains.size)
            found = gains + onward.reshape(gains.shape)
            change = float(np.abs(found.max(axis=1) - best).max())
            best = found.max(axis=1)
            if change <= EXACT * (1.0 - lowest):
                break
        return np.asarray(found[0])


def _key(belief: FloatArray) -> bytes:
    return np.round(belief, DIGITS).tobytes()
