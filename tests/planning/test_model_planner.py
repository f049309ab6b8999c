"""Planning with what is known, and with hope for what is not."""

import numpy as np
import pytest

from tgm.files.arrays import ArrayReader
from tgm.perception.component_map import ComponentMap
from tgm.planning.model_planner import ModelPlanner
from tgm.transition.sparse import SparseTransitions

GAMMA = 0.9
RNG = np.random.default_rng(0)


def make(n_states: int, exploration: str = "optimism", n_actions: int = 2):
    model = SparseTransitions(n_actions, GAMMA)
    planner = ModelPlanner(model, GAMMA, exploration, row_prior=0.5)
    model.make_room(n_states)
    for state in range(n_states):
        planner.birth(state)
    return model, planner


def corridor(n_states: int = 4, exploration: str = "optimism", tries: float = 1.0):
    """Action 0 goes left, action 1 goes right; the end is at the right, and each step costs."""
    model, planner = make(n_states, exploration)
    for state in range(n_states):
        model.add(state, 0, max(state - 1, 0), tries, -1.0, 0.0)
        if state < n_states - 1:
            model.add(state, 1, state + 1, tries, -1.0, 0.0)
    planner.see_reward(-1.0)
    return model, planner


def exploring(planner: ModelPlanner, n_states: int, n_steps: int = 0) -> np.ndarray:
    """Values after as many steps as it takes for the sweeps to come to an end."""
    states = list(range(n_states))
    for _ in range(200):
        values = planner.exploring_values(states, n_steps, np.arange(n_states), RNG)
    return values


def test_hopes_and_fears_by_hand():
    _, planner = make(2)
    assert planner.highest == planner.lowest == 0
    planner.see_reward(-1.0)
    planner.see_reward(3.0)
    planner.see_reward(0.0)
    assert planner.lowest == pytest.approx(-10)
    assert planner.highest == pytest.approx((3 + 1e8 * 4) / 0.1)
    other = make(2)[1]
    other.restore(ArrayReader(planner.to_arrays()), 2)
    assert other.highest == planner.highest
    assert other.lowest == planner.lowest


def test_the_untried_is_best_for_exploring_and_worst_for_acting():
    _, planner = corridor()
    values = exploring(planner, 4)
    assert values[3, 1] == planner.highest == values.max()
    # Each step towards it counts: right is better than left everywhere, and better when nearer.
    assert (values[:, 1] > values[:, 0]).all()
    assert (np.diff(values[:, 1]) > 0).all()
    np.testing.assert_allclose(values[2, 1], -1 + GAMMA * planner.highest, rtol=0.01)
    greedy = planner.greedy_values(np.arange(4))
    assert greedy[3, 1] == greedy.min()
    assert greedy[3, 1] < planner.lowest
    np.testing.assert_allclose(greedy[:3], -10, atol=0.01)  # for ever, as far as is known


def test_what_is_found_is_planned_with():
    model, planner = corridor()
    exploring(planner, 4)
    planner.see_reward(1.0)
    model.add(3, 1, 3, 1.0, 1.0, 1.0)
    greedy = planner.greedy_values(np.arange(4))
    expected = [1.0]
    for _ in range(3):
        expected.insert(0, -1 + GAMMA * expected[0])
    np.testing.assert_allclose(greedy[:, 1], expected, atol=1e-3)
    np.testing.assert_allclose(greedy[0, 0], -1 + GAMMA * expected[0], atol=1e-3)
    np.testing.assert_allclose(exploring(planner, 4)[:, 1], expected, atol=0.1)
    # And again when it changes.
    model.forget_row(1, 1)
    greedy = planner.greedy_values(np.arange(4))
    assert greedy[1, 1] == greedy.min()
    assert exploring(planner, 4)[1, 1] == planner.highest


