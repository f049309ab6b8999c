"""What every registered exploration strategy must do."""

import numpy as np
import pytest
from tests.planning.worlds import GAMMA, Walker, corridor, new_strategy

from tgm.perception.component_map import ComponentMap
from tgm.planning.exploration import STRATEGIES
from tgm.planning.model_planner import ModelPlanner
from tgm.transition.sparse import SparseTransitions

LATE = 10**7  # steps: schedules have come to their end

every_strategy = pytest.mark.parametrize("name", list(STRATEGIES))


def walker(name: str, seed: int = 0) -> Walker:
    return Walker(new_strategy(name, epsilon_decay=200.0, temperature=2.0), seed)


@every_strategy
def test_actions_are_in_range_and_follow_from_the_seed(name):
    actions = walker(name, seed=3).walk(10)
    assert set(actions) <= {0, 1, 2}
    assert actions == walker(name, seed=3).walk(10)


@every_strategy
def test_a_different_seed_gives_other_actions(name):
    assert len({tuple(walker(name, seed).walk(10)) for seed in range(8)}) > 1


@every_strategy
@pytest.mark.parametrize("n_before", [1, 2, 4, 12])
def test_an_agent_that_was_restored_goes_on_to_the_same_actions(name, n_before):
    before = walker(name, seed=1)
    before.walk(n_before)
    after = before.copy(walker(name).strategy)
    assert before.walk(10) == after.walk(10)


@every_strategy
def test_of_equal_actions_each_is_taken(name):
    strategy, rng = new_strategy(name), np.random.default_rng(0)
    counts = np.bincount([strategy.choose(np.zeros(3), LATE, rng) for _ in range(600)], minlength=3)
    # 200 each are expected, with a standard deviation of 11.5.
    assert len(counts) == 3
    assert np.abs(counts - 200).max() < 60


@every_strategy
def test_an_action_that_is_far_better_is_taken_in_the_end(name):
    strategy, rng = new_strategy(name), np.random.default_rng(0)
    values = np.array([-1e3, 2.0, -1e3])
    assert {strategy.choose(values, LATE, rng) for _ in range(100)} == {1}


@every_strategy
def test_a_world_without_states_has_actions(name):
    strategy, rng = new_strategy(name), np.random.default_rng(0)
    planner = ModelPlanner(SparseTransitions(3, GAMMA), GAMMA)
    values = strategy.values(planner, [], np.arange(0), 0, rng)
    assert values.tolist() == [0, 0, 0]
    assert strategy.choose(values, 0, rng) in (0, 1, 2)


@every_strategy
def test_the_values_in_a_belief_are_expectations(name):
    _, planner = corridor()
    strategy, rng, alive = new_strategy(name), np.random.default_rng(0), np.arange(4)

    def values(belief):
        for _ in range(100):  # until the sweeps are done
            result = strategy.values(planner, belief, alive, 0, rng)
        return result

    first, second = values([(2, 1.0)]), values([(3, 1.0)])
    expected = 0.25 * first + 0.75 * second
    np.testing.assert_allclose(values([(2, 0.25), (3, 0.75)]), expected, rtol=1e-6)
    assert not np.allclose(first, second)


@every_strategy
def test_states_may_change_within_an_episode(name):
    model, planner = corridor()
    planner.see_reward(1.0)
    model.add(3, 1, 3, 1.0, 1.0, 1.0)
    strategy, rng = new_strategy(name), np.random.default_rng(0)
    before = strategy.values(planner, [(2, 1.0)], np.arange(4), 0, rng).copy()
    # State 3 becomes one with state 0; then a new state is born in its slot.
    change = ComponentMap(4, 4, np.array([0, 1, 2, 0]), np.arange(4), np.ones(4))
    model.apply(change)
    planner.apply(change)
    merged = strategy.values(planner, [(2, 1.0)], np.arange(3), 1, rng)
    assert np.isfinite(merged).all()
    assert not np.array_equal(merged, before)
    model.make_room(5)
    for state in (3, 4):
        planner.birth(state)
    born = strategy.values(planner, [(4, 1.0)], np.arange(5), 2, rng)
    assert born[0] == born[1]
    assert strategy.choose(born, 2, rng) in (0, 1)


@pytest.mark.parametrize("name", list(STRATEGIES))
def test_in_a_known_world_the_reward_is_found_in_most_episodes(name):
    agent = walker(name)
    agent.teach(tries=30.0)
    agent.walk(40)
    assert agent.n_goals >= 30


@pytest.mark.parametrize("name", [name for name in STRATEGIES if name != "greedy"])
def test_in_an_unknown_world_the_reward_is_found_and_then_found_again(name):
    agent = walker(name)
    agent.walk(60)
    found = agent.n_goals
    agent.walk(40)
    assert agent.n_goals - found >= 30
    # And what was learned is enough for the greedy policy: right, right, right, right, stay.
    greedy = agent.planner.greedy_values(np.arange(5))
    assert greedy.argmax(axis=1).tolist() == [1, 1, 1, 1, 2]


def test_strategies_with_values_of_their_own_need_a_model():
    needing = {name for name, kind in STRATEGIES.items() if kind.needs_model}
    assert needing == {"optimism", "posterior_sampling", "information_gain"} & set(STRATEGIES)
