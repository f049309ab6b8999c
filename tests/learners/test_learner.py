"""The learning step loses nothing: what is forgotten is in the priors."""

import gymnasium as gym
import numpy as np
import pytest

import tgm


def agent_after(n_steps: int, **settings) -> tgm.TGMAgent:
    env = gym.make("tgm/Maze-v0", maze="8")
    return tgm.TGMAgent(env, tgm.TGMConfig.paper(**settings), seed=0).learn(n_steps)


@pytest.mark.parametrize("n_steps", [100, 600, 2000])
def test_every_step_is_counted_once_forgotten_or_not(n_steps):
    agent = agent_after(n_steps)
    assert agent.transition_counts.sum() == pytest.approx(n_steps, abs=0.5)


def test_most_points_are_forgotten_and_the_weights_still_know_them():
    records = []
    env = gym.make("tgm/Maze-v0", maze="8")
    agent = tgm.TGMAgent(env, tgm.TGMConfig.paper(), seed=0).learn(2000, callback=records.append)
    n_points = agent.n_steps + agent.n_episodes - sum(record.n_forgotten for record in records)
    assert records[-1].n_kept == n_points
    assert records[-1].n_kept < 200


def test_without_forgetting_everything_is_kept():
    records = []
    env = gym.make("tgm/Maze-v0", maze="8")
    config = tgm.TGMConfig.paper(forget=False)
    agent = tgm.TGMAgent(env, config, seed=0).learn(600, callback=records.append)
    assert records[-1].n_kept == agent.n_steps + agent.n_episodes
    assert all(record.n_forgotten == 0 for record in records)
    np.testing.assert_allclose(agent.transition_counts.sum(), 600, atol=1e-9)
