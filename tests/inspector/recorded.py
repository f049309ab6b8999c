"""Runs for the tests of the inspector, recorded by the real recorder."""

import contextlib
from pathlib import Path
from unittest import mock

import gymnasium as gym

import tgm
from tgm.agent import EpisodeInfo
from tgm.envs import load_maze
from tgm.runs import RunFolder, World, history


def in_short_chunks() -> contextlib.AbstractContextManager[object]:
    """Within it, the history of a run is written in pieces of 500 steps, not of 5,000."""
    return mock.patch.object(history, "CHUNK_STEPS", 500)


def record_maze(
    path: Path, maze: str, n_steps: int, preset: str = "default", seed: int = 0
) -> Path:
    """A run of ours in a maze."""
    env = gym.make("tgm/Maze-v0", maze=maze)
    agent = tgm.TGMAgent(env, tgm.TGMConfig.preset(preset), seed=seed)
    agent.learn(n_steps, run_dir=path)
    return path


def record_cart_pole(path: Path, n_steps: int) -> Path:
    """A run with four features and no map."""
    tgm.TGMAgent(gym.make("CartPole-v1"), tgm.TGMConfig(), seed=0).learn(n_steps, run_dir=path)
    return path


def record_returns(path: Path, agent: str = "dqn", maze: str = "8", seed: int = 0) -> Path:
    """A run of another agent, of which only the returns are known."""
    world = World.of_maze(load_maze(maze))
    folder = RunFolder.create(path, agent=agent, world=world, seed=seed, steps=1000, config={})
    for episode in range(1, 21):
        ended = EpisodeInfo(episode, 50 * episode, -50.0 + 2 * episode, 50, episode > 10)
        folder.append({"step": 50 * episode, "episode": episode}, [ended])
    folder.finish("finished", {"steps": 1000, "mean_return": -12.0, "solved": False})
    return path
