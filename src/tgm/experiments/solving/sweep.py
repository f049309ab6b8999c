"""Six mazes, many seeds, one preset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from tgm.envs import default_limit, load_maze, maze_names
from tgm.experiments.baselines.catalogue import TGM_PRESETS
from tgm.experiments.harness.study import Sweep, optional
from tgm.experiments.harness.trial import Trial

GOALS = {"8": 109, "10": 390, "20": 102, "25": 92, "26": 144, "27": 197}
"""Steps by which all seeds should have solved each maze of the paper."""

AGENT_OF_PRESET = {preset: agent for agent, preset in TGM_PRESETS.items()}


def tgm_trial(name: str, seed: int, steps: int, *, agent: str = "tgm", **settings: Any) -> Trial:
    """A trial of a TGM agent in a maze of the paper, or in a maze file."""
    maze = load_maze(name)
    return Trial(
        maze,
        agent,
        seed,
        steps,
        max_episode_steps=default_limit(maze),
        settings=tuple(sorted(settings.items())),
    )


@dataclass(frozen=True, kw_only=True)
class SolvingSweep(Sweep[Trial]):
    """How soon each maze is solved for good."""

    mazes: tuple[str, ...] = maze_names()
    """Mazes: names from `tgm mazes`, or maze files."""

    seeds: int = 50
    """Number of seeds."""

    first_seed: int = 0
    """The first of them."""

    steps: int = 5000
    """Training steps of each trial."""

    preset: Literal["default", "paper"] = "default"
    """Preset of the agent."""

    bandwidth: Annotated[float | Literal["auto"] | None, optional("NUMBER|auto")] = None
    """Bandwidth of the agent; that of the preset by default."""

    def trials(self) -> list[Trial]:
        """Every maze with every seed."""
        settings = {} if self.bandwidth is None else {"bandwidth": self.bandwidth}
        agent = AGENT_OF_PRESET[self.preset]
        return [
            tgm_trial(maze, seed, self.steps, agent=agent, **settings)
            for maze in self.mazes
            for seed in range(self.first_seed, self.first_seed + self.seeds)
        ]
