"""Optimism: where the unknown is, and when known rows are tried again."""

import itertools

import numpy as np
import pytest
from tests.oracles import unseen_share_by_urns
from tests.planning.worlds import GAMMA, corridor, make, new_strategy, swept

from tgm.files.arrays import ArrayReader
from tgm.planning.exploration.optimism import _pay_for_chance, level_ties, one_of_the_best
from tgm.planning.model_planner import ModelPlanner
from tgm.transition import sparse_file


def optimism():
    return new_strategy("optimism")


def try_again(model, values, highest, tries=3.0):
    """Try every row once more that has the highest value."""
    for state, action in np.argwhere(values == highest).tolist():
        after = next(iter(model.row(state, action)))
        model.retries.discard((state, action))
        model.add(state, action, after, tries, -1.0, 0.0)


def test_the_untried_is_best_and_better_when_nearer():
    _, planner = corridor()
    values = swept(optimism(), planner, 4)
    assert values[3, 1] == planner.highest == values.max()
    assert (values[:, 1] > values[:, 0]).all()
    assert (np.diff(values[:, 1]) > 0).all()
    np.testing.assert_allclose(values[2, 1], -1 + GAMMA * planner.highest, rtol=0.01)


def test_what_is_found_is_planned_with():
    model, planner = corridor()
    strategy = optimism()
    swept(strategy, planner, 4)
    planner.see_reward(1.0)
    model.add(3, 1, 3, 1.0, 1.0, 1.0)
    values = swept(strategy, planner, 4)
    np.testing.assert_allclose(values, planner.greedy_values(np.arange(4)), atol=0.1)
    model.forget_row(1, 1)
    assert swept(strategy, planner, 4)[1, 1] == planner.highest


def test_less_than_half_a_try_leaves_a_row_unknown():
    model, planner = corridor()
    strategy = optimism()
    model.add(3, 1, 0, 0.4, -1.0, 0.0)
    assert swept(strategy, planner, 4)[3, 1] == planner.highest
    model.add(3, 1, 0, 0.4, -1.0, 0.0)
    assert swept(strategy, planner, 4)[3, 1] < planner.highest


def test_one_step_at_a_time_agrees_with_all_at_once():
    """The values that were kept up to date are those of a planner that sees the model as it is."""
    rng = np.random.default_rng(3)
    n = 16
    model, planner = make(n, n_actions=3)
    planner.see_reward(-1.0)
    planner.see_reward(1.0)
    strategy = optimism()
    for _ in range(600):
        state, action = int(rng.integers(n)), int(rng.integers(3))
        end = float(action == 2 and state == 5)
        after = (state + (0, 1, 5)[action]) % n
        model.add(state, action, after, 1.0, 2 * end - 1, end)
        strategy.values(planner, [(state, 1.0)], np.arange(n), 0, rng)
    assert (model.certainty > 1).all()
    fresh = ModelPlanner(model, GAMMA)
    fresh.see_reward(-1.0)
    fresh.see_reward(1.0)
    greedy = fresh.greedy_values(np.arange(n))
    # All is known: both are the same, but for what is too little to be planned with again.
    np.testing.assert_allclose(swept(strategy, planner, n), greedy, atol=0.04 / (1 - GAMMA))


def test_the_values_are_exact_when_nothing_is_left_to_try_for_any_number_of_states():
    model, planner = corridor(9)
    planner.see_reward(1.0)
    model.add(8, 1, 8, 1.0, 1.0, 1.0)
    greedy = planner.greedy_values(np.arange(9))
    np.testing.assert_allclose(swept(optimism(), planner, 9), greedy, atol=0.04 / (1 - GAMMA))


def test_when_all_is_known_and_nothing_was_gained_the_least_tried_is_tried_again():
    model, planner = corridor(tries=3.0)
    model.add(3, 1, 3, 2.0, -1.0, 0.0)  # the last action, tried less often than all others
    strategy = optimism()
    assert swept(strategy, planner, 4, n_steps=100)[3, 1] == planner.highest
    # When it has been tried as often as the others, the least certain is another.
    model.retries.discard((3, 1))
    model.add(3, 1, 3, 3.0, -1.0, 0.0)
    values = swept(strategy, planner, 4, n_steps=130)
    assert values.max() == planner.highest
    assert values[3, 1] < planner.highest


