"""Does the outcome of an action depend on what came before, or on chance or one change?

For each row that had several outcomes five predictors compete. Three remember: the outcome of the
visit with the most similar history; that of the visit with the most similar sequence of looks,
whatever the actions and however long each look lasted; and that of the newest visit. Two do not:
shares that stay the same (chance), and shares that have changed once (change).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from tgm.transition.automaton import Episode, Outcome

MOST_VISITS = 4  # earlier visits of each outcome that are compared
MOST_COUNTED, LEAST_COUNTED = 40, 6  # newest visits of a row,
MOST_IN_ALL = 1500  # and of all rows, about
LONGEST_HISTORY = 40  # steps
PRIOR = 0.5  # tries that right and wrong are worth each

Visit = tuple[Episode, int]
"""An episode, and the place in it of the step."""


def gain_of_history(episodes: Sequence[Episode]) -> tuple[float, int]:
    """Nats for memory, and the number of rows that had several outcomes.

    In each of these rows memory is as likely as not, and each of its three predictors is a third of
    it: where it is of no use, a row costs ln 2 and no more.
    """
    visits: dict[tuple[int, int], list[Visit]] = defaultdict(list)
    for episode in episodes:
        for place in range(1, len(episode)):
            visits[episode[place - 1].outcome.symbol, episode[place].action].append(
                (episode, place)
            )
    several = [row for row in visits.values() if len({_outcome(visit) for visit in row}) > 1]
    n_counted = min(MOST_COUNTED, max(LEAST_COUNTED, MOST_IN_ALL // max(1, len(several))))
    gain = 0.0
    for row in several:
        found = row[-n_counted:]
        outcomes = [_outcome(visit) for visit in found]
        if len(set(outcomes)) > 1:
            *memories, chance = _evidence(found)
            forgetful = chance + max(0.0, gain_of_one_change(outcomes))
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
    (first, i), (second, j) = one, other
    length = 0
    while length < LONGEST_HISTORY:
        i, j = i - 1, j - 1
        if i < 0 or j < 0 or first[i] != second[j]:
            return length
        length += 1
    return length


def common_path(one: Visit, other: Visit) -> int:
    """Different looks in a row on the way to two visits, from the last one back."""
    (first, i), (second, j) = one, other
    length = 0
    while length < LONGEST_HISTORY:
        i, j = _entered(first, i - 1), _entered(second, j - 1)
        if i < 0 or j < 0 or first[i].outcome.symbol != second[j].outcome.symbol:
            return length
        length += 1
    return length


def _entered(episode: Episode, place: int) -> int:
    """The first step of the run of equal looks that a place is in; -1 before the episode."""
    while place > 0 and episode[place - 1].outcome.symbol == episode[place].outcome.symbol:
        place -= 1
    return place


def _evidence(visits: Iterable[Visit]) -> tuple[float, float, float, float]:
    """ln probability of the outcomes in turn: by histories, paths, the newest, and by shares."""
    counts: dict[Outcome, int] = {}
    known: dict[Outcome, list[Visit]] = defaultdict(list)
    right = [[PRIOR, PRIOR] for _ in range(3)]
    found, chance = [0.0, 0.0, 0.0], 0.0
    newest: Outcome | None = None
    for visit in visits:
        outcome, n = _outcome(visit), sum(counts.values())
        if newest is not None and len(counts) > 1:
            shares = {o: c / n for o, c in counts.items()}
            plain = math.log((counts.get(outcome, 0) + PRIOR) / (n + PRIOR * (len(counts) + 1)))
            chance += plain
            guesses = (*(_most_alike(m, visit, known, newest) for m in MEASURES), newest)
            for i, guess in enumerate(guesses):
                found[i] += _log_guess(right[i], guess, outcome, shares, plain)
        counts[outcome] = counts.get(outcome, 0) + 1
        known[outcome] = [*known[outcome][1 - MOST_VISITS :], visit]
        newest = outcome
    return found[0], found[1], found[2], chance


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


def _outcome(visit: Visit) -> Outcome:
    episode, place = visit
    return episode[place].outcome
