"""The maze of the paper with its files, and the registry that makes every environment."""

from tgm.envs.catalogue import load_maze, maze_names
from tgm.envs.env_spec import EnvSpec
from tgm.envs.facts import EnvFacts, facts_of, facts_of_env
from tgm.envs.generate import MazeKind, random_maze
from tgm.envs.maze import Cell, Maze
from tgm.envs.maze_env import MazeEnv
from tgm.envs.maze_file import MazeWarning, parse_maze, read_maze
from tgm.envs.registry import EnvRequest, make_env, register
from tgm.envs.time_limit import default_limit

__all__ = [
    "Cell",
    "EnvFacts",
    "EnvRequest",
    "EnvSpec",
    "Maze",
    "MazeEnv",
    "MazeKind",
    "MazeWarning",
    "default_limit",
    "facts_of",
    "facts_of_env",
    "load_maze",
    "make_env",
    "maze_names",
    "parse_maze",
    "random_maze",
    "read_maze",
    "register",
]
