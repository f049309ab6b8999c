"""One maze at seven levels of noise, with and without filtering."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

from tgm.experiments.harness.study import Sweep
from tgm.experiments.harness.trial import Trial
from tgm.experiments.solving.sweep import tgm_trial

LEVELS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35)
"""Standard deviations of the observations, in cells."""


@dataclass(frozen=True, kw_only=True)
class NoiseSweep(Sweep[Trial]):
    """Success and structure as the noise grows."""

    maze: str = "27"
    """A maze: a name from `tgm mazes`, or a maze file."""

    seeds: int = 5
    """Number of seeds."""

    steps: int = 5000
    """Training steps of each trial."""

    def trials(self) -> list[Trial]:
        """Every level with and without filtering, with every seed."""
        return [
            replace(tgm_trial(self.maze, seed, self.steps, filtering=filtering), noise=noise)
            for noise, filtering in itertools.product(LEVELS, (True, False))
            for seed in range(self.seeds)
        ]
