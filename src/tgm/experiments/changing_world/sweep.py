"""Three walls that move, and a fresh agent in each changed world."""

from __future__ import annotations

from dataclasses import dataclass

import gymnasium as gym

from tgm.agent import TGMAgent, TGMConfig
from tgm.envs import Maze
from tgm.experiments.evaluation import MazeWorld
from tgm.experiments.harness.agent import InPieces
from tgm.experiments.harness.study import Sweep
from tgm.experiments.harness.training import train

CHANGE_AT = 3000  # step
WATCHED = 1500  # steps after the change
CHECK_EVERY = 10  # steps


def walled(gap: int) -> Maze:
    """A maze of 5 x 5 cells with a wall across the middle that leaves a gap at column `gap`."""
    wall = "".join("." if x == gap else "#" for x in range(1, 6))
    rows = ("#######", "#....G#", "#.....#", f"#{wall}#", "#.....#", "#S....#", "#######")
    return Maze(f"gap at {gap}", rows)


CHANGES = {
    "gap moves from 1 to 5": (walled(1), walled(5)),
    "gap moves from 5 to 1": (walled(5), walled(1)),
    "gap moves from 2 to 4": (walled(2), walled(4)),
}
"""(maze before, maze after) by name."""


@dataclass(frozen=True)
class ChangeTrial:
    """One of CHANGES with one seed."""

    change: str
    seed: int

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.change}, seed {self.seed}"


@dataclass(frozen=True)
class ChangeResult:
    """Steps to be optimal again, and steps of a fresh agent in the changed world; None: never."""

    again: int | None
    fresh: int | None


@dataclass(frozen=True, kw_only=True)
class ChangingSweep(Sweep[ChangeTrial]):
    """A wall moves; how long until the agent is optimal again?"""

    seeds: int = 10
    """Number of seeds."""

    def trials(self) -> list[ChangeTrial]:
        """Every change with every seed."""
        return [ChangeTrial(change, seed) for change in CHANGES for seed in range(self.seeds)]


def run(trial: ChangeTrial) -> ChangeResult:
    """One agent that learns before and after the change, and one that begins after it."""
    before, after = CHANGES[trial.change]
    env = gym.make("tgm/Maze-v0", maze=before, changes=[(CHANGE_AT, after)])
    agent = TGMAgent(env, TGMConfig(), seed=trial.seed).learn(CHANGE_AT)
    fresh = TGMAgent(gym.make("tgm/Maze-v0", maze=after), TGMConfig(), seed=trial.seed)
    checks = list(range(CHECK_EVERY, WATCHED + 1, CHECK_EVERY))
    again_at, fresh_at = (
        train(InPieces(one), MazeWorld(after), trial.seed, checks).solved_at
        for one in (agent, fresh)
    )
    return ChangeResult(again_at, fresh_at)
