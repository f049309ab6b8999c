"""One row of a sparse transition model: what it says, how sure it is, and its evidence."""

from __future__ import annotations

import math
from collections.abc import Iterable

Row = dict[int, float]
"""Expected number of times that each next state was seen."""

NO_ROW: Row = {}  # of an action that was never tried; not to be changed

Outcomes = list[tuple[int, float]]
"""(next state, probability), the most likely first."""

CHANGED = 0.01  # probability; a row whose numbers move by less is not planned with again
LEAST_OUTCOME_COUNT = 0.5  # tries; an outcome with fewer is taken for a mistake
LEAST_OUTCOME_SHARE = 0.02  # of the tries of its row; the same
NO_COUNT = 1e-9  # tries; what rounding leaves of none
RANDOM_ROW_TRIES = 3.0  # tries from which a row may be random, and a third of them counts


def differ(one: Outcomes, other: Outcomes) -> bool:
    """Whether the outcomes of a row have changed enough to plan with them again."""
    return len(one) != len(other) or any(
        state != known or abs(share - before) >= CHANGED
        for (state, share), (known, before) in zip(one, other, strict=True)
    )


def outcomes(row: Row, visits: float) -> Outcomes:
    """(next state, probability) of the outcomes to plan with, the most likely first.

    An outcome with less than half an observation, or less than one in fifty, is left out as a
    misread step.
    """
    if len(row) == 1:
        return [(next(iter(row)), 1.0)]
    items = sorted(row.items(), key=lambda item: (-item[1], item[0]))
    least = min(items[0][1], max(LEAST_OUTCOME_COUNT, LEAST_OUTCOME_SHARE * visits))
    items = [(after, count) for after, count in items if count >= least]
    total = sum(count for _, count in items)
    return [(after, count / total) for after, count in items]


def random_outcomes(row: Row) -> Outcomes:
    """The same for a row that is random: rare outcomes are outcomes too.

    Only what has less than half an observation is left out.
    """
    items = sorted(row.items(), key=lambda item: (-item[1], item[0]))
    least = min(items[0][1], LEAST_OUTCOME_COUNT)
    items = [(after, count) for after, count in items if count >= least]
    total = sum(count for _, count in items)
    return [(after, count / total) for after, count in items]


def evened(onward: Row, ended: float, each: float, more: float) -> tuple[Outcomes, float]:
    """Outcomes of a random row if it goes on, and the probability that it ends.

    Args:
        onward: tries of each next state, without those that ended the episode; not empty.
        ended: tries that ended the episode.
        each: tries by which every outcome that was seen is worth more.
        more: tries by which the usual one is worth more than that, whichever it is.
    """
    least = min(max(onward.values()), LEAST_OUTCOME_COUNT)
    seen = {after: count for after, count in onward.items() if count >= least}
    counts = [*seen.values(), ended] if ended > NO_COUNT else list(seen.values())
    shares = shares_of_usual(counts, each, more) if more else [0.0] * len(counts)
    worth = [count + each + more * share for count, share in zip(counts, shares, strict=True)]
    items = random_outcomes(dict(zip(seen, worth, strict=False)))
    misread = sum(onward.values()) - sum(seen.values())  # they did not end the episode either
    return items, worth[-1] / (sum(worth) + misread) if ended > NO_COUNT else 0.0


def shares_of_usual(counts: list[float], each: float, more: float) -> list[float]:
    """Probability that each outcome is the usual one of its row; see `evened`."""
    logs = [math.lgamma(each + more + count) - math.lgamma(each + count) for count in counts]
    weights = [math.exp(log - max(logs)) for log in logs]
    return [weight / sum(weights) for weight in weights]


def goes_on(row: Row, ended: Row) -> Row:
    """The counts of a row without the tries that ended the episode."""
    onward = {after: count - ended.get(after, 0.0) for after, count in row.items()}
    return {after: count for after, count in onward.items() if count > NO_COUNT}


def certainty(row: Row, visits: float) -> float:
    """What a row is worth as knowledge: tries of its first outcome less those of its second.

    A row may be random: from three tries on, a third of them counts in any case.
    """
    if len(row) == 1:
        return next(iter(row.values()))
    first, second = sorted(row.values(), reverse=True)[:2]
    return max(first - second, visits / 3 if visits >= RANDOM_ROW_TRIES else 0.0)


def row_log_evidence(
    counts: Iterable[float], concentrations: Iterable[float], total: float
) -> float:
    """ln evidence of counts under a Dirichlet.

    Args:
        counts: of some outcomes; those not named were not seen.
        concentrations: of these outcomes, before the counts.
        total: concentration of all outcomes.
    """
    evidence, seen = math.lgamma(total), 0.0
    for count, concentration in zip(counts, concentrations, strict=True):
        evidence += math.lgamma(concentration + count) - math.lgamma(concentration)
        seen += count
    return evidence - math.lgamma(total + seen)
