"""The published procedure, mended, solves what the paper says it solves."""

import gymnasium as gym
import pytest

import tgm
from tgm.experiments.evaluation import evaluate
from tgm.experiments.structure import compare_structure


@pytest.mark.parametrize("maze", ["8", "20", "25"])
def test_small_mazes_are_solved_in_5000_steps(maze):
    env = gym.make("tgm/Maze-v0", maze=maze)
    true_maze = env.unwrapped.maze
    for seed in range(5):
        agent = tgm.TGMAgent(env, tgm.TGMConfig.paper(), seed=seed).learn(5000)
        assert evaluate(agent, env, n_episodes=20, seed=seed).solves(true_maze), f"seed {seed}"
        report = compare_structure(agent, true_maze)
        assert report.counts["missing"] == report.counts["fused"] == 0
        assert report.transition_counts["wrong"] == 0
