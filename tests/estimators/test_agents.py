"""An agent that starts from a fitted model."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

import tgm
from tgm.errors import ConfigError

OPTIMUM = -5.0  # of maze 8


def random_walks(env, n_episodes, names=None):
    """Observations, actions, rewards and ends of episodes in which actions are random."""
    rng, log = np.random.default_rng(0), ([], [], [], [])
    for episode in range(n_episodes):
        observation, _ = env.reset(seed=episode)
        rows, actions, rewards, is_over = [observation], [], [], False
        while not is_over:
            action = int(rng.integers(env.action_space.n))
            observation, reward, terminated, truncated, _ = env.step(action)
            rows.append(observation)
            actions.append(action if names is None else names[action])
            rewards.append(reward)
            is_over = terminated or truncated
        for part, value in zip(log, (np.array(rows), actions, rewards, terminated), strict=True):
            part.append(value)
    return log


@pytest.fixture(scope="module")
def maze():
    env = gym.make("tgm/Maze-v0", maze="8")
    observations, actions, rewards, ends = random_walks(env, 40)
    model = tgm.TemporalMixture().fit(observations, actions, rewards=rewards, terminated=ends)
    return env, model


def greedy_return(agent, env):
    observation, _ = env.reset(seed=1)
    total, is_over = 0.0, False
    while not is_over:
        action, _ = agent.predict(observation, deterministic=True)
        observation, reward, terminated, truncated, _ = env.step(action)
        total, is_over = total + reward, terminated or truncated
    return total


def test_the_agent_knows_what_the_log_showed_and_goes_on(maze, tmp_path):
    env, model = maze
    assert model.n_states_ == 8
    agent = model.to_agent(env, seed=0)
    assert agent.n_states == 8
    np.testing.assert_allclose(agent.means, model.means_, atol=0.01)
    assert greedy_return(agent, env) == OPTIMUM  # before its first step
    agent.save(tmp_path / "model")
    agent.learn(150)
    assert agent.n_states == 8
    again = tgm.TGMAgent.load(tmp_path / "model", gym.make("tgm/Maze-v0", maze="8"))
    assert again.learn(150).means.tobytes() == agent.means.tobytes()
    assert greedy_return(agent, env) == OPTIMUM


def test_actions_may_be_known_by_name(maze):
    env, _ = maze
    names = env.unwrapped.action_names
    observations, actions, rewards, ends = random_walks(env, 20, names)
    named = tgm.TemporalMixture().fit(observations, actions, rewards=rewards, terminated=ends)
    agent = named.to_agent(env)
    assert list(agent.interface.action_names) == list(names)
    right = list(names).index("right")
    start = int(agent.belief([1.0, 1.0]).argmax())
    there = agent.means[agent.transition_matrix[right, start].argmax()]
    np.testing.assert_allclose(there, [2.0, 1.0], atol=0.1)


def test_what_cannot_be_is_said(maze):
    env, model = maze
    with pytest.raises(ConfigError, match=r"2 features, and the environment has 4 in box"):
        model.to_agent(gym.make("CartPole-v1"))
    with pytest.raises(ConfigError, match="structure 'evidence' and bandwidth 'auto'"):
        model.to_agent(env, tgm.TGMConfig.paper())
    other = tgm.TemporalMixture().fit(np.zeros((4, 2)), actions=["a", "b", "a", "b"])
    with pytest.raises(ConfigError, match=r"the action is 'a'.*or one of"):
        other.to_agent(env)
    alone = tgm.TemporalMixture().fit(np.zeros((4, 2)))
    with pytest.raises(ConfigError, match="fitted without actions"):
        alone.to_agent(env)
    assert alone.to_agent().interface.n_actions == 1