def test_with_a_goal_known_rows_are_tried_again_whenever_the_run_has_grown_by_a_fifth():
    model, planner = corridor(tries=3.0)
    planner.see_reward(1.0)
    model.add(3, 1, 3, 8.0, 1.0, 1.0)
    strategy = optimism()
    first = swept(strategy, planner, 4, n_steps=100)
    assert first.max() == planner.highest  # due for the first time
    try_again(model, first, planner.highest)
    for n_steps, is_tried in ((101, False), (119, False), (121, True)):
        values = swept(strategy, planner, 4, n_steps)
        assert (values.max() == planner.highest) == is_tried


def test_a_tenth_of_the_known_rows_is_tried_again():
    model, planner = corridor(25, tries=3.0)
    planner.see_reward(1.0)
    model.add(24, 1, 24, 3.0, 1.0, 1.0)
    trust = np.random.default_rng(0).permutation(50).reshape(25, 2) + 1.0
    planner.trust = lambda n_slots: trust[:n_slots]
    values = swept(optimism(), planner, 25, n_steps=100)
    assert set(trust[values == planner.highest].tolist()) == {1, 2, 3, 4, 5, 6}


def test_rows_that_block_the_way_to_the_unknown_are_tried_again():
    model, planner = blocked()
    strategy, rng, alive = optimism(), np.random.default_rng(0), np.arange(5)
    # State 4 is unknown, but nothing leads to it: the next look is for rows to try again.
    assert (strategy.values(planner, [(4, 1.0)], alive, 100, rng) == planner.highest).all()
    assert swept(strategy, planner, 5, n_steps=100, state=2)[3, 1] == planner.highest
    model.retries.discard((3, 1))
    model.add(3, 1, 3, 5.0, -1.0, 0.0)
    for n_steps, is_tried in ((105, False), (119, False), (121, True)):
        values = swept(strategy, planner, 5, n_steps, state=2)
        assert (values[:4].max() == planner.highest) == is_tried


def test_where_nothing_is_better_than_the_lowest_value_rows_are_tried_again_at_once():
    model, planner = corridor(3, tries=3.0)
    planner.see_reward(1.0)  # was received once, but no row leads to it now
    model.add(2, 1, 2, 3.0, -1.0, 0.0)
    strategy = optimism()
    try_again(model, swept(strategy, planner, 3, n_steps=100), planner.highest)
    assert swept(strategy, planner, 3, n_steps=101).max() == planner.highest


def test_retries_outlive_the_birth_of_a_state_which_needs_first_tries_only():
    model, planner = corridor(tries=3.0)
    model.add(3, 1, 3, 2.0, -1.0, 0.0)
    strategy = optimism()
    assert swept(strategy, planner, 4, n_steps=100)[3, 1] == planner.highest
    model.make_room(5)
    planner.birth(4)
    model.add(3, 0, 4, 9.0, -1.0, 0.0)
    values = swept(strategy, planner, 5, n_steps=101)
    assert (values[4] == planner.highest).all()
    assert values[3, 1] == planner.highest
    model.add(4, 0, 4, 1.0, -1.0, 0.0)
    assert swept(strategy, planner, 5, n_steps=102)[4, 0] < planner.highest


def everything_known(n_steps: int):
    """A corridor with a goal in which all rows are known, and were tried again at `n_steps`."""
    model, planner = corridor(tries=3.0)
    planner.see_reward(1.0)
    model.add(3, 1, 3, 3.0, 1.0, 1.0)
    strategy = optimism()
    values = swept(strategy, planner, 4, n_steps)
    assert values.max() == planner.highest
    try_again(model, values, planner.highest)
    assert swept(strategy, planner, 4, n_steps + 1).max() < 2
    return model, planner, strategy


def are_unknown(model, planner, values):
    """Whether all rows are worth what the unknown is, but for random ones."""
    return bool((values == planner.highest)[~model.is_random[:4]].all())


