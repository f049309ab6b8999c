"""The range of rewards, and the values of a model as it is known."""

import numpy as np
import pytest
from tests.planning.worlds import GAMMA, corridor, make

from tgm.errors import DataError
from tgm.files.arrays import ArrayReader, number
from tgm.perception.component_map import ComponentMap
from tgm.planning.model_planner import ModelPlanner


def test_the_highest_and_lowest_value_by_hand():
    _, planner = make(2)
    assert planner.highest == planner.lowest == 0
    planner.see_reward(-1.0)
    assert planner.reward_range == 1  # while all rewards are equal
    planner.see_reward(3.0)
    planner.see_reward(0.0)
    assert planner.reward_range == 4
    assert planner.lowest == pytest.approx(-10)
    assert planner.highest == pytest.approx((3 + 1e8 * 4) / 0.1)
    other = make(2)[1]
    other.restore(ArrayReader(planner.to_arrays()), 2)
    assert other.highest == planner.highest
    assert other.lowest == planner.lowest
    assert other.n_revisions == planner.n_revisions


@pytest.mark.parametrize(
    ("expected", "seen"),
    [
        (None, (3.0, -1.0)),
        ((-0.7, 2.7), (3.0, -1.0)),  # moves by less than a tenth of the range
        ((-1.0, 2.5), (2.5, -1.0)),
        ((-1.5, 3.0), (3.0, -1.5)),
        ((0.0, 1e70), (1e60, 0.0)),
    ],
)
def test_the_range_of_random_rewards_is_that_of_expected_ones(expected, seen, monkeypatch):
    model, planner = make(2)
    planner.see_reward(-1.0)
    planner.see_reward(3.0)
    before = planner.n_revisions
    monkeypatch.setattr(model, "range_of_rewards", lambda: expected)
    planner.limit_range()
    assert (planner.best_reward, planner.worst_reward) == seen
    assert planner.n_revisions - before == (seen != (3.0, -1.0))


@pytest.mark.parametrize("best_known", [None, 2.5])
def test_in_a_world_of_chance_the_unknown_is_worth_the_same_after_a_file(best_known):
    _, planner = make(2)
    planner.see_reward(-1.0)
    planner.see_reward(1.0)
    planner.limit_optimism(2.5)
    assert planner.highest == pytest.approx(4.5)  # one range of reward above the best
    planner.limit_optimism(best_known)
    other = make(2)[1]
    other.restore(ArrayReader(planner.to_arrays()), 2)
    assert other.best_known == planner.best_known == best_known
    assert other.highest == planner.highest


def test_arrays_that_do_not_fit_are_refused():
    _, planner = make(2)
    planner.see_reward(1.0)
    with pytest.raises(DataError, match=r"best_reward is 1\.0, below 2\.0"):
        planner.restore(ArrayReader(planner.to_arrays() | {"worst_reward": number(2.0)}), 2)
    with pytest.raises(DataError, match="2 values for 3 states"):
        planner.restore(ArrayReader(planner.to_arrays()), 3)


def test_revisions_count_what_strategies_must_look_at_again():
    model, planner = make(2)
    planner.see_reward(1.0)
    planner.see_reward(2.0)
    assert planner.n_revisions == 2
    planner.see_reward(1.5)  # within the range
    model.make_room(3)
    planner.birth(2)
    assert planner.n_revisions == 2
    assert planner.n_state_changes == 3
    planner.forget_certainty()
    planner.apply(ComponentMap.of_removal(3, 1))
    assert planner.n_revisions == 4
    assert planner.n_state_changes == 4


def test_an_unknown_action_is_the_worst():
    _, planner = corridor()
    greedy = planner.greedy_values(np.arange(4))
    assert greedy[3, 1] == greedy.min()
    assert greedy[3, 1] < planner.lowest
    np.testing.assert_allclose(greedy[:3], -10, atol=0.01)  # for ever, as far as is known


@pytest.mark.parametrize(("tries", "is_known"), [(0.29, False), (0.31, True)])
def test_an_action_is_known_from_three_tenths_of_a_try(tries, is_known):
    model, planner = corridor()
    model.add(3, 1, 0, tries, -1.0, 0.0)
    greedy = planner.greedy_values(np.arange(4))
    assert (greedy[3, 1] > planner.lowest - 1) == is_known


