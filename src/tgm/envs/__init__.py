"""The maze of the paper, its files, and its registration with Gymnasium."""

import gymnasium as gym

from tgm.envs.catalogue import load_maze, maze_names
from tgm.envs.generate import MazeKind, random_maze
from tgm.envs.maze import Cell, Maze
from tgm.envs.maze_env import MazeEnv
from tgm.envs.maze_file import MazeWarning, parse_maze, read_maze

__all__ = [
    "Cell",
    "Maze",
    "MazeEnv",
    "MazeKind",
    "MazeWarning",
    "load_maze",
    "maze_names",
    "parse_maze",
    "random_maze",
    "read_maze",
    "register",
]


def register() -> None:
    """Register `tgm/Maze-v0` with Gymnasium, with a time limit of 50 steps; once is enough."""
    if "tgm/Maze-v0" not in gym.registry:
        gym.register("tgm/Maze-v0", entry_point="tgm.envs.maze_env:MazeEnv", max_episode_steps=50)
