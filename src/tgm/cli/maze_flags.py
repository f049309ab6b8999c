"""The flags of a maze that `train` and `compare` share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tgm.cli.flags import optional
from tgm.cli.output import say
from tgm.envs import EnvRequest, EnvSpec, facts_of


@dataclass(frozen=True)
class MazeFlags:
    """Noise and time limit of a maze."""

    noise: Annotated[float | None, optional("CELLS", "(default: 0.15)")] = None
    """Standard deviation of the observations of a maze, in cells."""

    max_episode_steps: Annotated[int | None, optional("STEPS")] = None
    """Steps after which an episode in a maze is cut off. By default 50 in the mazes of the paper,
    in others four times the shortest way, at least 50."""

    def request(
        self, maze: str | None = None, env: str | None = None, env_args: tuple[str, ...] = ()
    ) -> EnvRequest:
        """The environment that these flags and the others of the command ask for."""
        return EnvRequest(maze, env, env_args, self.noise, self.max_episode_steps)


def warn_of_limit(spec: EnvSpec) -> None:
    """Write a warning to standard error if no episode is long enough to reach the goal.

    A maze without any way to the goal has its own warning when its file is read.
    """
    maze, why = spec.maze, facts_of(spec).why_unsolvable
    if maze is not None and maze.shortest_path and why:
        say(f"tgm: warning: maze {maze.name}: {why}")
