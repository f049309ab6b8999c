"""Worlds of a hundred to a thousand cells, against the oracle that sees the true cells.

`python -m tgm.experiments.larger_worlds --sides 10 20 32 --seeds 10` prints the table.
"""

from __future__ import annotations

import argparse
import itertools
import math
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np

from tgm.agent import TGMAgent, TGMConfig
from tgm.envs import MazeKind, default_limit, random_maze
from tgm.envs.facts import SOLVED_WITHIN
from tgm.experiments.baselines import OracleAgent
from tgm.experiments.evaluation import MazeWorld
from tgm.experiments.solving import EPISODES, live
from tgm.experiments.structure import compare_structure
from tgm.experiments.tables import print_table, run_all

ALLOWED = 3  # times the steps of the oracle
CHECKS = 60  # greedy evaluations over that time


@dataclass(frozen=True)
class Outcome:
    """One run: steps of the oracle and of the agent, and the structure when its time was up."""

    kind: str
    side: int
    seed: int
    oracle: int
    solved_at: int | None
    exact: bool
    states: int
    wrong: int
    microseconds: float


def oracle_steps(env: gym.Env[Any, Any], best_way: int, seed: int) -> int:
    """Steps after which the oracle knows a shortest way, to the next ten."""
    agent = OracleAgent(env, seed=seed)
    while agent.way_length != best_way:
        agent.learn(10)
    return agent.n_steps


def run(task: tuple[MazeKind, int, int]) -> Outcome:
    """One random maze, its oracle, and one agent that has three times as long."""
    kind, side, seed = task
    maze = random_maze(kind, side, side, seed)
    way = len(maze.shortest_path) - 1
    env = gym.make("tgm/Maze-v0", maze=maze)
    oracle = oracle_steps(env, way, seed)
    agent = TGMAgent(env, TGMConfig(), seed=seed)
    every = max(10, ALLOWED * oracle // CHECKS)
    checks = list(range(every, ALLOWED * oracle + 1, every))
    # One episode that is longer than this by itself keeps the mean from being near the best.
    enough = way + 2 + math.ceil(SOLVED_WITHIN * EPISODES)
    world = MazeWorld(maze, limit=min(default_limit(maze), enough))
    solved_at, _, seconds = live(agent, world, seed, checks)
    report = compare_structure(agent, maze)
    return Outcome(
        kind,
        side,
        seed,
        oracle,
        solved_at,
        report.is_exact,
        agent.n_states,
        report.transition_counts["wrong"],
        1e6 * seconds / agent.n_steps,
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", nargs="+", default=["perfect", "open"])
    parser.add_argument("--sides", nargs="+", type=int, default=[10, 20, 32])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    rows = []
    for kind, side in itertools.product(arguments.kinds, arguments.sides):
        outcomes = run_all(run, [(kind, side, seed) for seed in seeds], arguments.jobs)
        for outcome in outcomes:
            print(outcome, flush=True)
        solved = [o.solved_at / o.oracle for o in outcomes if o.solved_at is not None]
        rows.append(
            {
                "world": f"{kind} {side}x{side}",
                "cells": side * side,
                "oracle, median steps": round(float(np.median([o.oracle for o in outcomes]))),
                "solved within 3x": f"{len(solved)} of {len(outcomes)}",
                "ratio, median": round(float(np.median(solved)), 2) if solved else None,
                "ratio, worst": round(max(solved), 2) if solved else None,
                "exact": f"{sum(o.exact for o in outcomes)} of {len(outcomes)}",
                "us per step": round(float(np.mean([o.microseconds for o in outcomes]))),
            }
        )
    print_table(rows)


if __name__ == "__main__":
    main()
