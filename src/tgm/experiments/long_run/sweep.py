"""One maze, few seeds, many steps."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import gymnasium as gym

from tgm.agent import TGMAgent, TGMConfig
from tgm.envs import load_maze
from tgm.experiments.harness.study import Sweep
from tgm.experiments.structure import compare_structure

CHECK_EVERY = 100  # steps
SETTLED = 1000  # steps after which no state may be lost or doubled
TENTHS = 10


@dataclass(frozen=True)
class LongTrial:
    """One maze with one seed."""

    maze: str
    seed: int
    steps: int

    @property
    def name(self) -> str:
        """For people."""
        return f"maze {self.maze}, seed {self.seed}, {self.steps} steps"


@dataclass(frozen=True)
class LongResult:
    """What happened to the states of one agent.

    Attributes:
        steps: steps of training.
        lost: checks at which a cell had no state of its own.
        doubled: checks at which a cell had several states.
        kept: points in memory at the end.
        microseconds: learning time of one step, in each tenth of the run.
    """

    steps: int
    lost: int
    doubled: int
    kept: int
    microseconds: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class LongRunSweep(Sweep[LongTrial]):
    """A long run, evaluated every 100 steps."""

    maze: str = "27"
    """A maze: a name from `tgm mazes`, or a maze file."""

    seeds: int = 4
    """Number of seeds."""

    steps: int = 100_000
    """Training steps of each trial."""

    def trials(self) -> list[LongTrial]:
        """Every seed."""
        return [LongTrial(self.maze, seed, self.steps) for seed in range(self.seeds)]


def run(trial: LongTrial) -> LongResult:
    """One agent: checks at which the map was not exact, points kept, and the time of a step."""
    maze = load_maze(trial.maze)
    agent = TGMAgent(gym.make("tgm/Maze-v0", maze=maze), TGMConfig(), seed=trial.seed)
    lost = doubled = kept = 0
    costs = []

    def count_points(info: Any) -> None:
        nonlocal kept
        kept = info.n_kept

    for _ in range(TENTHS):
        spent = 0.0
        for _ in range(trial.steps // TENTHS // CHECK_EVERY):
            began = time.perf_counter()
            agent.learn(CHECK_EVERY, callback=count_points)
            spent += time.perf_counter() - began
            if agent.n_steps > SETTLED:
                counts = compare_structure(agent, maze).counts
                lost += counts["fused"] + counts["missing"] > 0
                doubled += counts["duplicated"] > 0 or agent.n_states > len(maze.cells)
        costs.append(round(1e6 * spent / (trial.steps / TENTHS)))
    return LongResult(agent.n_steps, lost, doubled, kept, tuple(costs))
