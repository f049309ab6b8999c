"""Dead reckoning where a look does not say whether a step has moved: several maps compete.

A step to another look has moved. One to the same look has moved, or a wall was in the way: both are
followed, each with the map that it makes of the places so far, and the likeliest maps are kept. A
place looks the same whenever it is visited, so that wrong maps soon contradict themselves. What
comes of it is what each action does at each place.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from tgm.structure.reckoning import Axes, Place, Reckoning, Step, beyond, steps_of
from tgm.transition.automaton import END, Episode
from tgm.transition.clone_evidence import MISREAD

MOST_MAPS = 256  # that are kept
HOPELESS = 25.0  # nats behind the likeliest map, from which one is not kept
MOST_WONDERS = 0.01  # share of steps that a map may leave unexplained, and one more


class _Map:
    """One way to see what happened.

    Attributes:
        place: where it is.
        looks: of the places.
        moves: whether an action moves at a place, where that is known.
        n_stays: places and actions that are known to stay, though they could move.
        n_moves: those that are known to move.
        n_wonders: steps that it does not explain.
        nats: ln probability of it.
    """

    __slots__ = ("looks", "moves", "n_moves", "n_stays", "n_wonders", "nats", "place")

    def __init__(self, place: Place, looks: dict[Place, int]) -> None:
        self.place, self.looks = place, looks
        self.moves: dict[tuple[Place, int], bool] = {}
        self.n_stays = self.n_moves = 1.0  # any share of walls is as likely
        self.n_wonders, self.nats = 0, 0.0

    def copy(self) -> _Map:
        other = _Map(self.place, dict(self.looks))
        other.moves = dict(self.moves)
        other.n_stays, other.n_moves = self.n_stays, self.n_moves
        other.n_wonders, other.nats = self.n_wonders, self.nats
        return other

    def n_alike(self, axes: Axes) -> tuple[int, int]:
        """Ways between places that look the same: those with a wall, and those without.

        Each is known from both ends, and counted at the one from which it leads on.
        """
        ways = [(way, is_move) for way, is_move in self.moves.items() if axes[way[1]][1] > 0]
        n_walls = sum(not is_move for _, is_move in ways)
        ends = [
            (place, beyond(axes, place, action)) for (place, action), is_move in ways if is_move
        ]
        return n_walls, sum(self.looks[one] == self.looks[other] for one, other in ends)

    def exceptions(self, axes: Axes) -> set[Step]:
        """Looks at which an action mostly moves to the same look: so it will at other places."""
        votes = Counter[Step]()
        for (place, action), is_move in self.moves.items():
            look = self.looks.get(place)
            if look is not None and self.looks.get(beyond(axes, place, action), look) == look:
                votes[look, action, look] += 1 if is_move else -1
        return {step for step, n in votes.items() if n > 0}


class PlaceFilter:
    """The likeliest maps of what happened so far."""

    def __init__(self, axes: Axes, log_shares: dict[int, float]) -> None:
        """Nothing happened yet; `log_shares` say how likely each look is at a new place."""
        self._axes, self._log_shares = axes, log_shares
        self._back = {axis: action for action, axis in axes.items()}
        self.maps: list[_Map] = []

    @property
    def best(self) -> _Map:
        """The likeliest map."""
        return max(self.maps, key=lambda one: one.nats)

    def begin(self, place: Place, look: int) -> None:
        """An episode begins at a place."""
        self.maps = self.maps or [_Map(place, {})]
        for one in self.maps:
            one.place = place
            one.looks.setdefault(place, look)

    def step(self, action: int, look: int) -> None:
        """An action was done, and a look seen; if it refutes the likeliest map, it was misread."""
        first, found = self.best, []
        for one in self.maps:
            after = self._after(one, action, look)
            found += after or ([self._wondered(one, action)] if one is first else [])
        best = max(one.nats for one in found)
        found = [one for one in found if one.nats > best - HOPELESS]
        if len(found) > MOST_MAPS:
            found.sort(key=lambda one: -one.nats)
        self.maps = found[:MOST_MAPS]

    def _after(self, one: _Map, action: int, look: int) -> list[_Map]:
        """What a map becomes if the action has moved, and if it has not; none that look otherwise.

        It may be changed itself.
        """
        place, target = one.place, self._target(one.place, action)
        known = False if target is None else one.moves.get((place, action))
        there = one.looks.get(target) if target is not None else None
        may_move = known is not False and there in (None, look)
        found = []
        if known is not True and look == one.looks[place]:
            other = one.copy() if may_move else one
            found.append(other)
            if known is None and target is not None:
                self._note(other, action, target, is_move=False)
        if may_move and target is not None:
            if known is None:
                self._note(one, action, target, is_move=True)
            if there is None:
                one.looks[target] = look
                one.nats += self._log_shares[look]
            one.place = target
            found.append(one)
        return found

    def _note(self, one: _Map, action: int, target: Place, *, is_move: bool) -> None:
        """What an action does at a place, and the one that undoes it at the place beyond."""
        axis, direction = self._axes[action]
        one.moves[one.place, action] = is_move
        one.moves.setdefault((target, self._back[axis, -direction]), is_move)
        both = one.n_stays + one.n_moves
        one.nats += math.log((one.n_moves if is_move else one.n_stays) / both)
        one.n_moves += is_move
        one.n_stays += not is_move

    def _wondered(self, one: _Map, action: int) -> _Map:
        """The same map after a step that no map explains: what was seen was misread."""
        target = self._target(one.place, action)
        if target is not None and one.moves.get((one.place, action)) and target in one.looks:
            one.place = target
        one.nats += math.log(MISREAD)
        one.n_wonders += 1
        return one

    def _target(self, place: Place, action: int) -> Place | None:
        """The place beyond, where an action may lead."""
        return beyond(self._axes, place, action) if action in self._axes else None


def filtered_reckoning(episodes: Sequence[Episode], axes: Axes) -> Reckoning | None:
    """What each action does at each place, by the likeliest map; None if no map explains it."""
    counts = Counter(
        END if outcome.ended else outcome.symbol for episode in episodes for _, outcome in episode
    )
    total = sum(counts.values())
    log_shares = {look: math.log(count / total) for look, count in counts.items()}
    plain = Reckoning(axes, frozenset(steps_of(episodes)), frozenset())
    places, n_steps = PlaceFilter(axes, log_shares), 0
    for number, episode in enumerate(episodes):
        begin = episode[0].outcome
        if not (number and begin.reward):  # else a piece that goes on where the one before ends
            places.begin(plain.beginning(begin), begin.symbol)
        for action, outcome in episode[1:]:
            if not outcome.ended or action in axes:
                places.step(action, END if outcome.ended else outcome.symbol)
                n_steps += 1
            if places.best.n_wonders > 1 + MOST_WONDERS * n_steps:
                return None
    best = places.best
    found = plain._replace(
        exceptions=best.exceptions(axes), moves=best.moves, n_alike=best.n_alike(axes)
    )
    return _with_starts(found, episodes)


def _with_starts(found: Reckoning, episodes: Sequence[Episode]) -> Reckoning:
    """The same with where later pieces of episodes begin."""
    starts = dict[tuple[int, int], Place]()
    place: Place = ()
    for episode in episodes:
        begin = episode[0].outcome
        if begin.reward and place:
            starts[begin.symbol, int(begin.reward)] = place
        place, look = found._replace(starts=starts).beginning(begin), begin.symbol
        for action, outcome in episode[1:]:
            place, look = found.after(place, look, action, outcome), outcome.symbol
    return found._replace(starts=starts)
