"""Dead reckoning: a place is the sum of the moves since the beginning of the episode.

Actions that undo each other are one axis; any other action is an axis of its own, on which its moves
are counted. An action after which something else is seen has moved. Where the look stays the same it
has moved or not: that is one question for each pair of a look and an action.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from tgm.transition.automaton import Episode, Outcome
from tgm.transition.clone_evidence import Kind

UNDONE = 0.5  # share of tries in which an action leads back to the look before, if it undoes another

Place = tuple[int, ...]
"""What the episode began with (a symbol and a number), and the sum of the moves on each axis."""
Axes = dict[int, tuple[int, int]]
"""The axis of each action and the direction in which it moves on it, 1 or -1."""


class Reckoning(NamedTuple):
    """How places follow from actions.

    Attributes:
        axes: of all actions.
        moving: pairs of a look and an action that moves even where the look stays the same.
        still: pairs that do not move there.
    """

    axes: Axes
    moving: frozenset[Kind]
    still: frozenset[Kind]

    def beginning(self, outcome: Outcome) -> Place:
        """Where an episode begins."""
        n_axes = 1 + max((axis for axis, _ in self.axes.values()), default=-1)
        return (outcome.symbol, int(outcome.reward), *[0] * n_axes)

    def after(self, place: Place, symbol: int, action: int, outcome: Outcome) -> Place:
        """Where an action leads from a place that looks like a symbol."""
        if outcome.symbol == symbol and (symbol, action) not in self.moving:
            return place
        axis, direction = self.axes[action]
        at = axis + 2
        return (*place[:at], place[at] + direction, *place[at + 1 :])

    def is_refuted(self, symbol: int, action: int, outcome: Outcome) -> bool:
        """Whether something else is seen after an action that was thought not to move."""
        return outcome.symbol != symbol and (symbol, action) in self.still

    @property
    def log_probability(self) -> float:
        """ln probability of the axes and of the answers, before anything else is known.

        Each action undoes any of the actions or none; any share of pairs that move is as likely.
        """
        n_actions, n_moving, n_still = len(self.axes), len(self.moving), len(self.still)
        share = math.lgamma(n_moving + 1) + math.lgamma(n_still + 1)
        return share - math.lgamma(n_moving + n_still + 2) - n_actions * math.log(n_actions + 1)


def axes_of(episodes: Sequence[Episode]) -> Axes:
    """Actions that undo each other share an axis, those first that do it most often.

    Tries are moves to another look after which another action shows one more look; it undoes the
    move if that is the look from before.
    """
    tries, undone, actions = Counter[Kind](), Counter[Kind](), set[int]()
    for episode in episodes:
        actions |= {action for action, _ in episode[1:]}
        for (_, before), (one, at), (other, after) in zip(
            episode, episode[1:], episode[2:], strict=False
        ):
            if one != other and not after.ended and before.symbol != at.symbol != after.symbol:
                pair = (min(one, other), max(one, other))
                tries[pair] += 1
                undone[pair] += after.symbol == before.symbol
    shares = {pair: (undone[pair] + 1) / (n + 2) for pair, n in tries.items()}
    axes: Axes = {}
    for one, other in sorted(shares, key=lambda pair: (-shares[pair], pair)):
        if shares[one, other] > UNDONE and not axes.keys() & {one, other}:
            axes |= {one: (len(axes) // 2, 1), other: (len(axes) // 2, -1)}
    n_axes = len(axes) // 2
    alone = sorted(actions - axes.keys())
    return axes | {action: (n_axes + k, 1) for k, action in enumerate(alone)}


def kinds_of(episodes: Sequence[Episode]) -> tuple[set[Kind], set[Kind]]:
    """Pairs of a look and an action after which the look was the same; or was another one."""
    same, other = set[Kind](), set[Kind]()
    for episode in episodes:
        for (_, before), (action, outcome) in pairwise(episode):
            if not outcome.ended:
                found = same if outcome.symbol == before.symbol else other
                found.add((before.symbol, action))
    return same, other