def test_a_revision_of_the_planner_makes_it_search_for_unknown_rows_at_once():
    model, planner, strategy = everything_known(100)
    model.doubt_all()
    assert swept(strategy, planner, 4, n_steps=109).max() < 2
    planner.forget_certainty()
    assert are_unknown(model, planner, swept(strategy, planner, 4, n_steps=109))


def test_it_searches_after_ten_steps():
    model, planner, strategy = everything_known(200)
    model.doubt_all()
    assert swept(strategy, planner, 4, n_steps=209).max() < 2
    assert are_unknown(model, planner, swept(strategy, planner, 4, n_steps=210))


def test_but_not_before_known_rows_are_due_again():
    model, planner, strategy = everything_known(200)
    assert swept(strategy, planner, 4, n_steps=210).max() < 2  # a search, and the next at 240
    model.doubt_all()
    assert swept(strategy, planner, 4, n_steps=239).max() < 2
    assert are_unknown(model, planner, swept(strategy, planner, 4, n_steps=240))


def test_each_change_of_the_model_is_followed_once():
    model, planner, strategy = everything_known(200)
    model.add(3, 1, 3, 60.0, -1.0, 1.0)  # known before and after, but hardly a reward now
    values = swept(strategy, planner, 4, n_steps=201)
    np.testing.assert_allclose(values, planner.greedy_values(np.arange(4)), atol=0.1)
    assert model.changed == model.touched == planner.sweeper.active == set()


def test_while_an_unknown_row_can_be_reached_no_other_is_tried_again():
    n = 60  # so far that the sweep of one step does not reach the first state
    model, planner = corridor(n, tries=3.0)
    planner.see_reward(1.0)
    model.add(n - 1, 1, n - 1, 3.0, 1.0, 1.0)
    strategy = optimism()
    try_again(model, swept(strategy, planner, n, n_steps=100), planner.highest)
    swept(strategy, planner, n, n_steps=119)
    model.forget_row(n - 1, 1)
    values = swept(strategy, planner, n, n_steps=125)
    assert np.argwhere(values == planner.highest).tolist() == [[n - 1, 1]]
    assert (values[:, 1] > values[:, 0]).all()


def test_a_distant_reward_ranks_the_actions():
    n = 80
    model, planner = make(n)
    for state in range(n):
        model.add(state, 0, max(state - 1, 0), 3.0, 0.0, 0.0)
        is_last = state == n - 1
        model.add(state, 1, min(state + 1, n - 1), 3.0, float(is_last), float(is_last))
    planner.see_reward(0.0)
    planner.see_reward(1.0)
    values = swept(optimism(), planner, n)
    assert (values[:, 1] > values[:, 0]).all()


def rewarded_steps(slots):
    """Every step is worth 1, in every state: nothing is gained, but no value is the lowest."""
    model, planner = make(max(slots) + 1)
    planner.see_reward(1.0)
    for state in slots:
        for action in range(2):
            model.add(state, action, slots[0], 3.0, 1.0, 0.0)
    return model, planner


@pytest.mark.parametrize("slots", [[0, 1, 2], [0, 1, 3]])  # with and without a slot of no state
def test_while_nothing_was_gained_known_rows_are_tried_again_at_once(slots):
    model, planner = rewarded_steps(slots)
    strategy, rng, alive = optimism(), np.random.default_rng(0), np.array(slots)
    for n_steps in (100, 101, 102):
        strategy.values(planner, [(0, 1.0)], alive, n_steps, rng)
        wanted = np.argwhere(planner.sweeper.is_set[alive])
        assert len(wanted)
        for index, action in wanted.tolist():
            model.retries.discard((slots[index], action))
            model.add(slots[index], action, slots[0], 1.0, 1.0, 0.0)


def blocked():
    """State 4 is unknown, and it is believed that nothing leads to it."""
    model, planner = corridor(5, tries=3.0)
    model.forget_row(3, 1)
    model.forget_row(4, 0)
    planner.see_reward(1.0)
    model.add(3, 1, 3, 1.0, -1.0, 0.0)
    model.add(0, 0, 0, 3.0, 1.0, 1.0)
    return model, planner


