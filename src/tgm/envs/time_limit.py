"""The default time limit of a maze: the steps after which an episode is cut off."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from gymnasium.wrappers import TimeLimit

from tgm.envs.catalogue import load_maze
from tgm.envs.maze import Maze

PAPER_LIMIT = 50
"""Steps of an episode in the mazes of the paper, and the fewest by default in any other."""

MOST_EPISODE_STEPS = 10**12
"""The longest time limit; a larger number is refused as a mistake."""

_PAPER_MAZES = ("8", "10", "20", "25", "26", "27")
_DETOUR = 4  # times the shortest way


def default_limit(maze: Maze) -> int:
    """The time limit of a maze, in steps: 50 for those of the paper.

    For any other maze four times the steps of its shortest way (the moves, and eating), but at
    least 50; also 50 if there is no way.

    >>> from tgm.envs import default_limit, load_maze, random_maze
    >>> default_limit(load_maze("10")), default_limit(random_maze("open", 20, 20, seed=0))
    (50, 156)
    """
    if any(maze.grid == load_maze(name).grid for name in _PAPER_MAZES):
        return PAPER_LIMIT
    return max(PAPER_LIMIT, _DETOUR * len(maze.shortest_path))


class RegisteredLimit(int):
    """The limit that is registered with Gymnasium: to be replaced by that of the maze.

    A number of its own kind, so that `gym.make(..., max_episode_steps=50)` means 50.
    """


def limit_by_maze(env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
    """`env` as `gym.make` has built it, with the limit of its maze if none was given.

    Gymnasium calls it last, as one of the wrappers that are registered with the environment.
    """
    spec = env.spec
    if spec is None or not isinstance(spec.max_episode_steps, RegisteredLimit):
        return env
    assert isinstance(env, TimeLimit)
    return TimeLimit(env.env, env.unwrapped.default_limit)  # type: ignore[attr-defined]
