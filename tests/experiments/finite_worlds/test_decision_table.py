"""The rules of finite worlds: against the environments, and policies judged in two ways."""

from functools import partial

import gymnasium as gym
import numpy as np
import pytest

from tgm.envs import load_maze
from tgm.envs.optimum import best_mean_return
from tgm.experiments.finite_worlds.environments import MOVE_COST, DeepSea
from tgm.experiments.finite_worlds.mazes import LAVA_27
from tgm.experiments.finite_worlds.rules import (
    BLACKJACK_SHAPE,
    table_of_blackjack,
    table_of_deep_sea,
    table_of_maze,
    table_of_toy_text,
)
from tgm.experiments.finite_worlds.worlds import WORLDS


def play(env, choose, n_episodes, limit):
    """Mean return and standard error of real episodes; `choose` takes an observation."""
    returns = []
    for seed in range(n_episodes):
        observation, _ = env.reset(seed=seed)
        total, over, length = 0.0, False, 0
        while not over and length < limit:
            observation, reward, terminated, truncated, _ = env.step(choose(observation))
            total, length, over = total + reward, length + 1, terminated or truncated
        returns.append(total)
    return np.mean(returns), np.std(returns) / np.sqrt(n_episodes)


def test_an_exact_return_is_the_mean_of_episodes():
    env = gym.make("FrozenLake-v1", is_slippery=True, max_episode_steps=100)
    table = table_of_toy_text(env, 100)
    policy = np.random.default_rng(3).integers(4, size=16)
    policy[[0, 4, 8, 9, 13, 14]] = [0, 0, 3, 1, 2, 1]  # as the best one does: it gets there
    exact = table.judge(lambda states: policy[states])
    mean, error = play(env, lambda state: policy[state], 2000, 100)
    assert 0.3 < exact.mean_return < table.best_return
    assert abs(mean - exact.mean_return) < 4 * error
    sampled = table.sample(lambda states, _: policy[states], 2000, np.random.default_rng(0))
    assert abs(sampled.mean_return - exact.mean_return) < 4 * error


def test_a_judged_policy_is_asked_only_where_it_comes_to():
    table = table_of_maze(load_maze("27"), 0.0, 50)
    asked = []

    def left(states):
        asked.extend(states.tolist())
        return np.full(len(states), 2)

    judged = table.judge(left)
    assert (judged.mean_return, judged.always_ends) == (-50.0, False)
    assert len(asked) == 1


def test_sampling_the_best_policy_has_no_variance():
    table = table_of_maze(load_maze("27"), 0.3, 50)
    left = iter(range(50, 0, -1))
    sampled = table.sample(
        lambda states, _: table.action_values(next(left)).argmax(axis=1)[states],
        5,
        np.random.default_rng(0),
    )
    assert sampled.mean_return == pytest.approx(table.best_return, abs=1e-12)


@pytest.mark.parametrize("slip", [0.0, 0.2])
@pytest.mark.parametrize("maze", [load_maze("27"), LAVA_27, load_maze("8")], ids=lambda m: m.name)
def test_the_best_return_of_a_maze_is_known_otherwise(maze, slip):
    table = table_of_maze(maze, slip, 50)
    assert table.best_return == pytest.approx(best_mean_return(maze, 50, slip), abs=1e-6)
    assert len(table.lived_in) == len(maze.cells)


def test_the_table_of_blackjack_is_that_of_gymnasium():
    table = table_of_blackjack()
    assert table.starts.sum() == pytest.approx(1.0)
    used = table.probability.sum(axis=-1)[table.lived_in]
    np.testing.assert_allclose(used, 1.0)
    policy = table.action_values(table.limit).argmax(axis=1)  # many steps are left
    exact = table.judge(lambda states: policy[states])
    assert exact.mean_return == pytest.approx(table.best_return, abs=1e-9)
    env = gym.make("Blackjack-v1")
    mean, error = play(
        env, lambda seen: int(policy[np.ravel_multi_index(seen, BLACKJACK_SHAPE)]), 20_000, 99
    )
    assert abs(mean - exact.mean_return) < 4 * error


def test_deep_sea_pays_on_the_way_to_the_right_only():
    n = 6
    env = DeepSea(n, mapping_seed=4)
    observation, _ = env.reset(seed=0)
    total = 0.0
    for row in range(n):
        assert observation.shape == (n, n)
        assert observation[row, row] == observation.sum() == 1.0
        observation, reward, terminated, truncated, _ = env.step(env.right[row, row])
        assert terminated == (row == n - 1)
        assert not truncated
        total += reward
    assert total == pytest.approx(1.0 - MOVE_COST)
    assert not observation.any()


@pytest.mark.parametrize("n", [2, 5])
def test_the_rules_of_deep_sea_are_those_of_the_environment(n):
    env = DeepSea(n, mapping_seed=1)
    table = table_of_deep_sea(env.right)
    assert table.best_return == pytest.approx(1.0 - MOVE_COST)
    assert len(table.lived_in) == n * (n + 1) // 2
    rng = np.random.default_rng(0)
    for _ in range(20):
        state, is_over = 0, False
        observation, _ = env.reset()
        while not is_over:
            assert observation.ravel().argmax() == state
            action = int(rng.integers(2))
            observation, reward, is_over, _, _ = env.step(action)
            assert reward == pytest.approx(table.reward[state, action, 0])
            assert is_over == table.ends[state, action, 0]
            state = int(table.after[state, action, 0])


def test_two_actions_of_deep_sea_mean_different_things_in_different_cells():
    right = [DeepSea(20, mapping_seed=seed).right for seed in (0, 1)]
    assert 0.4 < right[0].mean() < 0.6
    assert 0.4 < (right[0] == right[1]).mean() < 0.6


@pytest.mark.parametrize(
    "name", [name for name, world in WORLDS.items() if not world.is_extra or name == "deep-sea-12"]
)
def test_a_world_lives_by_its_table(name):
    """Random steps: every reward is one of those that the table has for some state."""
    scene = WORLDS[name].make(1)
    table = scene.table
    possible = set(np.round(table.reward[table.probability > 0.0], 9).tolist())
    act = partial(np.random.default_rng(0).integers, table.probability.shape[1])
    scene.env.reset(seed=0)
    for _ in range(60):
        observation, reward, terminated, truncated, _ = scene.env.step(int(act()))
        assert scene.env.observation_space.contains(observation)
        assert round(float(reward), 9) in possible
        if terminated or truncated:
            scene.env.reset(seed=1)
