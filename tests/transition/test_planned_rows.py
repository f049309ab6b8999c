"""The planner's arrays: as wide as they must be, and written when a row has moved enough."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.transition.made import (
    GAMMA,
    assert_arrays_agree_with_rows,
    assert_into_agrees_with_rows,
    make,
    random_model,
)

from tgm.transition.planned_rows import share_rows


def test_rows_get_as_wide_as_they_must():
    model = make(6)
    for after in range(5):
        model.add(0, 0, after, 5.0 - after / 2, 0.0, 0.0)
    model.add(1, 1, 3, 1.0, 0.0, 0.0)
    assert model.successor.shape[2] >= 5
    assert model.successor.shape == model.probability.shape == model.discounted.shape
    assert model.successor[0, 0, :5].tolist() == [0, 1, 2, 3, 4]
    assert model.probability[0, 0].sum() == pytest.approx(1)
    assert_arrays_agree_with_rows(model)
    model.make_room(30)
    assert_arrays_agree_with_rows(model)


@given(st.integers(0, 2**32 - 1))
def test_the_planners_arrays_agree_with_the_rows(seed):
    model = random_model(np.random.default_rng(seed), 4)
    assert_arrays_agree_with_rows(model)
    assert_into_agrees_with_rows(model)


def test_small_rewards_are_seen_by_the_planner_too():
    model = make()
    model.add(0, 0, 1, 1.0, 0.0, 0.0)
    for _ in range(99):
        model.add(0, 0, 1, 1.0, 0.008, 0.0)
    assert model.reward[0, 0] == pytest.approx(0.99 * 0.008, rel=0.1)


def test_a_change_of_the_less_likely_successors_is_seen_by_the_planner():
    model = make()
    model.add(0, 0, 1, 100.0, 0.0, 0.0)
    model.add(0, 0, 2, 99.0, 0.0, 0.0)
    for _ in range(95):  # from now on 3 comes instead of 2
        model.add(0, 0, 1, 1.0, 0.0, 0.0)
        model.add(0, 0, 3, 1.0, 0.0, 0.0)
    assert_arrays_agree_with_rows(model)


def test_an_end_is_an_outcome_of_its_own():
    model = make(5)
    for after, end in ((1, 0.0), (2, 0.0), (2, 1.0)):
        model.add(0, 0, after, 2.0, 0.0, end)
    model.add(1, 0, 3, 1.0, 0.0, 1.0)  # ends always
    model.add(2, 1, 3, 1.0, 0.0, 0.0)
    assert model.n_outcomes(3).tolist() == [[3, 0], [1, 0], [0, 1]]
    assert model.n_outcomes(1).shape == (1, 2)


@pytest.mark.parametrize(
    ("reward", "end", "is_written"),
    [
        (1.0, 0.5, False),
        (1.009, 0.5, False),
        (1.02, 0.5, True),
        (0.98, 0.5, True),
        (1.0, 0.509, False),
        (1.0, 0.52, True),
        (1.0, 0.48, True),
    ],
)
def test_a_row_is_written_if_its_reward_or_its_end_moved(reward, end, is_written):
    rows = make()
    rows._plan_with((1, 0), [(2, 1.0)], 1.0, 0.5)
    version = rows.version
    rows.changed.clear()
    rows._plan_with((1, 0), [(2, 1.0)], reward, end)
    assert (rows.version, rows.changed) == ((version + 1, {1}) if is_written else (version, set()))
    assert rows.reward[1, 0] == (reward if is_written else 1.0)
    assert rows.end[1, 0] == (end if is_written else 0.5)
    assert rows.discounted[1, 0, 0] == pytest.approx(GAMMA * (1.0 - rows.end[1, 0]))


def test_a_cleared_row_is_planned_with_as_unknown():
    rows = make()
    rows._plan_with((1, 0), [(2, 0.75), (3, 0.25)], 1.0, 0.5)
    rows.certainty[1, 0] = rows.log_chance[1, 0] = rows.noise_chance[1, 0] = 1.0
    version = rows.version
    rows.changed.clear()
    rows._clear((1, 0))
    for name in ("certainty", "log_chance", "noise_chance", "successor", "probability"):
        assert not getattr(rows, name)[1, 0].any(), name
    assert not rows.discounted[1, 0].any()
    assert (rows.planned, rows.changed, rows.version) == ({}, {1}, version + 1)


def test_new_columns_at_least_double_the_old_ones():
    rows = make()
    rows._plan_with((0, 0), [(1, 0.5), (2, 0.3), (3, 0.2)], 0.0, 0.0)
    assert rows.successor.shape[2] == rows.probability.shape[2] == rows.discounted.shape[2] == 4
    assert rows.successor[0, 0].tolist() == [1, 2, 3, 1]  # what fills up is a state that is there
    assert rows.probability[0, 0].tolist() == [0.5, 0.3, 0.2, 0.0]


def test_counts_go_with_their_states():
    rows = {(0, 1): {0: 4.0, 2: 1.0}, (3, 0): {2: 2.0}}
    into = {(1, 1): {2: 5.0}}
    touched = share_rows(rows, {0: [(0, 0.25), (1, 0.75)]}, into)
    assert touched == {(0, 1), (1, 1), (3, 0)}
    assert into == {
        (0, 1): {0: 0.25, 1: 0.75, 2: 0.25},
        (1, 1): {0: 0.75, 1: 2.25, 2: 5.75},
        (3, 0): {2: 2.0},
    }
