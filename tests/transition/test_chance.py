"""Chance, change or error: the evidence of each, against enumeration."""

import itertools
import math

import numpy as np
import pytest
from tests.oracles import (
    misreading_log_probability,
    polya_urn_log_probability,
    unseen_share_by_urns,
)

from tgm.transition.chance import (
    chances_of_rows,
    gain_of_change,
    log_odds_of_chance,
    log_random,
    log_row,
    log_same,
    probability_of_chance,
    share_of_random_rows,
    unseen_share,
    whole_tries,
)
from tgm.transition.rows import evened

PLACES = 4
# The numbers themselves: a change of a constant is a change of what is believed.
MISREAD, SPREAD = (0.5, 49.5), 2.0
CHANGE_AT_A_TRY = 1e-3
RANDOM_ROWS, RANDOM_ROWS_WEIGHT = 0.01, 10.0
EVENNESS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
USUAL = (1.0, 3.0, 10.0, 30.0)


def counted(draws: list[int]) -> dict[int, float]:
    return {outcome: float(draws.count(outcome)) for outcome in dict.fromkeys(draws)}


def oracle_row(draws: list[int], share: float) -> float:
    """ln evidence of a sequence, by urns: the usual outcome is the commonest."""
    usual = max(draws, key=draws.count)
    same = misreading_log_probability(draws, usual, PLACES, np.array(MISREAD))
    random = polya_urn_log_probability(draws, np.full(PLACES, SPREAD / PLACES))
    return math.log((1 - share) * math.exp(same) + share * math.exp(random))


def test_a_try_may_lack_a_tenth():
    assert whole_tries([0.89, 1.91, 0.91, 2.89, 0.0]) == (2, 2, 1)


@pytest.mark.parametrize("seed", range(10))
def test_the_evidences_are_those_of_urns(seed):
    rng = np.random.default_rng(seed)
    draws = rng.choice(PLACES, p=[0.7, 0.1, 0.1, 0.1], size=rng.integers(1, 15)).tolist()
    tries = whole_tries(counted(draws).values())
    usual = max(draws, key=draws.count)
    same = misreading_log_probability(draws, usual, PLACES, np.array(MISREAD))
    random = polya_urn_log_probability(draws, np.full(PLACES, SPREAD / PLACES))
    assert log_same(tries, PLACES) == pytest.approx(same)
    assert log_random(tries, PLACES) == pytest.approx(random)
    assert log_odds_of_chance(tries, PLACES) == pytest.approx(random - same)
    assert log_row(tries, PLACES, 0.3) == pytest.approx(oracle_row(draws, 0.3))


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_all_that_a_random_row_may_do_has_probability_one(n):
    total = sum(
        math.exp(log_random(whole_tries(counted(list(draws)).values()), PLACES))
        for draws in itertools.product(range(PLACES), repeat=n)
    )
    assert total == pytest.approx(1)


@pytest.mark.parametrize("seed", range(10))
def test_the_gain_of_a_change_by_enumeration(seed):
    rng = np.random.default_rng(seed)
    before = rng.choice(PLACES, p=[0.9, 0.1, 0, 0], size=8).tolist()
    since = rng.integers(1, PLACES, size=rng.integers(2, 6)).tolist()
    share = rng.uniform(0.01, 0.9)
    changed = math.log(CHANGE_AT_A_TRY) + oracle_row(before, share) + oracle_row(since, share)
    expected = changed - oracle_row(before + since, share)
    gain = gain_of_change(counted(before), since, PLACES, share)
    assert gain == pytest.approx(expected)


def test_a_doubtful_step_is_no_evidence_of_chance():
    assert whole_tries([0.6, 0.4]) == ()
    assert whole_tries([0.4, 5.95, 1.2]) == (6, 1)
    assert whole_tries([]) == ()


@pytest.mark.parametrize(
    ("before", "since", "share", "expected"),
    [
        (10, [2], 0.01, False),  # one step may have been misread
        (3, [2, 2], 0.01, True),
        (50, [2, 2], 0.001, True),
        (10, [2, 3], 0.001, False),  # a new row would not do two things
        (10, [2, 2], 0.9, False),  # where most rows are random it is chance
        (10, [2] * 8, 0.9, True),
    ],
)
def test_when_a_row_has_changed(before, since, share, expected):
    assert (gain_of_change({1: float(before)}, since, 8, share) > 0) == expected


def test_the_first_random_row_needs_more_evidence_than_the_hundredth():
    same, mixed = log_odds_of_chance((4,), 8), log_odds_of_chance((2, 1), 8)
    alone = np.array([mixed])
    with_same = np.array([mixed] + [same] * 60)
    with_mixed = np.array([mixed] * 20 + [same])

    def chance(odds):
        share = RANDOM_ROWS
        for _ in range(20):
            share = share_of_random_rows(odds, odds != 0, share)
        return share, float(probability_of_chance(odds, share)[0])

    assert chance(alone)[1] > 0.5
    assert chance(with_same)[1] < 0.5
    assert chance(with_same)[0] < 0.02
    assert chance(with_mixed)[0] > 0.3
    assert chance(with_mixed)[1] > 0.8


def test_the_share_of_random_rows_by_hand():
    odds = np.array([2.0, -1.0, 7.0])
    judged = np.array([True, True, False])
    share = 0.2
    for _ in range(3):
        p = [share * math.exp(x) / (share * math.exp(x) + 1 - share) for x in (2.0, -1.0)]
        share = (RANDOM_ROWS * RANDOM_ROWS_WEIGHT + sum(p)) / (RANDOM_ROWS_WEIGHT + 2)
    assert share_of_random_rows(odds, judged, 0.2) == pytest.approx(share)


