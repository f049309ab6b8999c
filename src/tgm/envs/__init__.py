"""The maze of the paper, its files, and its registration with Gymnasium."""

import gymnasium as gym
from gymnasium.envs.registration import WrapperSpec

from tgm.envs.catalogue import load_maze, maze_names
from tgm.envs.generate import MazeKind, random_maze
from tgm.envs.maze import Cell, Maze
from tgm.envs.maze_env import MazeEnv
from tgm.envs.maze_file import MazeWarning, parse_maze, read_maze
from tgm.envs.time_limit import PAPER_LIMIT, RegisteredLimit, default_limit

__all__ = [
    "Cell",
    "Maze",
    "MazeEnv",
    "MazeKind",
    "MazeWarning",
    "default_limit",
    "load_maze",
    "maze_names",
    "parse_maze",
    "random_maze",
    "read_maze",
    "register",
]


def register() -> None:
    """Register `tgm/Maze-v0` with Gymnasium, with the time limit of its maze; once is enough."""
    if "tgm/Maze-v0" not in gym.registry:
        limit = WrapperSpec("limit_by_maze", "tgm.envs.time_limit:limit_by_maze", {})
        gym.register(
            "tgm/Maze-v0",
            entry_point="tgm.envs.maze_env:MazeEnv",
            max_episode_steps=RegisteredLimit(PAPER_LIMIT),
            additional_wrappers=(limit,),
        )