def test_a_half_hearted_try_leaves_an_action_unknown():
    model, planner = corridor()
    model.add(3, 1, 0, 0.4, -1.0, 0.0)
    assert exploring(planner, 4)[3, 1] == planner.highest
    model.add(3, 1, 0, 0.4, -1.0, 0.0)
    assert exploring(planner, 4)[3, 1] < planner.highest


def test_one_step_at_a_time_agrees_with_all_at_once():
    """The values that were kept up to date are those of a planner that sees it all anew."""
    rng = np.random.default_rng(3)
    n = 16
    model, planner = make(n, n_actions=3)
    planner.see_reward(-1.0)
    planner.see_reward(1.0)
    for _ in range(600):
        state, action = int(rng.integers(n)), int(rng.integers(3))
        end = float(action == 2 and state == 5)
        after = (state + (0, 1, 5)[action]) % n
        model.add(state, action, after, 1.0, 2 * end - 1, end)
        planner.exploring_values([state], 0, np.arange(n), rng)
    assert (model.certainty > 1).all()
    greedy = planner.greedy_values(np.arange(n))
    # All is known: hope and fear are the same, but for what is too little to be planned with again.
    np.testing.assert_allclose(exploring(planner, n), greedy, atol=0.04 / (1 - GAMMA))
    fresh = ModelPlanner(model, GAMMA, "optimism", 0.5)
    np.testing.assert_array_equal(fresh_greedy(fresh, n), greedy)


def fresh_greedy(planner: ModelPlanner, n_states: int) -> np.ndarray:
    planner.see_reward(-1.0)
    planner.see_reward(1.0)
    return planner.greedy_values(np.arange(n_states))


@pytest.mark.parametrize("exploration", ["information_gain", "posterior_sampling"])
def test_of_two_equal_actions_the_less_tried_is_preferred(exploration):
    model, planner = make(3, exploration)
    planner.see_reward(-1.0)
    planner.see_reward(0.0)
    for state in range(3):
        model.add(state, 0, (state + 1) % 3, 100.0, -1.0, 0.0)
        model.add(state, 1, (state + 1) % 3, 1.0 if state == 0 else 100.0, -1.0, 0.0)
    preferred = 0
    for _ in range(30):
        planner.begin_episode()
        values = planner.exploring_values([0], 0, np.arange(3), RNG)
        assert np.isfinite(values).all()
        preferred += bool(values[0, 1] > values[0, 0])
    assert preferred > 25


def test_an_episode_keeps_the_world_it_drew():
    _, planner = corridor(exploration="posterior_sampling")
    first = exploring(planner, 4)
    np.testing.assert_array_equal(first, exploring(planner, 4))
    planner.begin_episode()
    assert not np.array_equal(first, exploring(planner, 4))


def test_posterior_sampling_hopes_for_the_untried():
    _, planner = corridor(exploration="posterior_sampling")
    assert exploring(planner, 4)[3, 1] == planner.highest


@pytest.mark.parametrize("exploration", ["epsilon_greedy", "softmax", "greedy"])
def test_the_simple_strategies_act_on_greedy_values(exploration):
    _, planner = corridor(exploration=exploration)
    np.testing.assert_array_equal(exploring(planner, 4), planner.greedy_values(np.arange(4)))


def test_when_all_is_known_and_nothing_was_gained_something_is_doubted():
    model, planner = corridor(tries=3.0)
    model.add(3, 1, 3, 2.0, -1.0, 0.0)  # the last action, tried less often than all others
    values = exploring(planner, 4, n_steps=100)
    assert values[3, 1] == planner.highest
    # When it has been tried as often as the others, the least certain is another.
    model.note_try(3, 1)
    model.add(3, 1, 3, 3.0, -1.0, 0.0)
    values = exploring(planner, 4, n_steps=130)
    assert values.max() == planner.highest
    assert values[3, 1] < planner.highest