def urn_with_a_usual_outcome(draws: list[int], k: int, each: float, usual: float) -> float:
    """Probability of draws from k outcomes, one of which, nobody knows which, is the usual one."""
    urns = [np.where(np.arange(k) == u, each * usual, each) for u in range(k)]
    return float(np.mean([math.exp(polya_urn_log_probability(draws, urn)) for urn in urns]))


def test_how_chances_are_shared_is_learned_from_all_rows():
    rng = np.random.default_rng(0)
    even = [rng.multinomial(60, [1 / 3] * 3).astype(float).tolist() for _ in range(30)]
    uneven = [[57.0, 1.0, 2.0]] * 15 + [[1.0, 58.0, 1.0]] * 15
    each, more = chances_of_rows(even)
    assert each > 50.0
    assert more < 0.5 * each
    each, more = chances_of_rows(uneven)
    assert more > 15.0 * each > 0.0
    assert chances_of_rows([]) == chances_of_rows([[5.0, 4.0], [40.0]]) == (0.0, 0.0)
    assert chances_of_rows([[50.0, 1.0], [1.0, 50.0], [20.0, 20.0]]) == (0.0, 0.0)  # the least


def test_how_chances_are_shared_against_urns():
    """The values weighed by the probabilities of urns."""
    rows = [[0, 1, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0], [1, 1, 0, 1, 1, 1, 0, 1, 1, 1]]
    pairs = [(each, usual) for each in EVENNESS for usual in USUAL]
    weights = [
        math.prod(urn_with_a_usual_outcome(draws, len(set(draws)), *pair) for draws in rows)
        for pair in pairs
    ]
    expected, usual = np.exp(np.average(np.log(pairs), axis=0, weights=weights))
    each, more = chances_of_rows([list(counted(draws).values()) for draws in rows])
    assert each == pytest.approx(expected)
    assert more == pytest.approx(expected * (usual - 1.0))


@pytest.mark.parametrize("ended", [False, True])
@pytest.mark.parametrize("draws", [[0, 1, 2], [0, 0, 1, 2, 0], [1, 1, 1, 0, 2, 2, 1, 1]])
def test_the_chances_of_a_row_with_a_usual_outcome_against_urns(draws, ended):
    each, usual = 0.7, 9.0
    joint = urn_with_a_usual_outcome(draws, 3, each, usual)
    expected = [urn_with_a_usual_outcome([*draws, i], 3, each, usual) / joint for i in range(3)]
    tries = counted(draws)
    end = tries.pop(2) if ended else 0.0
    items, probability = evened(tries, end, each, each * (usual - 1.0))
    assert probability == pytest.approx(expected[2] if ended else 0.0)
    assert sum(share for _, share in items) == pytest.approx(1.0)
    for outcome, share in items:
        assert share * (1.0 - probability) == pytest.approx(expected[outcome])


def test_what_was_misread_once_is_no_outcome():
    items, _ = evened({1: 20.0, 2: 5.0, 3: 0.1}, 0.0, 1.0, 10.0)
    assert {after for after, _ in items} == {1, 2}


@pytest.mark.parametrize("draws", [[0], [0, 0], [0, 1], [0, 0, 0, 1, 0], [0, 1, 2, 0]])
@pytest.mark.parametrize("each", [0.0, 1.0, 30.0])
@pytest.mark.parametrize("hopeful", [1.0, 0.3, 0.01])
def test_what_a_row_has_not_shown_yet_by_urns(draws, each, hopeful):
    """Beside four rows that were tried often: one has two outcomes, three have three."""
    tries = np.array([len(draws), 10.0, 20.0, 60.0, 12.0])
    seen = np.array([len(set(draws)), 3, 2, 3, 3])
    weights = [0.125, 1.125, 3.125, 0.125]
    expected = unseen_share_by_urns(draws, weights, each or EVENNESS[0], hopeful)
    parts = np.array([hopeful, 1.0, 0.5, 1.0, 0.1])
    assert unseen_share(tries, seen, each, parts)[0] == pytest.approx(expected)


def test_rows_tried_little_do_not_say_how_many_outcomes_there_are():
    tries, seen = np.array([1.0, 9.9, 9.9]), np.array([1, 3, 3])
    expected = unseen_share_by_urns([0], [0.125] * 4, 1.0)
    assert unseen_share(tries, seen, 1.0, np.ones(3))[0] == pytest.approx(expected)
    assert unseen_share(np.zeros(0), np.zeros(0, dtype=int), 1.0, np.zeros(0)).shape == (0,)


def test_a_row_that_has_shown_what_others_have_is_known():
    """In a world of three even outcomes: after one try two thirds are to come, after three none."""
    tries, seen = np.full(42, 30.0), np.full(42, 3)
    tries[:2], seen[:2] = (1.0, 3.0), (1, 3)
    first, third = unseen_share(tries, seen, 100.0, np.ones(42))[:2]
    assert first == pytest.approx(2 / 3, abs=0.02)
    assert third < 0.01


@pytest.mark.parametrize(("odds", "low", "high"), [(50.0, 0.98, 1.0), (-50.0, 0.0, 1e-3)])
def test_where_all_rows_are_alike_the_share_of_random_rows_is_all_or_none(odds, low, high):
    share = 0.5
    for _ in range(3):
        share = share_of_random_rows(np.full(1000, odds), np.ones(1000, dtype=bool), share)
    assert low < share < high


def test_a_row_that_was_never_tried_says_nothing():
    assert log_same((), 4) == 0.0
    assert log_random((), 4) == pytest.approx(0.0)
