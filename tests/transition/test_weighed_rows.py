"""Rows weighed: random or not, doubted or not, and what the planner sees of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.transition.made import (
    make,
)

from tgm.transition.rows import CHANGED
from tgm.transition.sparse import START, START_ACTION


@pytest.mark.parametrize(("share", "is_doubted"), [(0.09, True), (0.11, False)])
def test_a_surprise_is_no_doubt_where_one_row_in_ten_is_random(share, is_doubted):
    model = make()
    model.share_random = share
    model.add(0, 0, 1, 60.0, 0.0, 0.0)
    model.observe(0, 0, 2, 1.0, 0.0, 0.0)
    assert not model.is_random[0, 0]
    assert (model.certainty[0, 0] == 0.0) == is_doubted


@given(st.integers(0, 2**32 - 1))
def test_rows_that_do_the_same_are_known_and_weighed_as_if_looked_at_each_time(seed):
    rng = np.random.default_rng(seed)
    quick, slow = make(), make()
    for model in (quick, slow):
        for state in range(3):
            model.add(state, 0, state + 1, 1.0, -1.0, float(state == 2))
    for _ in range(12):
        state, weight = int(rng.integers(3)), float(rng.choice([1.0, 0.7, -0.3]))
        after, reward = state + int(rng.random() < 0.9), -1.0 - 0.5 * (rng.random() < 0.1)
        end = 0.0
        if state == 2 and rng.random() < 0.9:  # most tries of that row end the episode
            weight, end = abs(weight), 1.0
        for model in (quick, slow):
            model.add(state, 0, after, weight, reward, end)
        slow.retry([(state, 0)])  # a look at the whole row
        slow.retries.clear()
        slow._refresh((state, 0))
    for model in (quick, slow):
        model.weigh_all()
    arrays = ("certainty", "log_chance", "is_random", "probability", "reward", "successor")
    for name in (*arrays, "end", "discounted"):
        np.testing.assert_array_equal(getattr(quick, name), getattr(slow, name))
    assert quick.touched == slow.touched


def test_in_a_world_of_chance_every_try_says_whether_a_row_is_random():
    """There a row that was tried once is taken for random, until it has done the same often."""
    model = make()
    model.share_random = 0.6
    model.add(0, 0, 1, 1.0, 0.0, 0.0)
    assert model.is_random[0, 0]
    for _ in range(20):
        model.add(0, 0, 1, 1.0, 0.0, 0.0)
    assert not model.is_random[0, 0]


def test_rows_of_which_little_is_known_are_what_the_others_are():
    model = make(30)
    for state in (*range(5), *range(6, 30)):
        for after in (1, 2, 3, 2):
            model.add(state, 0, after, 1.0, 0.0, 0.0)
    model.add(5, 0, 1, 1.0, 0.0, 0.0)
    model.add(0, 1, 1, 20.0, 0.0, 0.0)
    assert not model.is_random[5, 0]
    model.learn_chance()
    assert model.share_random > 0.6
    assert model.is_random[5, 0]
    assert not model.is_random[0, 1]
    assert not model.is_random[5, 1]  # never tried


def test_the_reward_of_a_random_row_that_ends_at_times_by_hand():
    model = make()
    model.share_random, model.evenness = 0.5, 3.0
    for after, tries, reward, end in ((1, 5, 1.0, 0.0), (2, 3, 1.0, 0.0), (3, 2, 10.0, 1.0)):
        for _ in range(tries):
            model.add(0, 0, after, 1.0, reward, end)
    assert model.is_random[0, 0]
    # Three tries more for each of three outcomes, the end among them.
    ends = (2 + 3) / (10 + 9)
    assert model.end[0, 0] == pytest.approx(ends, abs=CHANGED)
    assert model.reward[0, 0] == pytest.approx(10 * ends + 1 * (1 - ends), rel=CHANGED)
    pairs = zip(model.successor[0, 0].tolist(), model.probability[0, 0].tolist(), strict=True)
    onward = {after: share for after, share in pairs if share}
    assert onward == pytest.approx({1: 8 / 14, 2: 6 / 14}, abs=CHANGED)


def test_starts_say_nothing_about_how_even_chances_are():
    model = make()
    model.share_random = 0.5
    for after in (0, 1, 2, 3) * 5:
        model.add(START, START_ACTION, after, 1.0, 0.0, 0.0)
    model.learn_evenness()
    assert model.evenness == 0.0
    for after in (0, 1, 2, 3) * 5:
        model.add(3, 1, after, 1.0, 0.0, 0.0)  # the last of the states, with the last action
    model.learn_evenness()
    assert model.evenness > 5.0
