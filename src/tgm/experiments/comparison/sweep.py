"""The trials of a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tgm.envs import EnvSpec, Maze
from tgm.errors import ConfigError
from tgm.experiments.baselines import check_agent_name
from tgm.experiments.harness.trial import Trial


def make_trials(
    mazes: Sequence[Maze | EnvSpec],
    agents: Sequence[str],
    seeds: Iterable[int],
    steps: int,
    check_every: int | None = None,
) -> list[Trial]:
    """Every agent in every maze with every seed; a `Maze` has its default noise and time limit."""
    named: dict[str, tuple[Maze, EnvSpec]] = {}
    for given in mazes:
        spec = EnvSpec.of_maze(given) if isinstance(given, Maze) else given
        maze = spec.maze
        if maze is None:
            raise ConfigError(f"'{spec.name}' is not a maze; a trial needs one")
        if named.setdefault(maze.name, (maze, spec)) != (maze, spec):
            raise ConfigError(f"two mazes are called '{maze.name}'; rename one of the files")
    return [
        Trial(maze, check_agent_name(agent), seed, steps, check_every, **spec.options)
        for maze, spec in named.values()
        for agent in dict.fromkeys(agents)
        for seed in seeds
    ]