@pytest.mark.parametrize("n_calls", range(5))
def test_a_restored_strategy_gives_the_same_values_after_any_call(n_calls):
    model, planner = blocked()
    strategy, alive, rng = optimism(), np.arange(5), np.random.default_rng(0)
    for _ in range(n_calls):
        strategy.values(planner, [(2, 1.0)], alive, 100, rng)
    other_model, other_planner = make(5)
    sparse_file.restore(other_model, ArrayReader(sparse_file.to_arrays(model)), 5)
    other_planner.restore(ArrayReader(planner.to_arrays()), 5)
    other = optimism()
    other.restore(ArrayReader(strategy.to_arrays()))
    for n_steps in (100, 100, 100, 121):
        values = strategy.values(planner, [(2, 1.0)], alive, n_steps, rng)
        again = other.values(other_planner, [(2, 1.0)], alive, n_steps, rng)
        np.testing.assert_array_equal(values, again)


def test_a_value_is_exact_to_a_fiftieth_of_what_one_step_is_worth(monkeypatch):
    _, planner = corridor()
    asked = []
    monkeypatch.setattr(planner.sweeper, "sweep", lambda alive, *bounds, **_: asked.append(bounds))
    swept(optimism(), planner, 4)
    tolerance, lowest, least = asked[0]
    assert tolerance == pytest.approx(0.02 * (1.0 - GAMMA))
    assert (lowest, least) == (planner.lowest, pytest.approx(1e-6 * planner.reward_range))


def test_values_that_differ_by_rounding_are_ties():
    rng = np.random.default_rng(0)
    values = [5.0, 10.0, 10.0 * (1 - 1e-12), 10.0 * (1 - 1e-7)]
    levelled = level_ties(values, lowest=-1.0)
    assert levelled[:3] == [5, 10, 10]
    assert levelled[3] < 10
    assert {one_of_the_best(levelled, rng) for _ in range(50)} == {1, 2}


@pytest.mark.parametrize("others", [[], [-1.0], [-1.0, -2.0], [-1.0, -2.0, -3.0]])
def test_ties_are_levelled_however_many_are_worse(others):
    levelled = level_ties([2.0, *others, 2.0 - 1e-12], -3.0)
    assert levelled == [2.0, *others, 2.0]
    alone = [2.0, *others, 1.9]
    assert level_ties(alone, -3.0) == alone


def test_a_random_number_is_drawn_for_ties_only():
    rng = np.random.default_rng(0)
    assert one_of_the_best([0.0, 2.0, 1.0], rng) == 1
    assert rng.random() == pytest.approx(np.random.default_rng(0).random())


def lottery(times=1):
    """Four states; action 0 leads to any of them, action 1 is like it but ends at times."""
    model, planner = make(4, n_actions=2)
    planner.see_reward(0.0)
    planner.see_reward(1.0)
    for state in range(4):
        for after in (0, 1, 2, 3, 3, 2, 1, 0) * times:
            model.add(state, 0, after, 1.0, 0.0, 0.0)
            model.add(state, 1, after, 1.0, float(after == 3), float(after == 3))
    return model, planner


def test_in_a_world_of_chance_the_unknown_is_one_range_above_the_best():
    model, planner = lottery()
    model.forget_row(2, 0)
    values = swept(optimism(), planner, 4)
    assert model.share_random > 0.1
    best = planner.greedy_values(np.arange(4)).max()
    assert planner.highest == pytest.approx(best + 1.0)
    assert values[2, 0] == planner.highest


@pytest.mark.parametrize("tries", [2, 6, 16])
def test_what_random_rows_may_show_never_adds_up_to_more_than_the_unknown(tries):
    """A random walk in a corridor of which one action was never tried; every reward is -1."""
    model, planner = make(4, n_actions=2)
    planner.see_reward(-1.0)
    for state in range(4):
        for action in range(2):
            if (state, action) != (3, 1):
                for after in (max(0, state - 1), min(3, state + 1)) * tries:
                    model.add(state, action, after, 1.0, -1.0, 0.0)
    strategy = optimism()
    for n_steps in (100, 110, 120, 200):
        values = swept(strategy, planner, 4, n_steps=n_steps)
        assert model.share_random > 0.1
        assert planner.highest == pytest.approx(planner.lowest + 1.0)
        assert values[3, 1] == planner.highest
        assert np.delete(values, 7).max() < planner.highest
    # As soon as an end is known that is better, the unknown is measured from there.
    for _ in range(3):
        model.add(3, 1, 3, 1.0, -1.0, 1.0)
    strategy.values(planner, [(0, 1.0)], np.arange(4), 1000, np.random.default_rng(0))
    assert planner.best_known == pytest.approx(-1.0)


