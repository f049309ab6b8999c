"""Random mazes; the agent has three times as many steps as the oracle needs."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import gymnasium as gym

from tgm.agent import TGMAgent, TGMConfig
from tgm.envs import Maze, MazeKind, default_limit, random_maze
from tgm.envs.facts import SOLVED_WITHIN
from tgm.experiments.baselines import OracleAgent
from tgm.experiments.evaluation import MazeWorld
from tgm.experiments.harness.agent import InPieces
from tgm.experiments.harness.study import Sweep
from tgm.experiments.harness.training import EPISODES, train
from tgm.experiments.structure import compare_structure

ALLOWED = 3  # times the steps of the oracle
CHECKS = 60  # greedy evaluations over that time


@dataclass(frozen=True)
class WorldTrial:
    """One random maze of `side` x `side` cells; the agent has the seed of the maze."""

    kind: MazeKind
    side: int
    seed: int

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.world}, seed {self.seed}"

    @property
    def world(self) -> str:
        """Kind and size."""
        return f"{self.kind} {self.side}x{self.side}"

    def maze(self) -> Maze:
        """The maze itself."""
        return random_maze(self.kind, self.side, self.side, self.seed)


@dataclass(frozen=True)
class WorldResult:
    """Steps of the oracle and of the agent, and the structure when its time was up.

    Attributes:
        oracle: steps after which the oracle knows a shortest way.
        solved_at: the step from which on every check of the agent was solved; None: never.
        exact: whether the structure is exact at the end.
        states: number of states at the end.
        wrong: number of tried actions whose most likely successor is wrong.
        microseconds: learning time of one step.
    """

    oracle: int
    solved_at: int | None
    exact: bool
    states: int
    wrong: int
    microseconds: float


@dataclass(frozen=True, kw_only=True)
class LargerWorldsSweep(Sweep[WorldTrial]):
    """Worlds of a hundred to a thousand cells."""

    kinds: tuple[MazeKind, ...] = ("perfect", "open")
    """Kinds of random mazes."""

    sides: tuple[int, ...] = (10, 20, 32)
    """Cells along a side."""

    seeds: int = 10
    """Number of seeds."""

    first_seed: int = 0
    """The first of them."""

    def trials(self) -> list[WorldTrial]:
        """Every kind in every size with every seed."""
        return [
            WorldTrial(kind, side, seed)
            for kind, side in itertools.product(self.kinds, self.sides)
            for seed in range(self.first_seed, self.first_seed + self.seeds)
        ]


def oracle_steps(env: gym.Env[Any, Any], best_way: int, seed: int) -> int:
    """Steps after which the oracle knows a shortest way, to the next ten."""
    agent = OracleAgent(env, seed=seed)
    while agent.way_length != best_way:
        agent.learn(10)
    return agent.n_steps


def checking_world(maze: Maze) -> MazeWorld:
    """The maze for greedy episodes, with the time limit at which an episode decides the check.

    One episode that is longer than this by itself keeps the mean from being near the best.
    """
    enough = len(maze.shortest_path) + 1 + math.ceil(SOLVED_WITHIN * EPISODES)
    return MazeWorld(maze, limit=min(default_limit(maze), enough))


def run(trial: WorldTrial) -> WorldResult:
    """One random maze, its oracle, and one agent that has three times as long."""
    maze = trial.maze()
    env = gym.make("tgm/Maze-v0", maze=maze)
    oracle = oracle_steps(env, len(maze.shortest_path) - 1, trial.seed)
    agent = TGMAgent(env, TGMConfig(), seed=trial.seed)
    every = max(10, ALLOWED * oracle // CHECKS)
    checks = list(range(every, ALLOWED * oracle + 1, every))
    trained = train(InPieces(agent), checking_world(maze), trial.seed, checks)
    structure = compare_structure(agent, maze)
    return WorldResult(
        oracle,
        trained.solved_at,
        structure.is_exact,
        agent.n_states,
        structure.transition_counts["wrong"],
        1e6 * trained.seconds / agent.n_steps,
    )
