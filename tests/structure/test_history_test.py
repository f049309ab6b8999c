"""Does history predict outcomes? Against numbers by hand and the Dirichlet-multinomial law."""

import math

import numpy as np
import pytest

from tgm.structure.history_test import (
    common_history,
    common_path,
    gain_of_history,
    gain_of_one_change,
    visits_of,
)
from tgm.transition.automaton import BEGIN, END, Happening, Outcome

A, B = Outcome(1, 0.0, False), Outcome(2, 0.0, False)


def episode(first, *steps):
    """The first symbol and (action, outcome or symbol)."""
    found = [Happening(BEGIN, Outcome(first, 0.0, False))]
    for action, seen in steps:
        outcome = seen if isinstance(seen, Outcome) else Outcome(seen, 0.0, False)
        found.append(Happening(action, outcome))
    return found


# --- one change -----------------------------------------------------------------------------------


def log_urn(outcomes, kinds):
    """ln Dirichlet-multinomial with half a try of each kind, by gamma functions."""
    counts = [outcomes.count(kind) for kind in set(outcomes)]
    total = math.lgamma(0.5 * kinds) - math.lgamma(0.5 * kinds + len(outcomes))
    return total + sum(math.lgamma(n + 0.5) - math.lgamma(0.5) for n in counts)


@pytest.mark.parametrize("seed", range(5))
def test_the_gain_of_one_change_is_that_of_two_urns(seed):
    rng = np.random.default_rng(seed)
    outcomes = [(A, B, Outcome(3, 0.0, False))[k] for k in rng.integers(3, size=4 + 5 * seed)]
    outcomes[0], outcomes[-1] = A, B
    kinds, n = len(set(outcomes)), len(outcomes)
    best = max(log_urn(outcomes[:k], kinds) + log_urn(outcomes[k:], kinds) for k in range(1, n))
    wanted = best - log_urn(outcomes, kinds) - math.log(n)
    assert gain_of_one_change(outcomes) == pytest.approx(wanted)


# --- what two visits have in common ---------------------------------------------------------------


def common(measure, one, place, other, other_place):
    """What a measure finds between two steps of two episodes."""
    return measure(visits_of(one)[place - 1], visits_of(other)[other_place - 1])


def test_paths_are_compared_by_looks_whatever_was_done_and_however_long_it_stayed():
    one = episode(5, (0, 6), (0, 6), (1, 7), (0, 1))
    other = episode(5, (1, 6), (0, 7), (1, 7), (0, 2))
    assert common(common_history, one, 4, other, 4) == 1
    assert common(common_path, one, 4, other, 4) == 3
    different = episode(8, (1, 6), (0, 7), (0, 2))
    assert common(common_path, one, 4, different, 3) == 2


def test_rewards_and_actions_count_in_histories():
    one = episode(5, (0, 6), (0, 7), (0, 1))
    assert common(common_history, one, 3, episode(5, (1, 6), (0, 7), (0, 1)), 3) == 1
    rewarded = episode(5, (0, Outcome(6, 1.0, False)), (0, 7), (0, 1))
    assert common(common_history, one, 3, rewarded, 3) == 1
    assert common(common_path, one, 3, rewarded, 3) == 3


def test_no_more_than_forty_steps_are_compared():
    long = episode(0, *((0, 1 + i % 2) for i in range(60)))
    assert common(common_history, long, 60, long, 60) == 40
    assert common(common_history, long, 39, long, 39) == 39
    assert common(common_path, long, 60, long, 60) == 40


# --- the gain -------------------------------------------------------------------------------------


def told_by(*pairs):
    """Episodes: a first look, then symbol 0, then an action with an outcome."""
    return [episode(first, (0, 0), (0, outcome)) for first, outcome in pairs]