def test_a_second_look_at_the_same_rows_changes_hardly_a_value():
    """A ring with slips and a goal, in which one row was tried three times and has only slipped."""
    n_states, strategy = 8, optimism()
    model, planner = make(n_states, n_actions=2)
    planner.see_reward(-1.0)
    planner.see_reward(1.0)
    for state, action in itertools.product(range(n_states), range(2)):
        usual, slip = (state + 1, state - 1) if action == 0 else (state - 1, state + 1)
        tries = 8 if (state, action) != (6, 0) else 0
        model.add(state, action, usual % n_states, tries, -1.0, 0.0)
        model.add(state, action, slip % n_states, 3.0, -1.0, 0.0)
    model.add(7, 0, 7, 20.0, 1.0, 1.0)
    looks = []
    for n_steps in range(100, 160, 10):
        looks.append(swept(strategy, planner, n_states, n_steps=n_steps))
    assert model.share_random > 0.1
    assert looks[-1][6, 0] > planner.greedy_values(np.arange(n_states))[6, 0] + 0.2
    for values in looks[2:]:
        np.testing.assert_allclose(values, looks[-1], atol=0.2)


@pytest.mark.parametrize("times", [1, 2])
def test_the_bonus_of_a_random_row_by_hand(times):
    model, planner = lottery(times)
    strategy = optimism()
    swept(strategy, planner, 4)
    for _ in range(50):
        before = planner.sweeper.bonus.copy()
        planner.forget_certainty()
        swept(strategy, planner, 4)
        if np.allclose(planner.sweeper.bonus, before, rtol=1e-3):
            break
    value, row = planner.sweeper.value, (1, 1)
    after = GAMMA * value[[0, 1, 2, 3]]
    going = np.array([model.discounted[row] @ (model.successor[row] == s) for s in range(4)])
    going /= GAMMA
    variance = going @ after**2 - (going @ after) ** 2 + 0.25 * 0.75
    # From ten tries on the eight rows say that there are four outcomes, and how even they are.
    n, known, even = 8 * times, 8 * (times - 1), model.evenness
    assert (even > 1.0) == (times == 2)
    worth = model.reward[row] + model.discounted[row] @ value[model.successor[row]]
    best_after = max(GAMMA * value.max(), 1.0)  # the end had a reward of 1
    weights = [0.1, 0.1, 0.1, 0.1 + known, 0.1]
    hopeful = 1.0 / model.visits[1].sum()
    share = unseen_share_by_urns([0, 1, 2, 3] * 2 * times, weights, max(even, 0.3), hopeful)
    near = share * max(best_after - worth, 0.0)
    unseen = near + 0.2 / (n + 0.2) * (planner.highest - worth - near)
    expected = 0.3 * np.sqrt(variance / (n + 4 * even)) + 0.02 / np.sqrt(n) + unseen
    chance = model.chance(4)[row]
    assert planner.sweeper.q[row] - worth == pytest.approx(chance * expected, rel=0.15)
    assert (planner.sweeper.hope > 0).all()


