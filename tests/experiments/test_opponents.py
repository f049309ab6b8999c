"""Opponents outside mazes: RL Zoo's settings, and learners that are told the true state."""

import gymnasium as gym
import numpy as np
import pytest

from tgm.envs import load_maze
from tgm.experiments.baselines import make_agent, unfit
from tgm.experiments.baselines.catalogue import deep_config
from tgm.experiments.baselines.deep import DEEP_CONFIGS, DeepAgent, DeepConfig
from tgm.experiments.baselines.recording import EpisodeRecorder
from tgm.experiments.baselines.rl_zoo import zoo_config, zoo_table
from tgm.experiments.baselines.tabular import solve, true_states
from tgm.experiments.evaluation import evaluate

CLASSICS = ("CartPole-v1", "MountainCar-v0", "Acrobot-v1", "LunarLander-v3")


@pytest.mark.parametrize("algorithm", ["DQN", "PPO"])
@pytest.mark.parametrize("env_id", CLASSICS)
def test_every_classic_has_published_settings_that_the_library_takes(algorithm, env_id):
    stable_baselines3 = pytest.importorskip("stable_baselines3")
    assert "hyperparams/dqn.yml" in zoo_table()["source"]
    config = zoo_config(algorithm.lower(), env_id)
    taken = getattr(stable_baselines3, algorithm).__init__.__code__.co_varnames
    assert config.settings
    assert set(config.settings) <= set(taken)


def test_the_settings_of_mazes_stay_the_papers():
    maze = gym.make("tgm/Maze-v0", maze=load_maze("8"))
    assert deep_config("dqn", maze) == DEEP_CONFIGS["dqn"]
    assert deep_config("dqn", gym.make("CartPole-v1")).settings["train_freq"] == 256
    assert deep_config("dqn", gym.make("FrozenLake-v1")) == DeepConfig("DQN")


def test_a_learner_in_several_copies_is_looked_at_on_time():
    pytest.importorskip("stable_baselines3")
    main = EpisodeRecorder(gym.make("CartPole-v1"), 0)
    copies = [EpisodeRecorder(gym.make("CartPole-v1"), 0, main) for _ in range(3)]
    settings = {"n_steps": 8, "batch_size": 16, "learning_rate": "lin_0.001", "gamma": 0.9}
    config = DeepConfig("PPO", settings, n_envs=4, normalized=True)
    agent = DeepAgent(main, config, copies=copies)
    looks = []
    agent.learn(90, lambda step: looks.append((step, main.n_steps)), [10, 50, 90])
    assert [step for step, _ in looks] == [10, 50, 90]
    assert all(step <= seen < step + 4 for step, seen in looks)
    assert sum(episode.length for episode in main.episodes) <= main.n_steps == 92
    assert agent.model.learning_rate(0.5) == pytest.approx(0.0005)
    actions, _ = agent.predict(np.zeros((5, 4), dtype=np.float32), deterministic=True)
    assert actions.shape == (5,)


@pytest.mark.parametrize("name", ["rmax", "psrl"])
def test_learners_that_are_told_the_state_find_the_way(name):
    maze = EpisodeRecorder(gym.make("tgm/Maze-v0", maze="8"), 0)
    agent = make_agent(name, maze, 0)
    agent.learn(1500)
    greedy = evaluate(agent, gym.make("tgm/Maze-v0", maze="8"), 5, 1)
    assert greedy.mean_return == load_maze("8").optimal_return
    observation, _ = maze.reset()
    one, _ = agent.predict(observation, deterministic=True)
    many, _ = agent.predict(np.stack([observation] * 3), deterministic=True)
    assert many.tolist() == [one] * 3


def test_value_iteration_agrees_with_linear_algebra():
    rng = np.random.default_rng(0)
    chances = rng.dirichlet(np.ones(6), size=5)  # five states, one action, and the end
    gains = rng.normal(size=(5, 1))
    found = solve(chances, gains, np.zeros((5, 1), dtype=bool), 0.0, np.zeros(6))
    exact = np.linalg.solve(np.eye(5) - 0.99 * chances[:, :5], gains[:, 0])
    assert found[:, 0] == pytest.approx(exact, abs=0.01)


def test_the_true_state_is_told_where_there_is_one():
    lake = true_states(gym.make("FrozenLake-v1"))
    assert (lake.n_states, lake.rewards, lake.has_chance) == (16, (0.0, 1.0), True)
    assert not true_states(gym.make("FrozenLake-v1", is_slippery=False)).has_chance
    assert true_states(gym.make("CartPole-v1")) is None


@pytest.mark.parametrize(
    ("name", "env_id", "why"),
    [
        ("rmax", "CartPole-v1", "told the true state, and there is none"),
        ("oracle", "CartPole-v1", "is for mazes; elsewhere use rmax"),
        ("dqn-tuned", "CartPole-v1", "settings for mazes; take dqn"),
        ("dqn", "Pendulum-v1", "Discrete actions, not Box"),
        ("random", "Pendulum-v1", "Discrete actions, not Box"),
        ("dqn", "Blackjack-v1", "not Tuple"),
    ],
)
def test_agents_that_do_not_fit_say_why(name, env_id, why):
    assert why in unfit(name, gym.make(env_id))
    assert unfit("tgm", gym.make("Blackjack-v1")) == ""
