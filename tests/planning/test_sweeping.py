"""Values of sparse models against value iteration by loops."""

import numpy as np
import pytest
from tests.oracles import value_iteration

from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.planning.sweeping import Sweeper, solve
from tgm.transition.sparse import SparseTransitions

GAMMA = 0.9
LOWEST = -2.0 / (1 - GAMMA)


def random_row(rng: np.random.Generator, model: SparseTransitions, state: int, action: int) -> None:
    """Tries of one action: few successors, some reward, sometimes an end."""
    reward = rng.uniform(-2, 1)
    end = float(rng.random() < 0.15)
    for after in rng.integers(len(model.visits), size=rng.integers(1, 4)):
        model.add(state, action, int(after), float(rng.integers(1, 5)), reward, end)


def random_model(rng: np.random.Generator, n_states: int, n_actions: int = 3) -> SparseTransitions:
    model = SparseTransitions(n_actions, GAMMA)
    model.make_room(n_states)
    for state in range(n_states):
        for action in range(n_actions):
            random_row(rng, model, state, action)
    return model


def by_loops(
    model: SparseTransitions,
    set_values: dict[tuple[int, int], float],
    hope: np.ndarray | float = 0.0,
    bonus: np.ndarray | float = 0.0,
) -> np.ndarray:
    """The oracle, from the rows themselves; a try that shows something new ends the episode."""
    n_states, n_actions = model.visits.shape
    successors = [
        [
            {after: count / sum(row.values()) for after, count in row.items()}
            for row in (model.row(state, action) for action in range(n_actions))
        ]
        for state in range(n_states)
    ]
    reward = np.divide(model.reward_sum, model.visits)
    end = np.divide(model.end_sum, model.visits)
    reward, end = (1 - hope) * reward + bonus, hope + (1 - hope) * end
    return value_iteration(successors, reward, end, set_values, GAMMA)


def random_settings(rng: np.random.Generator, model: SparseTransitions, share: float = 0.1):
    is_set = rng.random(model.visits.shape) < share
    set_to = rng.uniform(-5, 5, size=is_set.shape)
    chosen = {(int(s), int(a)): set_to[s, a] for s, a in np.argwhere(is_set)}
    return is_set, set_to, chosen


def settle(sweeper: Sweeper, n_states: int, tolerance: float = 1e-10) -> None:
    """What is left after one step's rounds waits for the next one."""
    for _ in range(10_000):
        sweeper.sweep(np.arange(n_states), tolerance, LOWEST)
        if not sweeper.active:
            return
    raise AssertionError("the sweeps do not come to an end")


@pytest.mark.parametrize("seed", range(8))
def test_solving_a_whole_model(seed):
    rng = np.random.default_rng(seed)
    model = random_model(rng, int(rng.integers(2, 9)))
    is_set, set_to, chosen = random_settings(rng, model)
    q = solve(model.discounted, model.successor, model.reward, is_set, set_to, LOWEST)
    np.testing.assert_allclose(q, by_loops(model, chosen), atol=2e-3)


def test_no_value_is_below_the_lowest():
    model = random_model(np.random.default_rng(0), 3)
    everything = np.ones(model.visits.shape, dtype=bool)
    everything[0] = False  # the others are set far below
    q = solve(
        model.discounted,
        model.successor,
        model.reward,
        everything,
        np.full(everything.shape, -1e6),
        LOWEST,
    )
    assert (q[0] >= LOWEST - 2).all()
    assert (q[1:] == -1e6).all()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n_states", [3, 12])
