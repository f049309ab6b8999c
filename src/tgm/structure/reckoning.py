"""Dead reckoning: a place is the sum of the moves since the beginning of the episode.

Actions that undo each other are one axis; any other action leads nowhere, but may change what is
seen of a place. A move along an axis shows another look, and what stays shows the same; but for
exceptions, which are the same wherever these looks and this action come together. So corridors may
look the same everywhere, and a look may be misread where one stands.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from itertools import pairwise
from typing import Any, NamedTuple

from tgm.transition.automaton import Episode, Outcome

UNDONE = 0.5  # share of tries that lead back to the look before, above which two actions undo it

Place = tuple[int, ...]
"""What the episode began with (a symbol and a number), and the sum of the moves on each axis."""
Axes = dict[int, tuple[int, int]]
"""The axis of an action and the direction in which it moves on it, 1 or -1."""
Step = tuple[int, int, int]
"""A look, an action, and the look after it."""
EMPTY: Mapping[Any, Any] = {}
"""Nothing is known. It is never written to; a read-only view could not be copied with an agent."""


class Reckoning(NamedTuple):
    """How places follow from actions.

    Attributes:
        axes: of the actions that undo each other.
        steps: all that were taken.
        exceptions: those of them that move though the look is the same, or do not though it is not.
        moves: whether an action moves at a place, where that is known of the place itself; then
            exceptions are only for places of which it is not.
        starts: where pieces of episodes begin: a symbol, and the number of the piece.
        n_alike: then, ways between places that look the same: those with a wall, those without.
    """

    axes: Axes
    steps: Set[Step]
    exceptions: Set[Step]
    moves: Mapping[tuple[Place, int], bool] = EMPTY
    starts: Mapping[tuple[int, int], Place] = EMPTY
    n_alike: tuple[int, int] = (0, 0)

    def beginning(self, outcome: Outcome) -> Place:
        """Where an episode begins."""
        known = self.starts.get((outcome.symbol, int(outcome.reward)))
        if known is not None:
            return known
        n_axes = 1 + max((axis for axis, _ in self.axes.values()), default=-1)
        return (outcome.symbol, int(outcome.reward), *[0] * n_axes)

    def after(self, place: Place, symbol: int, action: int, outcome: Outcome) -> Place:
        """Where an action leads from a place that looks like a symbol."""
        known = self.moves.get((place, action))
        if not (self.is_moving(symbol, action, outcome.symbol) if known is None else known):
            return place
        return beyond(self.axes, place, action)

    def is_moving(self, symbol: int, action: int, after: int) -> bool:
        """Whether a step moves, from a look to a look."""
        is_exception = (symbol, action, after) in self.exceptions
        return (after != symbol) != is_exception and action in self.axes

    def is_refuted(self, symbol: int, action: int, outcome: Outcome) -> bool:
        """Whether another look is seen after an action that was thought not to move at a look."""
        if self.moves:
            return False  # rows of its places say so
        same, step = (symbol, action, symbol), (symbol, action, outcome.symbol)
        is_still = same in self.steps and same not in self.exceptions
        is_new = action not in self.axes and not any(
            one[1] == action and is_move(one) for one in self.steps
        )
        is_other = outcome.symbol != symbol and step not in self.exceptions
        return is_other and (is_new or (is_still and action in self.axes))

    @property
    def log_probability(self) -> float:
        """ln probability of the axes and of the exceptions, before anything else is known.

        All ways to pair some of the actions are as likely; any share of exceptions is, among steps
        to the same look and among the others.
        """
        n_ways, n_before = 1, 1  # for one action more than counted so far, and for one less
        for n_others in range(1, len({action for _, action, _ in self.steps})):
            n_ways, n_before = n_ways + n_others * n_before, n_ways
        found = -math.log(n_ways)
        if self.moves:
            return found + _log_share(*self.n_alike)
        for is_same in (True, False):
            kind = [step in self.exceptions for step in self.steps if is_move(step) != is_same]
            found += _log_share(sum(kind), len(kind) - sum(kind))
        return found


def _log_share(k: int, m: int) -> float:
    """ln probability of k of one kind and m of the other, if any share is as likely."""
    return math.lgamma(k + 1) + math.lgamma(m + 1) - math.lgamma(k + m + 2)


def beyond(axes: Axes, place: Place, action: int) -> Place:
    """Where an action leads if nothing is in the way."""
    axis, direction = axes[action]
    at = axis + 2
    return (*place[:at], place[at] + direction, *place[at + 1 :])


def is_move(step: Step) -> bool:
    """Whether another look is seen after a step."""
    return step[0] != step[2]


def axes_of(episodes: Sequence[Episode]) -> Axes:
    """Actions that undo each other share an axis, those first that do it most often.

    Tries are moves to another look after which another action shows one more look; it undoes the
    move if that is the look from before.
    """
    tries, undone = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    for episode in episodes:
        for (_, before), (one, at), (other, after) in zip(
            episode, episode[1:], episode[2:], strict=False
        ):
            if one != other and not after.ended and before.symbol != at.symbol != after.symbol:
                pair = (min(one, other), max(one, other))
                tries[pair] += 1
                undone[pair] += after.symbol == before.symbol
    shares = {pair: (undone[pair] + 1) / (n + 2) for pair, n in tries.items()}
    axes: Axes = {}
    for pair in sorted(shares, key=lambda pair: (-shares[pair], pair)):
        if shares[pair] > UNDONE and not axes.keys() & {*pair}:
            axes = with_axis(axes, *pair)
    return axes


def with_axis(axes: Axes, one: int, other: int) -> Axes:
    """The same axes, and one of two more actions."""
    number = len(axes) // 2
    return axes | {one: (number, 1), other: (number, -1)}


def steps_of(episodes: Sequence[Episode]) -> set[Step]:
    """All steps after which an episode went on."""
    return {
        (before.symbol, action, outcome.symbol)
        for episode in episodes
        for (_, before), (action, outcome) in pairwise(episode)
        if not outcome.ended
    }