def test_the_gain_by_hand():
    """Outcomes A B A B after looks 7 8 7 8: histories and paths are right, the newest is wrong."""
    gain, n_rows = gain_of_history(told_by((7, A), (8, B), (7, A), (8, B)))
    assert n_rows == 1
    third, fourth = math.log(1.5 / 3.5), math.log(1.5 / 4.5)  # by shares
    remembered = math.log(0.5) + math.log(0.75)
    newest = math.log(0.5) + third - math.log(0.5)
    newest += math.log(0.75) + fourth - math.log(1.0 / 3.0)
    forgetful = third + fourth + max(0.0, gain_of_one_change([A, B, A, B]))
    shares = [math.exp(one - forgetful) for one in (remembered, remembered, newest)]
    assert gain == pytest.approx(math.log(0.5 + 0.5 * sum(shares) / 3.0))


def test_of_histories_that_are_as_much_alike_the_newest_counts():
    """Without a cue: the guess is what happened last, and right but for one time."""
    gain, _ = gain_of_history(told_by((7, A), (7, B), (7, B), (7, B)))
    third, fourth = math.log(1.5 / 3.5), math.log(2.5 / 4.5)
    right = math.log(0.5) + math.log(0.75)
    forgetful = third + fourth + max(0.0, gain_of_one_change([A, B, B, B]))
    assert gain == pytest.approx(math.log(0.5 + 0.5 * math.exp(right - forgetful)))


def test_a_coin_is_hardly_remembered_and_costs_ln_2_at_most():
    gains = []
    for seed in range(20):
        coin = np.random.default_rng(seed).integers(2, size=40)
        gain, n_rows = gain_of_history(told_by(*((7, A if heads else B) for heads in coin)))
        assert n_rows == 1
        gains.append(gain)
    assert min(gains) > -math.log(2.0) - 1e-9
    assert np.median(gains) < 0.1


def test_a_die_is_no_sign_of_memory():
    """Of ten outcomes few were seen: a guess is right less often than by the shares so far."""
    gains = []
    for seed in range(20):
        die = np.random.default_rng(seed).integers(10, size=(6, 30))
        episodes = [
            episode(row, (0, Outcome(int(face), 0.0, False)))
            for row, faces in enumerate(die)
            for face in faces
        ]
        gains.append(gain_of_history(episodes)[0])
    assert np.mean(gains) < 0.0


def test_rows_that_do_the_same_are_not_counted():
    assert gain_of_history(told_by((7, A), (8, A), (7, A))) == (0.0, 0)
    assert gain_of_history([episode(0, (0, A), (0, A))] * 5) == (0.0, 0)
    ended = [episode(0, (0, Outcome(END, 0.0, True))), episode(0, (0, Outcome(END, 1.0, True)))]
    assert gain_of_history(ended)[1] == 1


@pytest.mark.parametrize(
    ("n_rows", "n_each", "is_seen"),
    [
        (1, 40, False),
        (1, 39, True),
        (94, 15, False),
        (93, 15, True),
        (300, 6, False),
        (300, 5, True),
    ],
)
def test_the_newest_visits_count_40_of_a_row_1500_of_all_and_6_at_least(n_rows, n_each, is_seen):
    """Each row did something else in its first visits, as many as in its last ones."""
    episodes = [
        episode(symbol, (0, outcome))
        for outcome in (A, B)
        for symbol in range(10, 10 + n_rows)
        for _ in range(n_each)
    ]
    gain, found = gain_of_history(episodes)
    assert found == n_rows
    assert (gain != 0.0) == is_seen


@pytest.mark.parametrize(("n_since", "is_remembered"), [(3, True), (4, False)])
def test_four_visits_of_each_outcome_are_remembered(n_since, is_remembered):
    """After look 7 it was A, then A after look 9 some times, then B: what is it after look 7?"""
    since = [(9, A)] * n_since + [(8, B)]
    after_same, after_other = (
        gain_of_history(told_by((first, A), *since, (7, A)))[0] for first in (7, 6)
    )
    assert (after_same > after_other) == is_remembered
    assert (after_same != after_other) == is_remembered