def test_sweeping_gives_the_same_values(seed, n_states):
    rng = np.random.default_rng((seed, n_states))
    model = random_model(rng, n_states)
    is_set, set_to, chosen = random_settings(rng, model)
    sweeper = Sweeper(model)
    sweeper.make_room(n_states, 7.0)
    sweeper.set_rows(is_set, set_to)
    sweeper.active.update(range(n_states))
    settle(sweeper, n_states)
    np.testing.assert_allclose(sweeper.q, by_loops(model, chosen), atol=1e-6)
    np.testing.assert_allclose(sweeper.value, sweeper.q.max(axis=1), atol=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_after_a_change_the_sweep_goes_on_from_where_it_was(seed):
    rng = np.random.default_rng(seed)
    n_states = 20
    model = random_model(rng, n_states)
    is_set, set_to, chosen = random_settings(rng, model)
    sweeper = Sweeper(model)
    sweeper.make_room(n_states, 0.0)
    sweeper.set_rows(is_set, set_to)
    sweeper.active.update(range(n_states))
    settle(sweeper, n_states)
    for _ in range(4):
        state, action = int(rng.integers(n_states)), int(rng.integers(3))
        model.changed.clear()
        model.forget_row(state, action)
        random_row(rng, model, state, action)
        assert model.changed == {state}
        sweeper.active.update(model.changed)
        settle(sweeper, n_states)
        np.testing.assert_allclose(sweeper.q, by_loops(model, chosen), atol=1e-6)


def test_a_row_that_is_set_anew_is_seen():
    rng = np.random.default_rng(1)
    model = random_model(rng, 10)
    sweeper = Sweeper(model)
    sweeper.make_room(10, 0.0)
    nothing = np.zeros((10, 3), dtype=bool)
    sweeper.set_rows(nothing, np.zeros((10, 3)))
    settle(sweeper, 10)
    np.testing.assert_allclose(sweeper.q, by_loops(model, {}), atol=1e-6)
    one = nothing.copy()
    one[4, 2] = True
    sweeper.set_rows(one, np.full((10, 3), 30.0))
    assert sweeper.active == {4}
    settle(sweeper, 10)
    np.testing.assert_allclose(sweeper.q, by_loops(model, {(4, 2): 30.0}), atol=1e-6)
    sweeper.set_rows(one, np.full((10, 3), 40.0))  # the same row, worth more
    settle(sweeper, 10)
    np.testing.assert_allclose(sweeper.q, by_loops(model, {(4, 2): 40.0}), atol=1e-6)
    sweeper.set_rows(nothing, np.zeros((10, 3)))
    settle(sweeper, 10)
    np.testing.assert_allclose(sweeper.q, by_loops(model, {}), atol=1e-6)


@pytest.mark.parametrize("n_states", [3, 12])
@pytest.mark.parametrize("by_chance", [False, True])
def test_hope_is_a_share_of_the_tries_and_a_bonus_a_reward(by_chance, n_states):
    rng = np.random.default_rng(2)
    model = random_model(rng, n_states)
    is_set, set_to, chosen = random_settings(rng, model)
    sweeper = Sweeper(model)
    sweeper.make_room(n_states, 0.0)
    sweeper.set_rows(is_set, set_to)
    sweeper.bonus = rng.uniform(-2, 2, size=(n_states, 3))
    sweeper.hope = rng.uniform(0, 1, size=(n_states, 3))
    sweeper.active.update(range(n_states))
    for _ in range(100):
        sweeper.sweep(np.arange(n_states), 1e-10, LOWEST, by_chance=by_chance)
    expected = by_loops(model, chosen, sweeper.hope, sweeper.bonus)
    np.testing.assert_allclose(sweeper.q, expected, atol=1e-6)


def test_one_sweep_is_enough_when_hope_is_lost():
    """Values that are far too high prop each other up; backed up one by one, they fall slowly."""
    n_states = 12
    model = random_model(np.random.default_rng(6), n_states)
    sweeper = Sweeper(model)
    sweeper.make_room(n_states, 1e6)
    sweeper.set_rows(np.zeros((n_states, 3), dtype=bool), np.zeros((n_states, 3)))
    sweeper.sweep(np.arange(n_states), 1e-10, LOWEST)
    np.testing.assert_allclose(sweeper.q, by_loops(model, {}), atol=1e-6)


@pytest.mark.parametrize("is_set_elsewhere", [False, True])
def test_a_state_that_nothing_leads_to_does_not_hold_itself_up(is_set_elsewhere):
    """Two actions stay in it: few states move, and yet all begin again if no value is given."""
    n = 12
    model = SparseTransitions(3, GAMMA)
    model.make_room(n)
    for state in range(n):
        for action in range(3):
            stays = action < 2
            model.add(state, action, state if stays else (state + 1) % (n - 1), 1.0, -0.1, 0.0)
    sweeper = Sweeper(model)
    sweeper.make_room(n, LOWEST)
    is_set = np.zeros((n, 3), dtype=bool)
    is_set[0, 0] = is_set_elsewhere
    sweeper.set_rows(is_set, np.full((n, 3), -0.5))
    settle(sweeper, n)
    sweeper.value[n - 1] = 1e6
    sweeper.active = {n - 1}
    sweeper.sweep(np.arange(n), 1e-10, LOWEST)
    if is_set_elsewhere:
        assert sweeper.active == {n - 1}
    else:
        np.testing.assert_allclose(sweeper.q, by_loops(model, {}), atol=1e-6)


@pytest.mark.parametrize("n_closed", [2, 16, 17])
def test_hope_is_lost_where_nothing_unknown_can_be_reached(n_closed):
    """A few states lead only to each other; what is unknown elsewhere does not hold them up."""
    n = n_closed + 40
    model = SparseTransitions(1, GAMMA)
    model.make_room(n)
    for state in range(n):
        is_closed = state < n_closed
        onward = (state + 1) % n_closed if is_closed else min(state + 1, n - 1)
        model.add(state, 0, onward, 1.0, -0.1, 0.0)
    sweeper = Sweeper(model)
    sweeper.make_room(n, LOWEST)
    is_set = np.zeros((n, 1), dtype=bool)
    is_set[n - 1] = True
    sweeper.set_rows(is_set, np.full((n, 1), 1e6))
    settle(sweeper, n)
    sweeper.value[0] = 1e6
    sweeper.active = {n_closed - 1}
    sweeper.sweep(np.arange(n), 1e-10, LOWEST)
    if n_closed > 16:  # too many to look through: values fall step by step
        assert sweeper.value[:n_closed].max() > 1e3
    else:
        np.testing.assert_allclose(sweeper.q[:n_closed], -0.1 / (1.0 - GAMMA), rtol=1e-4)
    assert sweeper.value[n - 1] == 1e6


def test_states_without_a_component_are_left_alone():
    model = random_model(np.random.default_rng(3), 5)
    sweeper = Sweeper(model)
    sweeper.make_room(5, 3.0)
    sweeper.set_rows(np.zeros((5, 3), dtype=bool), np.zeros((5, 3)))
    sweeper.sweep(np.array([0, 1, 2, 3]), 1e-8, LOWEST)
    assert sweeper.value[4] == 3.0
    assert not (sweeper.value[:4] == 3.0).any()


def test_a_newborn_is_worth_what_it_is_said_to_be():
    model = random_model(np.random.default_rng(4), 4)
    sweeper = Sweeper(model)
    sweeper.make_room(4, 1.0)
    sweeper.start_state(2, 9.0)
    assert (sweeper.q[2] == 9).all()
    assert sweeper.value[2] == 9
    assert sweeper.active == {2}
    # Every row of it is set, until the model says otherwise.
    settle(sweeper, 4)
    assert (sweeper.q[2] == 9).all()


def test_bigger_tables_keep_what_they_had():
    model = random_model(np.random.default_rng(5), 4)
    sweeper = Sweeper(model)
    sweeper.make_room(2, 1.0)
    sweeper.q[:] = 5.0
    sweeper.make_room(3, 2.0)
    assert (sweeper.q[:2] == 5).all()
    assert (sweeper.q[2:] == 2).all()
    assert len(sweeper.value) == len(sweeper.is_set) == len(sweeper.set_to) >= 3


def test_one_sweep_reaches_fifteen_steps_far_and_the_next_goes_on():
    n = 80
    model = SparseTransitions(1, GAMMA)
    model.make_room(n)
    for state in range(n):
        model.add(state, 0, min(state + 1, n - 1), 1.0, -1.0, 0.0)
    sweeper = Sweeper(model)
    sweeper.make_room(n, LOWEST)
    sweeper.set_rows(np.zeros((n, 1), dtype=bool), np.zeros((n, 1)))
    settle(sweeper, n)
    is_last = np.arange(n)[:, None] == n - 1
    sweeper.set_rows(is_last, np.full((n, 1), 1e6))
    sweeper.sweep(np.arange(n), 1e-8, LOWEST)
    assert sweeper.active == {n - 1 - 15}
    sweeper.sweep(np.arange(n), 1e-8, LOWEST)
    assert sweeper.active == {n - 1 - 30}


@pytest.mark.parametrize("seed", range(6))
def test_improving_policies_gives_the_same_values(seed):
    rng = np.random.default_rng(seed)
    model = random_model(rng, 12)
    is_set, set_to, chosen = random_settings(rng, model)
    sweeper = Sweeper(model)
    sweeper.make_room(12, 7.0)
    sweeper.set_rows(is_set, set_to)
    sweeper.active = set(range(12))
    for _ in range(100):
        sweeper.sweep(np.arange(12), 1e-10, LOWEST, by_chance=True)
        if not sweeper.active:
            break
    np.testing.assert_allclose(sweeper.q, by_loops(model, chosen), atol=2e-3)


@pytest.mark.parametrize("n_states", [3, 12, 40])
@pytest.mark.parametrize("by_chance", [False, True])
def test_after_a_restart_all_values_are_found_again(by_chance, n_states):
    model = random_model(np.random.default_rng(8), n_states)
    sweeper = Sweeper(model)
    sweeper.make_room(n_states, 0.0)
    sweeper.set_rows(np.zeros((n_states, 3), dtype=bool), np.zeros((n_states, 3)))
    sweeper.active.update(range(n_states))
    settle(sweeper, n_states)
    before = sweeper.value.copy()
    sweeper.restart(np.arange(n_states), LOWEST)
    assert (sweeper.value == LOWEST).all()
    for _ in range(200):
        sweeper.sweep(np.arange(n_states), 1e-10, LOWEST, by_chance=by_chance)
    np.testing.assert_allclose(sweeper.value, before, atol=1e-6)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_a_whole_model_is_solved_in_any_unit_of_reward(unit):
    model = random_model(np.random.default_rng(9), 8)
    is_set = np.zeros((8, 3), dtype=bool)
    solved = solve(
        model.discounted, model.successor, unit * model.reward, is_set, 0.0 * model.reward,
        unit * LOWEST,
    )  # fmt: skip
    np.testing.assert_allclose(solved / unit, by_loops(model, {}), atol=1e-3)


def test_a_newborn_keeps_its_value_and_what_waits_is_kept_in_a_file():
    model = random_model(np.random.default_rng(4), 4)
    sweeper = Sweeper(model)
    sweeper.make_room(4, 1.0)
    sweeper.set_rows(np.zeros((4, 3), dtype=bool), np.zeros((4, 3)))
    sweeper.start_state(2, 9.0)
    sweeper.active = {0, 2, 3}
    copy = Sweeper(model)
    copy.restore(ArrayReader(sweeper.to_arrays()))
    assert copy.active == {0, 2, 3}
    for one in (sweeper, copy):
        settle(one, 4)
        assert one.q[2].tolist() == [9.0] * 3  # until something is known of it


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("value", lambda array: np.nan * array),
        ("q", lambda array: array[:, 1:]),
        ("is_set", lambda array: array[1:]),
        ("set_to", lambda array: array[:, 1:]),
        ("bonus", lambda array: np.inf + array),
        ("hope", lambda array: array - 0.5),
        ("hope", lambda array: array + 1.5),
        ("active", lambda array: array + 4),
        ("active", lambda array: array - 9),
    ],
)
def test_values_in_a_file_are_checked(name, change):
    model = random_model(np.random.default_rng(4), 4)
    sweeper = Sweeper(model)
    sweeper.make_room(4, 1.0)
    sweeper.active = {0, 3}
    arrays = sweeper.to_arrays()
    copy = Sweeper(model)
    copy.restore(ArrayReader(arrays))
    for other, array in copy.to_arrays().items():
        np.testing.assert_array_equal(array, arrays[other], err_msg=other)
    arrays[name] = change(arrays[name].copy())
    with pytest.raises(DataError, match=name):
        Sweeper(model).restore(ArrayReader(arrays))
