"""The six mazes in four units."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tgm.envs import maze_names
from tgm.experiments.harness.study import Sweep
from tgm.experiments.harness.trial import Trial
from tgm.experiments.solving.sweep import tgm_trial

UNITS = {
    "as it is": (1.0, 0.0),
    "x 1,000": (1e3, 0.0),
    "x 0.001": (1e-3, 0.0),
    "+ 10,000": (1.0, 1e4),
}
"""(scale, shift) of the observations by name."""


@dataclass(frozen=True, kw_only=True)
class UnitsSweep(Sweep[Trial]):
    """The same mazes in other units."""

    mazes: tuple[str, ...] = maze_names()
    """Mazes: names from `tgm mazes`, or maze files."""

    seeds: int = 10
    """Number of seeds."""

    steps: int = 2000
    """Training steps of each trial."""

    def trials(self) -> list[Trial]:
        """Every maze in every unit with every seed."""
        return [
            replace(tgm_trial(maze, seed, self.steps), scale=scale, shift=shift)
            for maze in self.mazes
            for scale, shift in UNITS.values()
            for seed in range(self.seeds)
        ]
