"""Chance, change or error: the evidence of each explanation of what a row did.

A row is the outcomes of one action in one state. Either it always does the same, and the other
outcomes were misread; or it is random; or it did one thing until some try and another since. Counts
are whole tries: a step that may have led to two places is no evidence that the row leads to both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from scipy.special import gammaln

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.transition.rows import row_log_evidence

MISREAD_PRIOR = (0.5, 49.5)  # Beta: how often a step of a row that always does the same is misread
SPREAD = 2.0  # Dirichlet: tries that the prior of a random row is worth, over all places
CHANGE_AT_A_TRY = 1e-3  # probability that a row changes between two of its tries
RANDOM_ROWS = 0.01  # share of random rows in a world of which nothing is known
RANDOM_ROWS_WEIGHT = 10.0  # rows that this share is worth
WORLD_OF_CHANCE = 0.1  # share of random rows from which a surprise is no reason to doubt a row
CHANCE_ROUNDS = 3  # of expectation and maximisation at each look
ALMOST_WHOLE = 0.1  # what a step may lack to one try
EVENNESS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)  # tries: what is weighed for `chances_of_rows`
USUAL = (1.0, 3.0, 10.0, 30.0)  # tries of the usual outcome for each of another one; the same
EVEN_FROM = 10.0  # tries of the rows that are weighed: they have shown all they do
ANY_NUMBER = 0.5  # rows that the guess is worth that any number of outcomes is as likely
LEAST_RANDOM = 1e-9  # share of random rows, and of the others


def whole_tries(counts: Iterable[float]) -> tuple[int, ...]:
    """The counts in whole tries, largest first, without those of less than one."""
    tries = [int(count + ALMOST_WHOLE) for count in counts]
    tries.sort(reverse=True)
    return tuple([count for count in tries if count])


@lru_cache(maxsize=100_000)
def log_same(tries: tuple[int, ...], places: int) -> float:
    """ln evidence of a row that always does the same; its other outcomes were misread.

    The place is one of `places`, and so is what a misread step is taken for.

    Args:
        tries: whole tries of each outcome, largest first.
        places: number of possible outcomes.
    """
    if not tries:
        return 0.0
    usual, others = tries[0], sum(tries) - tries[0]
    wrong, right = MISREAD_PRIOR
    evidence = math.lgamma(wrong + others) - math.lgamma(wrong)
    evidence += math.lgamma(right + usual) - math.lgamma(right)
    evidence += math.lgamma(wrong + right) - math.lgamma(wrong + right + usual + others)
    return evidence - math.log(places) - others * math.log(max(places - 1, 1))


@lru_cache(maxsize=100_000)
def log_random(tries: tuple[int, ...], places: int) -> float:
    """ln evidence of a random row: a Dirichlet over the places; see `log_same`."""
    return row_log_evidence(tries, [SPREAD / places] * len(tries), SPREAD)


def log_odds_of_chance(tries: tuple[int, ...], places: int) -> float:
    """Nats by which a row speaks for being random, against always doing the same."""
    return log_random(tries, places) - log_same(tries, places)


def log_row(tries: tuple[int, ...], places: int, share: float) -> float:
    """ln evidence of a row that may be random or not; `share` is the probability that it is."""
    same = math.log(1.0 - share) + log_same(tries, places)
    random = math.log(share) + log_random(tries, places)
    high, low = max(same, random), min(same, random)
    return high + math.log1p(math.exp(low - high))


def gain_of_change(
    before: dict[int, float], since: Sequence[int], places: int, share: float
) -> float:
    """Nats won by explaining the newest tries of a row by a change, not by chance or misreading.

    Args:
        before: tries of each outcome, before.
        since: the outcomes of the newest tries.
        places: number of possible outcomes.
        share: probability that a row is random.
    """
    both, after = dict(before), dict.fromkeys(since, 0.0)
    for outcome in since:
        both[outcome] = both.get(outcome, 0.0) + 1.0
        after[outcome] += 1.0
    then, now, all_tries = (whole_tries(x.values()) for x in (before, after, both))
    changed = log_row(then, places, share) + log_row(now, places, share)
    return math.log(CHANGE_AT_A_TRY) + changed - log_row(all_tries, places, share)


def share_of_random_rows(
    log_odds: FloatArray, judged: BoolArray, share: float, prior: float = RANDOM_ROWS_WEIGHT
) -> float:
    """The share of random rows in the world, learned from all rows that were tried again.

    Expectation and maximisation from the last `share`, with a Beta prior: the first rows that look
    random count little in a world in which many do not, and a row that was tried once is expected
    to be what the others are.

    Args:
        log_odds: of each row, as `log_odds_of_chance`.
        judged: which of the rows were tried more than once.
        share: the last estimate.
        prior: rows that RANDOM_ROWS is worth.
    """
    odds = log_odds[judged]
    for _ in range(CHANCE_ROUNDS):
        expected = float(probability_of_chance(odds, share).sum())
        total = RANDOM_ROWS * prior + expected
        share = total / (prior + len(odds))
        share = min(max(share, LEAST_RANDOM), 1.0 - LEAST_RANDOM)
    return share


def chances_of_rows(rows: Iterable[Sequence[float]]) -> tuple[float, float]:
    """How the chances of random rows are shared out: what an outcome is worth before, in tries.

    Empirical Bayes: one outcome of a row is its usual one; which one is not known. The others have
    the concentration e of a Dirichlet, the usual one u times as much. Both are geometric means of
    EVENNESS and USUAL, weighed by the evidence of all rows together.

    Args:
        rows: tries of each outcome, of each random row.

    Returns:
        e, and e (u - 1), by which the usual outcome is worth more; 0 and 0 if the least of both are
        the most likely, or if there are no rows to learn it from.
    """
    known = [row for row in rows if len(row) > 1 and sum(row) >= EVEN_FROM]
    if not known:
        return 0.0, 0.0
    counts = np.array([count for row in known for count in row])
    sizes, totals = np.array([len(row) for row in known]), np.array([sum(row) for row in known])
    firsts = np.cumsum(sizes) - sizes

    def log_evidence(each: float, more: float) -> float:
        all_tries = each * sizes + more
        others = gammaln(each + counts) - gammaln(each)
        usual = gammaln(each + more + counts) - gammaln(each + more) - others
        evidence = gammaln(all_tries) - gammaln(all_tries + totals) - np.log(sizes)
        return float((evidence + np.logaddexp.reduceat(usual, firsts)).sum() + others.sum())

    pairs = np.array([(each, usual) for each in EVENNESS for usual in USUAL])
    evidence = np.array([log_evidence(each, each * (usual - 1.0)) for each, usual in pairs])
    if evidence.argmax() == 0:
        return 0.0, 0.0
    weight = np.exp(evidence - evidence.max())
    each, usual = np.exp(weight @ np.log(pairs) / weight.sum()).tolist()
    return each, each * (usual - 1.0)


def unseen_share(tries: FloatArray, seen: IntArray, each: float, hopeful: FloatArray) -> FloatArray:
    """(n,) probability that a try of a random row shows something that the row has not shown yet.

    It is the mean over the most hopeful part of the posterior, not over all of it: a row that
    probably has shown all may still have more to show, and only tries can tell.

    A row has k equally likely outcomes before anything is known: a symmetric Dirichlet. How likely
    each k is, the rows say that were tried often; of these k the row has shown m in n tries:
    P(k | m, n) is proportional to P(k) k! / (k - m)! Gamma(k each) / Gamma(k each + n), and the
    share of the others is (k - m) each / (k each + n).

    Args:
        tries: (n,) of each random row, n above.
        seen: (n,) number of outcomes that it has shown, m above.
        each: tries that an outcome is worth before, as `chances_of_rows`.
        hopeful: (n,) that part, a probability; with 1 the mean is that of the whole posterior.
    """
    k = np.arange(1, int(seen.max(initial=1)) + 2)[:, None]
    known = np.bincount(seen[tries >= EVEN_FROM], minlength=len(k) + 1)[1:, None]
    each = max(each, EVENNESS[0])
    left = np.maximum(k - seen, 0)
    log_weight = np.log(known + ANY_NUMBER / len(k)) + gammaln(k + 1) - gammaln(left + 1)
    log_weight += gammaln(each * k) - gammaln(each * k + tries)
    log_weight[k < seen] = -np.inf
    weight = np.exp(log_weight - log_weight.max(axis=0))
    share = each * left / (each * k + tries)  # grows with k
    at_least = np.cumsum(weight[::-1], axis=0)[::-1] / weight.sum(axis=0)  # P(k or more | m, n)
    counted = np.minimum(at_least, hopeful)
    counted[:-1] -= counted[1:].copy()
    return np.asarray((counted * share).sum(axis=0) / hopeful)


def probability_of_chance(log_odds: FloatArray, share: float) -> FloatArray:
    """Probability that each row is random, by the odds of its own tries and the share of others."""
    odds = log_odds + math.log(share / (1.0 - share))
    np.minimum(np.maximum(odds, -700.0, out=odds), 700.0, out=odds)
    return np.asarray(1.0 / (1.0 + np.exp(-odds)))