def test_with_a_goal_known_rows_are_doubted_now_and_then():
    model, planner = corridor(tries=3.0)
    planner.see_reward(1.0)
    model.add(3, 1, 3, 8.0, 1.0, 1.0)
    first = exploring(planner, 4, n_steps=100)
    assert first.max() == planner.highest  # due for the first time
    doubted = [(state, action) for state, action in np.argwhere(first == planner.highest).tolist()]
    for state, action in doubted:
        after = next(iter(model.row(state, action)))
        model.note_try(state, action)
        model.add(state, action, after, 3.0, -1.0, 0.0)
    assert exploring(planner, 4, n_steps=110).max() < 2
    assert exploring(planner, 4, n_steps=121).max() == planner.highest


def test_known_rows_are_doubted_as_soon_as_the_run_has_grown_by_a_fifth():
    model, planner = corridor(tries=3.0)
    planner.see_reward(1.0)
    model.add(3, 1, 3, 8.0, 1.0, 1.0)
    doubted_at = []
    for n_steps in range(103, 160):
        values = planner.exploring_values(list(range(4)), n_steps, np.arange(4), RNG)
        doubted = np.argwhere(values == planner.highest).tolist()
        if doubted:
            doubted_at.append(n_steps)
        for state, action in doubted:  # it is tried again at once, and is as it was
            model.note_try(state, action)
            model.add(state, action, next(iter(model.row(state, action))), 3.0, -1.0, 0.0)
    assert doubted_at == [103, 124, 149]  # each at least 1.2 times the one before


def test_what_blocks_the_way_to_the_unknown_is_doubted():
    model, planner = corridor(5, tries=3.0)  # state 4 is entered from 3
    model.forget_row(3, 1)
    model.forget_row(4, 0)
    planner.see_reward(1.0)
    model.add(3, 1, 3, 1.0, -1.0, 0.0)  # but it is believed that the way there is blocked
    model.add(0, 0, 0, 3.0, 1.0, 1.0)
    # The unknown is seen, but nothing leads to it; nothing is doubted before it is time.
    values = exploring(planner, 5, n_steps=100)
    assert (values[4] == planner.highest).all()
    assert values[:4].max() < 2
    planner.note_best(float(values[2].max()), 100)
    assert exploring(planner, 5, n_steps=100)[3, 1] == planner.highest
    model.note_try(3, 1)
    model.add(3, 1, 3, 5.0, -1.0, 0.0)
    for n_steps, is_doubted in ((105, False), (119, False), (121, True)):
        values = exploring(planner, 5, n_steps)
        planner.note_best(float(values[2].max()), n_steps)
        assert (exploring(planner, 5, n_steps)[:4].max() == planner.highest) == is_doubted


def test_doubts_outlive_the_birth_of_a_state_which_needs_first_tries_only():
    model, planner = corridor(tries=3.0)
    model.add(3, 1, 3, 2.0, -1.0, 0.0)
    assert exploring(planner, 4, n_steps=100)[3, 1] == planner.highest
    model.make_room(5)
    planner.birth(4)
    model.add(3, 0, 4, 9.0, -1.0, 0.0)
    values = exploring(planner, 5, n_steps=101)
    assert (values[4] == planner.highest).all()
    assert values[3, 1] == planner.highest
    model.add(4, 0, 4, 1.0, -1.0, 0.0)
    assert exploring(planner, 5, n_steps=102)[4, 0] < planner.highest


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
    assert np.isfinite(exploring(planner, 3)).all()


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


def test_the_values_are_exact_when_nothing_is_left_to_try_for_any_number_of_states():
    model, planner = corridor(9)
    planner.see_reward(1.0)
    model.add(8, 1, 8, 1.0, 1.0, 1.0)
    greedy = planner.greedy_values(np.arange(9))
    np.testing.assert_allclose(exploring(planner, 9), greedy, atol=0.04 / (1 - GAMMA))


def test_information_gain_goes_on_when_a_state_is_born():
    model, planner = corridor(4, exploration="information_gain")
    exploring(planner, 4)
    model.make_room(5)
    planner.birth(4)
    assert np.isfinite(planner.exploring_values([4], 1, np.arange(5), RNG)).all()
