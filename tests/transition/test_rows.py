"""One row: outcomes, certainty, ends and evidence, by hand."""

import math

import numpy as np
import pytest
from tests.oracles import polya_urn_log_probability
from tests.transition.made import (
    make,
)

from tgm.transition.rows import (
    certainty,
    differ,
    evened,
    goes_on,
    outcomes,
    random_outcomes,
    row_log_evidence,
    shares_of_usual,
)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({1: 2.0}, 2.0),
        ({1: 0.6, 2: 0.4}, 0.2),  # one try that may have led to either
        ({1: 5.0, 2: 1.0}, 4.0),
        ({1: 2.0, 2: 2.0, 3: 2.0}, 6.0),  # random: its tries
        ({1: 3.5, 2: 0.5, 3: 0.5}, 3.0),  # read with doubt: not random
        ({1: 1.4, 2: 1.4}, 0.0),  # less than three tries say nothing yet
    ],
)
def test_certainty_by_hand(counts, expected):
    model = make()
    for after, count in counts.items():
        model.add(0, 0, after, count, 0.0, 0.0)
    assert model.certainty[0, 0] == pytest.approx(expected)


@pytest.mark.parametrize(("tries", "expected"), [(1.4, 0.0), (1.5, 1.0)])
def test_from_three_tries_on_a_third_of_them_counts_in_any_case(tries, expected):
    model = make()
    model.add(0, 0, 1, tries, 0.0, 0.0)
    model.add(0, 0, 2, tries, 0.0, 0.0)
    assert model.certainty[0, 0] == pytest.approx(expected)


def test_mistakes_are_not_planned_with():
    model = make()
    model.add(0, 0, 1, 9.0, 0.0, 0.0)
    model.add(0, 0, 2, 0.4, 0.0, 0.0)  # less than half a try
    assert model.successor[0, 0, 0] == 1
    np.testing.assert_allclose(model.probability[0, 0], [1, 0])
    model.add(0, 0, 3, 0.6, 0.0, 0.0)
    assert model.successor[0, 0].tolist() == [1, 3]
    np.testing.assert_allclose(model.probability[0, 0], [9 / 9.6, 0.6 / 9.6])
    # Where nothing has half a try the best is planned with.
    model.add(1, 0, 2, 0.3, 0.0, 0.0)
    model.add(1, 0, 3, 0.2, 0.0, 0.0)
    np.testing.assert_allclose(model.probability[1, 0], [1, 0])
    assert model.successor[1, 0, 0] == 2


@pytest.mark.parametrize("seed", range(10))
def test_the_evidence_of_a_row_is_that_of_an_urn(seed):
    rng = np.random.default_rng(seed)
    concentration = rng.gamma(1.0, size=4) + 0.05
    draws = rng.integers(3, size=rng.integers(1, 15)).tolist()  # the last is never seen
    seen = sorted(set(draws))
    evidence = row_log_evidence(
        [draws.count(outcome) for outcome in seen],
        [concentration[outcome] for outcome in seen],
        concentration.sum(),
    )
    expected = polya_urn_log_probability(draws, concentration)
    assert evidence == pytest.approx(expected, abs=1e-9)


def test_no_draws_are_no_evidence():
    assert row_log_evidence([], [], 2.0) == 0.0
    assert row_log_evidence([1.0], [0.5], 2.0) == pytest.approx(math.log(0.25))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([(1, 1.0)], [(1, 1.0)], False),
        ([(1, 1.0)], [(2, 1.0)], True),
        ([(1, 0.5), (2, 0.5)], [(1, 1.0)], True),
        ([(1, 0.504), (2, 0.496)], [(1, 0.5), (2, 0.5)], False),
        ([(1, 0.5), (2, 0.485)], [(1, 0.5), (2, 0.5)], True),
        ([(1, 0.515), (2, 0.5)], [(1, 0.5), (2, 0.5)], True),
        ([], [], False),
    ],
)
def test_a_row_is_planned_with_again_if_it_moved_by_a_hundredth(one, other, expected):
    assert differ(one, other) == expected


def test_outcomes_are_the_likeliest_first_and_of_equals_the_lower_state():
    assert outcomes({7: 2.0, 3: 4.0, 5: 2.0}, 8.0) == [(3, 0.5), (5, 0.25), (7, 0.25)]
    assert outcomes({7: 0.1}, 0.1) == [(7, 1.0)]


@pytest.mark.parametrize(("count", "visits", "is_seen"), [(1.9, 100, False), (2.1, 100, True)])
def test_one_outcome_in_fifty_is_taken_for_misread_unless_the_row_is_random(count, visits, is_seen):
    row = {1: visits - count, 2: count}
    assert ([after for after, _ in outcomes(row, visits)] == [1, 2]) == is_seen
    assert [after for after, _ in random_outcomes(row)] == [1, 2]


def test_less_than_half_a_try_is_no_outcome_of_a_random_row_either():
    assert random_outcomes({1: 1.5, 2: 0.4}) == [(1, 1.0)]
    assert random_outcomes({1: 1.5, 2: 0.5}) == [(1, 0.75), (2, 0.25)]
    assert random_outcomes({1: 0.2, 2: 0.3}) == [(2, 1.0)]  # nothing has half a try


def test_chances_of_a_row_that_goes_on_or_ends():
    # Two tries more for each of three outcomes, the end among them.
    items, end = evened({1: 4.0, 2: 1.0}, 1.0, 2.0, 0.0)
    assert items == [(1, pytest.approx(6 / 9)), (2, pytest.approx(3 / 9))]
    assert end == pytest.approx(3 / 12)
    assert evened({1: 4.0, 2: 1.0}, 0.0, 2.0, 0.0)[1] == 0.0
    # What was misread is no outcome, but it did not end the episode either.
    items, end = evened({1: 4.0, 2: 0.4}, 1.0, 0.0, 0.0)
    assert items == [(1, 1.0)]
    assert end == pytest.approx(1 / 5.4)


def test_the_usual_outcome_is_worth_more_whichever_it_is():
    each, more = 0.5, 3.0
    shares = shares_of_usual([5.0, 1.0], each, more)

    def evidence(prior):  # of five tries and one, in this order
        return polya_urn_log_probability([0, 0, 0, 0, 0, 1], np.array(prior))

    odds = evidence([each + more, each]) - evidence([each, each + more])
    assert math.log(shares[0] / shares[1]) == pytest.approx(odds)
    assert sum(shares) == pytest.approx(1.0)
    items, _ = evened({1: 5.0, 2: 1.0}, 0.0, each, more)
    wanted = (5.0 + each + more * shares[0]) / (6.0 + 2 * each + more)
    assert items[0] == (1, pytest.approx(wanted))


def test_what_goes_on_is_what_did_not_end():
    assert goes_on({1: 3.0, 2: 1.0, 3: 2.0}, {1: 1.0, 2: 1.0}) == {1: 2.0, 3: 2.0}


@pytest.mark.parametrize(("visits", "expected"), [(2.9, 0.2), (3.0, 1.0)])
def test_a_third_of_the_tries_counts_from_three_on(visits, expected):
    half = (visits - 0.2) / 2
    assert certainty({1: half + 0.2, 2: half}, visits) == pytest.approx(expected)
    assert certainty({1: visits}, visits) == visits
