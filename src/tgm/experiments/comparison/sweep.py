"""The trials of a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tgm.envs import Maze, default_limit
from tgm.envs.maze_env import DEFAULT_NOISE
from tgm.errors import ConfigError
from tgm.experiments.baselines import check_agent_name
from tgm.experiments.harness.trial import Trial


def make_trials(
    mazes: Sequence[Maze],
    agents: Sequence[str],
    seeds: Iterable[int],
    steps: int,
    check_every: int | None = None,
    *,
    noise: float = DEFAULT_NOISE,
    max_episode_steps: int | None = None,
) -> list[Trial]:
    """Every agent in every maze with every seed; without a time limit, with that of each maze."""
    named: dict[str, Maze] = {}
    for maze in mazes:
        if named.setdefault(maze.name, maze) != maze:
            raise ConfigError(f"two mazes are called '{maze.name}'; rename one of the files")
    limits = {
        name: default_limit(maze) if max_episode_steps is None else max_episode_steps
        for name, maze in named.items()
    }
    return [
        Trial(maze, check_agent_name(agent), seed, steps, check_every, noise, limits[maze.name])
        for maze in named.values()
        for agent in dict.fromkeys(agents)
        for seed in seeds
    ]
