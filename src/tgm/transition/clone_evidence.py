"""How likely rows of outcomes are: a world that does the same again, or one of chance."""

from __future__ import annotations

import math

from tgm.transition.automaton import Outcome, Row

MISREAD = 1e-4  # probability that a symbol is not what was there
WRONG_REWARD = 1e-30  # probability that a reward or an end is not what was there
CONCENTRATION = 1.0  # tries that the base of a row of chance is worth
UNSEEN = math.log(0.5)  # ln probability of the first outcome that is ever seen of an action

_LOG_READ, _LOG_MISREAD = math.log1p(-MISREAD), math.log(MISREAD)
_LOG_IMPOSSIBLE = math.log(WRONG_REWARD)

Kind = tuple[int, int]
"""Symbol and action."""


class OutcomeBase:
    """What an action does at places that look alike: how many of them show each outcome.

    What all of them show is expected of the next one, and worth almost nothing as evidence.

    Attributes:
        strength: places that an outcome counts for before it was seen.
        counts: number of places by symbol, action and outcome.
    """

    def __init__(self, strength: float) -> None:
        """Nothing was seen yet."""
        self.strength = strength
        self.counts: dict[Kind, dict[Outcome, int]] = {}
        self._totals: dict[Kind, int] = {}
        self._found: dict[tuple[Kind, Outcome], float] = {}  # probabilities, until counts change

    def with_strength(self, strength: float) -> OutcomeBase:
        """The same counts with another strength; they are shared."""
        other = OutcomeBase(strength)
        other.counts, other._totals = self.counts, self._totals
        return other

    def add(self, kind: Kind, outcome: Outcome, n: int = 1) -> None:
        """So many more places show an outcome; 0 makes it known as something that happens."""
        counts = self.counts.setdefault(kind, {})
        if n == 0 and outcome in counts:
            return
        self._found = {}
        counts[outcome] = counts.get(outcome, 0) + n
        self._totals[kind] = self._totals.get(kind, 0) + n

    def log_probability(self, kind: Kind, outcome: Outcome) -> float:
        """ln probability that one more place shows an outcome."""
        key = (kind, outcome)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._log_probability(kind, outcome)
        return found

    def _log_probability(self, kind: Kind, outcome: Outcome) -> float:
        counts = self.counts.get(kind)
        if not counts:
            return UNSEEN
        strength = self.strength
        total = self._totals[kind] + strength * (len(counts) + 1)
        return math.log((counts.get(outcome, 0) + strength) / total)

    def add_row(self, kind: Kind, row: Row) -> None:
        """One more place, with all its outcomes."""
        for outcome in row:
            self.add(kind, outcome)


def log_same(row: Row, kind: Kind, base: OutcomeBase) -> float:
    """ln evidence of a row that does the same again; what else was seen was misread."""
    if len(row) == 1:
        ((outcome, edge),) = row.items()
        return base.log_probability(kind, outcome) + edge[0] * _LOG_READ
    usual = max(row, key=lambda outcome: row[outcome][0])
    found = base.log_probability(kind, usual) + row[usual][0] * _LOG_READ
    for outcome, edge in row.items():
        if outcome != usual:
            rate = _LOG_MISREAD if outcome[1:] == usual[1:] else _LOG_IMPOSSIBLE
            found += edge[0] * (rate + base.log_probability(kind, outcome))
    return found


def log_chance(row: Row, kind: Kind, base: OutcomeBase) -> float:
    """ln evidence of a row of chance: Dirichlet-multinomial about the base."""
    n = sum(edge[0] for edge in row.values())
    found = math.lgamma(CONCENTRATION) - math.lgamma(n + CONCENTRATION)
    for outcome, edge in row.items():
        share = CONCENTRATION * math.exp(base.log_probability(kind, outcome))
        found += math.lgamma(edge[0] + share) - math.lgamma(share)
    return found


def log_mixed(same: float, other: float, chance: float) -> float:
    """ln evidence of a row that is of chance with this probability."""
    one, two = math.log1p(-chance) + same, math.log(chance) + other
    most = max(one, two)
    return most + math.log(math.exp(one - most) + math.exp(two - most))


def log_evidence(row: Row, kind: Kind, base: OutcomeBase, chance: float) -> float:
    """ln evidence of a row, where so many rows are of chance."""
    same = log_same(row, kind, base)
    if len(row) == 1:  # chance explains one outcome no better, and this is most of the work
        return same
    return log_mixed(same, log_chance(row, kind, base), chance)