def test_hope_in_a_row_rises_while_others_of_its_state_are_tried():
    """Rows have two or three even outcomes; one has shown two in 18 tries, and never a third.

    It has another one with a probability of about (2/3)^18 * 3 * 8 / 6 = 0.003: in a state that was
    tried 22 times that is little, in one that was tried 2,000 times it is worth finding out.
    """
    hopes = []
    for tries in (4.0, 2000.0):
        model, planner = make(7, n_actions=2)
        planner.see_reward(0.0)
        planner.see_reward(1.0)
        for state in range(1, 7):
            for action, after in itertools.product(range(2), range(3 if state > 2 else 2)):
                model.add(state, action, after, 40.0, 0.0, 0.0)
        for after, count in ((1, 9.0), (2, 9.0)):
            model.add(0, 1, after, count, 0.0, 0.0)
            model.add(0, 0, after, tries / 2, 0.0, 0.0)
        model.learn_chance()
        model.learn_evenness()
        _pay_for_chance(planner, 7)
        hopes.append(float(planner.sweeper.hope[0, 1]))
    least = 0.2 / 18.2 + 0.02 / np.sqrt(18)  # whatever the row has shown
    assert hopes[0] == pytest.approx(0.003 * 22 / 3 + least, abs=0.01)
    assert hopes[1] == pytest.approx(1 / 3 + least, abs=0.05)


@pytest.mark.parametrize(("reward", "least"), [(1.0, 0.02), (0.0, 0.03)])
def test_the_least_bonus_is_larger_while_all_rewards_were_equal(reward, least):
    """Eight tries of every row, two to each place; none has brought anything."""
    model, planner = make(4, n_actions=1)
    planner.see_reward(0.0)
    planner.see_reward(reward)
    for state in range(4):
        for after in (0, 1, 2, 3) * 2:
            model.add(state, 0, after, 1.0, 0.0, 0.0)
    model.learn_chance()
    _pay_for_chance(planner, 4)
    expected = least / np.sqrt(8) + 0.2 / 8.2  # in ranges of reward
    np.testing.assert_allclose(planner.sweeper.bonus[:4], expected * model.chance(4))


@pytest.mark.parametrize(("share", "is_followed"), [(0.91, False), (0.89, True)])
def test_a_bonus_that_has_hardly_changed_is_not_planned_with_again(share, is_followed):
    model, planner = lottery()
    model.learn_chance()
    _pay_for_chance(planner, 4)
    planner.sweeper.active.clear()
    exact, hope = planner.sweeper.bonus[:4].copy(), planner.sweeper.hope[:4]
    shown = model.reward[:4] + model.discounted[:4].sum(axis=-1) * planner.sweeper.value[0]
    planner.sweeper.bonus[:4] = hope * shown + share * (exact - hope * shown)
    _pay_for_chance(planner, 4)
    is_exact = np.isclose(planner.sweeper.bonus[:4], exact, rtol=1e-9, atol=0.0)
    assert is_exact.all() == is_exact.any() == is_followed
    assert planner.sweeper.active == (set(range(4)) if is_followed else set())


def test_a_row_that_has_not_shown_what_others_have_is_worth_another_try():
    """Every row leads to three places evenly; one was tried once, and that was an end."""
    n_states, strategy = 9, optimism()
    model, planner = make(n_states, n_actions=2)
    planner.see_reward(0.0)
    planner.see_reward(1.0)
    for state, action in itertools.product(range(n_states), range(2)):
        for after in range(3) if (state, action) != (3, 1) else ():
            model.add(state, action, after, 10.0, float(after == 0), float(after == 0))
    model.add(3, 1, 3, 1.0, 0.0, 1.0)
    for _ in range(20):
        planner.forget_certainty()
        swept(strategy, planner, n_states)
    assert model.is_random[3, 1]
    assert planner.sweeper.bonus[3, 1] > 5.0 * planner.sweeper.bonus[3, 0]
    assert planner.sweeper.q[3, 1] > 0.5 * planner.sweeper.q[3, 0]


def test_a_row_that_is_no_longer_random_loses_its_bonus():
    model, planner = lottery()
    strategy = optimism()
    swept(strategy, planner, 4)
    assert (planner.sweeper.bonus > 0).all()
    for state in range(4):
        for action in range(2):
            model.forget_row(state, action)
            model.add(state, action, state, 50.0, 0.0, 0.0)
    for _ in range(5):  # the share of random rows is learned look by look
        planner.forget_certainty()
        swept(strategy, planner, 4, n_steps=100)
    assert not model.is_random.any()
    assert not planner.sweeper.bonus.any()