@pytest.mark.parametrize("n_states", [0, 1, 3])
def test_there_are_values_for_the_states_there_are(n_states):
    model, planner = corridor(n_states)
    model.make_room(8)
    assert planner.greedy_values(np.arange(n_states)).shape == (n_states, 2)


def test_what_is_found_is_planned_with():
    model, planner = corridor()
    planner.greedy_values(np.arange(4))
    planner.see_reward(1.0)
    model.add(3, 1, 3, 1.0, 1.0, 1.0)
    greedy = planner.greedy_values(np.arange(4))
    expected = [1.0]
    for _ in range(3):
        expected.insert(0, -1 + GAMMA * expected[0])
    np.testing.assert_allclose(greedy[:, 1], expected, atol=1e-3)
    np.testing.assert_allclose(greedy[0, 0], -1 + GAMMA * expected[0], atol=1e-3)
    # And again when it changes.
    model.forget_row(1, 1)
    greedy = planner.greedy_values(np.arange(4))
    assert greedy[1, 1] == greedy.min()


def test_values_follow_a_change_of_the_lowest_reward():
    _, planner = corridor()
    before = planner.greedy_values(np.arange(4))
    planner.see_reward(-2.0)
    after = planner.greedy_values(np.arange(4))
    assert before[3, 1] == pytest.approx(-11)
    assert after[3, 1] == pytest.approx(-21)


def test_values_follow_their_states():
    model, planner = corridor()
    planner.see_reward(1.0)
    model.add(3, 1, 3, 1.0, 1.0, 1.0)
    before = planner.greedy_values(np.arange(4)).copy()
    # State 3 becomes one with 0.
    change = ComponentMap(4, 4, np.array([0, 1, 2, 0]), np.arange(4), np.ones(4))
    model.apply(change)
    planner.apply(change)
    after = planner.greedy_values(np.arange(3))
    assert after.shape == (3, 2)
    assert after[2, 1] != before[2, 1]


def test_a_state_that_is_born_has_values_at_once():
    model, planner = corridor()
    planner.greedy_values(np.arange(4))
    model.make_room(5)
    planner.birth(4)
    assert planner.greedy_values(np.arange(5))[4].tolist() == [planner.lowest - 1] * 2
    assert planner.sweeper.q[4].tolist() == [planner.highest] * 2


def test_the_states_of_a_merge_are_swept_again():
    model, planner = corridor()
    planner.sweeper.active.clear()
    change = ComponentMap(4, 4, np.array([0, 1, 2, 0]), np.arange(4), np.ones(4))
    model.apply(change)
    planner.apply(change)
    assert planner.sweeper.active == {0}


def test_an_early_end_is_bad_where_every_step_is_rewarded():
    model, planner = make(2)
    planner.see_reward(1.0)
    model.add(0, 0, 0, 5.0, 1.0, 0.0)  # stand for ever
    model.add(0, 1, 1, 5.0, 1.0, 0.0)  # stumble
    model.add(1, 0, 1, 5.0, 1.0, 1.0)  # and fall, whatever is done
    model.add(1, 1, 1, 5.0, 1.0, 1.0)
    greedy = planner.greedy_values(np.arange(2))
    np.testing.assert_allclose(greedy[0], [10, 1 + GAMMA], atol=0.01)


def test_the_untried_is_worst_where_every_step_is_rewarded():
    model, planner = make(1)
    planner.see_reward(1.0)
    model.add(0, 0, 0, 5.0, 1.0, 1.0)
    greedy = planner.greedy_values(np.arange(1))
    assert greedy[0, 1] < greedy[0, 0]


def test_rows_are_trusted_by_their_certainty_unless_another_trust_is_given():
    model, planner = corridor(tries=2.0)
    assert planner.trust(3).tolist() == [[2, 2]] * 3
    other = ModelPlanner(model, GAMMA, lambda n_slots: np.full((n_slots, 2), 7.0))
    assert other.trust(2).tolist() == [[7, 7]] * 2
