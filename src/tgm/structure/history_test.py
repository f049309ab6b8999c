"""Does the outcome of an action depend on what came before, or on chance or one change?

For each row that had several outcomes six predictors compete. Three remember: the outcome of the
visit with the most similar history; that of the visit with the most similar sequence of looks,
whatever the actions and however long each look lasted; and that of the newest visit. Three do not:
shares that stay the same (chance), shares that have changed once (change), and the commonest
outcome, which is right at a rate that is learned.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from tgm.transition.automaton import Episode, Outcome

MOST_VISITS = 4  # earlier visits of each outcome that are compared
MOST_COUNTED, LEAST_COUNTED = 40, 6  # newest visits of a row that are counted, at most and at least
MOST_IN_ALL = 1500  # visits of all rows that are counted, about
LONGEST_HISTORY = 40  # steps of two histories that are compared
PRIOR = 0.5  # tries that right and wrong are worth each

Row = tuple[int, int]
"""Symbol and action."""


class Visit(NamedTuple):
    """A step, and what came before it.

    Attributes:
        episode: what happened.
        place: of the step in it.
        looks: the different looks in a row of the episode.
        n_looks: how many of them came before the step.
    """

    episode: Episode
    place: int
    looks: list[int]
    n_looks: int

    @property
    def row(self) -> Row:
        """Where the step began, and what was done."""
        return self.episode[self.place - 1].outcome.symbol, self.episode[self.place].action

    @property
    def outcome(self) -> Outcome:
        """Of the step."""
        return self.episode[self.place].outcome


def visits_of(episode: Episode) -> list[Visit]:
    """All steps of an episode."""
    looks: list[int] = []
    found = []
    for place in range(1, len(episode)):
        symbol = episode[place - 1].outcome.symbol
        if not looks or looks[-1] != symbol:
            looks.append(symbol)
        found.append(Visit(episode, place, looks, len(looks)))
    return found


def rows_of_several(episodes: Sequence[Episode]) -> list[list[Visit]]:
    """The newest visits of each row that had several outcomes, in order of time."""
    first: dict[Row, Outcome] = {}
    several: dict[Row, list[Visit]] = {}
    for episode in episodes:
        for (_, before), (action, outcome) in pairwise(episode):
            row = (before.symbol, action)
            if row not in several and first.setdefault(row, outcome) != outcome:
                several[row] = []
    n_counted = min(MOST_COUNTED, max(LEAST_COUNTED, MOST_IN_ALL // max(1, len(several))))
    n_missing = len(several)
    for episode in reversed(episodes):
        if not n_missing:
            break
        for visit in reversed(visits_of(episode)):
            found = several.get(visit.row)
            if found is not None and len(found) < n_counted:
                found.append(visit)
                n_missing -= len(found) == n_counted
    return [row[::-1] for row in several.values()]


def gain_of_history(episodes: Sequence[Episode]) -> tuple[float, int]:
    """Nats for memory, and the number of rows that had several outcomes.

    In each of these rows memory is as likely as not, and each of its three predictors is a third of
    it: where it is of no use, a row costs ln 2 and no more.
    """
    several = rows_of_several(episodes)
    gain = 0.0
    for row in several:
        outcomes = [visit.outcome for visit in row]
        if len(set(outcomes)) > 1:
            memories, chance, usual = _evidence(row)
            forgetful = max(usual, chance + max(0.0, gain_of_one_change(outcomes)))
            most = max(*memories, forgetful)
            mixed = 0.5 * math.exp(forgetful - most)
            mixed += 0.5 * sum(math.exp(nats - most) for nats in memories) / len(memories)
            gain += most + math.log(mixed) - forgetful
    return gain, len(several)


def gain_of_one_change(outcomes: Sequence[Outcome]) -> float:
    """Nats for one change of the shares of outcomes, at an unknown moment; in order of time."""
    n, kinds = len(outcomes), len(set(outcomes))
    before = _prefix_evidence(outcomes, kinds)
    after = _prefix_evidence(outcomes[::-1], kinds)[::-1]
    best = max(before[place] + after[place] for place in range(1, n))
    return best - before[n] - math.log(n)


def _prefix_evidence(outcomes: Sequence[Outcome], kinds: int) -> list[float]:
    """ln Dirichlet-multinomial of the first 0, 1, ... n outcomes."""
    counts: dict[Outcome, int] = {}
    found = [0.0]
    for n, outcome in enumerate(outcomes):
        seen = counts.get(outcome, 0)
        found.append(found[-1] + math.log((seen + PRIOR) / (n + PRIOR * kinds)))
        counts[outcome] = seen + 1
    return found


def common_history(one: Visit, other: Visit) -> int:
    """Steps before two visits in which the same was done and seen; beginnings count as one."""
    first, second = one.episode, other.episode
    most = min(LONGEST_HISTORY, one.place, other.place)
    for length in range(most):
        if first[one.place - 1 - length] != second[other.place - 1 - length]:
            return length
    return most


def common_path(one: Visit, other: Visit) -> int:
    """Different looks in a row on the way to two visits, from the last one back."""
    first, second = one.looks, other.looks
    most = min(LONGEST_HISTORY, one.n_looks, other.n_looks)
    for length in range(most):
        if first[one.n_looks - 1 - length] != second[other.n_looks - 1 - length]:
            return length
    return most


def _evidence(visits: Iterable[Visit]) -> tuple[list[float], float, float]:
    """ln probability of the outcomes in turn.

    By each memory (histories, paths, the newest), by shares, and by the commonest outcome. That one
    learns at which rate it is right as memories do: where a row has many outcomes of which few were
    seen, the rate is below the shares so far, which is no sign of memory.
    """
    counts: dict[Outcome, int] = {}
    known: dict[Outcome, list[Visit]] = defaultdict(list)
    right = [[PRIOR, PRIOR] for _ in range(4)]
    found, chance = [0.0, 0.0, 0.0, 0.0], 0.0
    newest: Outcome | None = None
    for visit in visits:
        outcome, n = visit.outcome, sum(counts.values())
        if newest is not None and len(counts) > 1:
            shares = {o: c / n for o, c in counts.items()}
            plain = math.log((counts.get(outcome, 0) + PRIOR) / (n + PRIOR * (len(counts) + 1)))
            chance += plain
            alike = (_most_alike(measure, visit, known, newest) for measure in MEASURES)
            for i, guess in enumerate((*alike, newest, max(shares, key=shares.__getitem__))):
                found[i] += _log_guess(right[i], guess, outcome, shares, plain)
        counts[outcome] = counts.get(outcome, 0) + 1
        known[outcome] = [*known[outcome][1 - MOST_VISITS :], visit]
        newest = outcome
    return found[:3], chance, found[3]


def _most_alike(
    measure: Callable[[Visit, Visit], int],
    visit: Visit,
    known: dict[Outcome, list[Visit]],
    newest: Outcome,
) -> Outcome:
    """The outcome of the earlier visit that a measure finds most alike; of equals the newest."""
    return max(
        (measure(visit, other), o is newest, o) for o, others in known.items() for other in others
    )[2]


MEASURES = (common_history, common_path)


def _log_guess(
    right: list[float], guess: Outcome, outcome: Outcome, shares: dict[Outcome, float], plain: float
) -> float:
    """ln probability by one guess, which then learns whether it was right."""
    rate = right[0] / sum(right)
    is_right = guess == outcome
    right[0 if is_right else 1] += 1.0
    if is_right:
        return math.log(rate)
    return math.log(1.0 - rate) + plain - math.log(max(1e-9, 1.0 - shares[guess]))