def test_when_a_world_turns_out_random_the_hope_for_the_unknown_is_lost_at_once():
    n_states, strategy, rng = 310, optimism(), np.random.default_rng(0)
    model, planner = make(n_states)
    for reward in (0.0, 1.0):
        planner.see_reward(reward)
    for state in range(n_states):  # a ring in which one row is unknown
        model.add(state, 0, (state + 1) % n_states, 1.0, 0.0, 0.0)
        if state:
            model.add(state, 1, (state - 1) % n_states, 1.0, 0.0, 0.0)
    alive = np.arange(n_states)
    for _ in range(30):
        strategy.values(planner, [(5, 1.0)], alive, 10, rng)
    assert planner.sweeper.value.max() > 1e6
    for state in range(n_states):
        for after in rng.integers(n_states, size=8).tolist():
            model.add(state, 0, after, 1.0, float(state == 7), 0.0)
    planner.forget_certainty()
    strategy.values(planner, [(5, 1.0)], alive, 10, rng)
    assert planner.best_known is not None
    assert planner.sweeper.value.max() < 100


def test_a_restored_strategy_waits_as_long_in_a_world_of_chance():
    _, planner = lottery()
    strategy, other = optimism(), optimism()
    swept(strategy, planner, 4, n_steps=50)
    arrays = strategy.to_arrays()
    assert arrays["value_at"] == 60  # the best known value is computed again after a fifth
    other.restore(ArrayReader(arrays))
    assert {name: array.tolist() for name, array in other.to_arrays().items()} == {
        name: array.tolist() for name, array in arrays.items()
    }


@pytest.mark.parametrize("lowest", [-5.0, 0.0, -1e3])
def test_what_rounding_is_follows_from_the_distance_to_the_lowest_value(lowest):
    near = 1e-10 * (5.0 - lowest)
    assert level_ties([5.0, 5.0 - near], lowest) == [5.0, 5.0]
    assert level_ties([5.0, 5.0 - 100 * near], lowest)[1] < 5.0


def test_where_nothing_can_be_tried_again_searches_wait(monkeypatch):
    """A state from which nothing more can be had is no reason to search all rows at every step."""
    model, planner = make(2, 1)
    planner.trust = lambda n_slots: np.full((n_slots, 1), np.inf)
    for state, after, reward, end in ((0, 1, 1.0, 0.0), (1, 1, 0.0, 1.0)):
        planner.see_reward(reward)
        model.add(state, 0, after, 3.0, reward, end)
    searches = []
    monkeypatch.setattr(model, "learn_chance", lambda: searches.append(1))
    strategy, rng = optimism(), np.random.default_rng(0)
    for n_steps in range(1, 101):
        strategy.values(planner, [(1, 1.0)], np.arange(2), n_steps, rng)
    assert 10 <= len(searches) <= 20


def test_the_bonus_of_random_rewards_by_hand():
    """Two standard errors; the range is that of expected rewards, not of what noise brought."""
    model, planner = make(1, 2)
    rng, rewards = np.random.default_rng(2), ([], [])
    for action, n_tries in ((0, 30), (1, 5)):
        for _ in range(n_tries):
            reward = float(rng.normal(action, 4.0))
            rewards[action].append(reward)
            planner.see_reward(reward)
            model.observe(0, action, 0, 1.0, reward, 1.0)
    strategy = optimism()
    strategy.values(planner, [(0, 1.0)], np.arange(1), 1, rng)
    noise = model.noise
    own = [1.0 / (len(row) / noise.variance + 1.0 / noise.spread[1]) for row in rewards]
    mean = [
        v * (sum(row) / noise.variance + noise.centre[1] / noise.spread[1])
        for v, row in zip(own, rewards, strict=True)
    ]
    error = model.noise_chance[0] * np.sqrt(own)
    np.testing.assert_allclose(planner.sweeper.bonus[0], 2.0 * error)
    lag = 0.1 * np.sqrt(own)  # a mean that has moved by less is not planned with again
    assert (np.abs(model.reward[0] - mean) <= lag).all()
    assert planner.best_reward == pytest.approx(max(mean + error), abs=max(lag))
    assert planner.worst_reward == pytest.approx(min(mean - error), abs=max(lag))
    planner.see_reward(1000.0)
    assert planner.best_reward < 100.0
