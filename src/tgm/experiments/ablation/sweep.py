"""The variants of the default agent, in the six mazes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tgm.envs import maze_names
from tgm.errors import ConfigError
from tgm.experiments.harness.study import Sweep
from tgm.experiments.harness.trial import Trial
from tgm.experiments.solving.sweep import tgm_trial

VARIANTS: dict[str, dict[str, Any]] = {
    "default (optimism)": {},
    "information gain": {"exploration": "information_gain"},
    "posterior sampling": {"exploration": "posterior_sampling"},
    "epsilon-greedy": {"exploration": "epsilon_greedy"},
    "softmax": {"exploration": "softmax"},
    "greedy": {"exploration": "greedy"},
    "no filtering": {"filtering": False},
    "no reassigned steps": {"reassign_steps": False},
    "no merges and splits": {"moves": False},
    "no displacement prior": {"displacement_prior": False},
    "no forgetting": {"kept_per_state": 1_000_000},
    "bandwidth 0.5": {"bandwidth": 0.5},
    "half-life 1,000": {"half_life": 1000.0},
}
"""Settings that differ from the default, by the name of the variant."""


@dataclass(frozen=True, kw_only=True)
class AblationSweep(Sweep[Trial]):
    """The default agent with one thing changed at a time."""

    mazes: tuple[str, ...] = maze_names()
    """Mazes: names from `tgm mazes`, or maze files."""

    variants: tuple[str, ...] = tuple(VARIANTS)
    """Names of variants."""

    seeds: int = 10
    """Number of seeds."""

    steps: int = 2000
    """Training steps of each trial."""

    def trials(self) -> list[Trial]:
        """Every variant in every maze with every seed."""
        for variant in self.variants:
            if variant not in VARIANTS:
                raise ConfigError(f"unknown variant '{variant}'; there are {', '.join(VARIANTS)}")
        return [
            tgm_trial(maze, seed, self.steps, **VARIANTS[variant])
            for variant in self.variants
            for maze in self.mazes
            for seed in range(self.seeds)
        ]
