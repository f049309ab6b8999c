"""Success and structure as the noise grows, beside the best that single observations allow.

`python -m tgm.experiments.noise` prints the table.
"""

from __future__ import annotations

import argparse
import itertools
from dataclasses import replace
from math import erf, sqrt

import gymnasium as gym
import numpy as np

from tgm.agent import TGMAgent, TGMConfig
from tgm.envs import Maze, load_maze
from tgm.experiments.evaluation import MazeWorld
from tgm.experiments.solving import check_steps, live
from tgm.experiments.structure import compare_structure
from tgm.experiments.tables import print_table, run_all

LEVELS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35)
Task = tuple[str, float, bool, int, int]


def best_possible_error(maze: Maze, noise: float) -> float:
    """Share of single observations that the best classifier gives to a wrong cell.

    It knows the cells, all equally likely, and chooses the nearest: an error in x or y happens on
    each side that has a neighbour, beyond half the distance to it.
    """
    beyond = 0.5 * (1.0 - erf(0.5 / (noise * sqrt(2.0))))
    cells = set(maze.cells)
    wrong = []
    for x, y in maze.cells:
        right_x = 1.0 - beyond * ((x - 1, y) in cells) - beyond * ((x + 1, y) in cells)
        right_y = 1.0 - beyond * ((x, y - 1) in cells) - beyond * ((x, y + 1) in cells)
        wrong.append(1.0 - right_x * right_y)
    return float(np.mean(wrong))


def run(task: Task) -> tuple[bool, bool, float, int]:
    """(solved, exact, last mean return, states) after one life."""
    name, noise, filtering, seed, n_steps = task
    maze = load_maze(name)
    env = gym.make("tgm/Maze-v0", maze=maze, noise=noise)
    agent = TGMAgent(env, replace(TGMConfig(), filtering=filtering), seed=seed)
    world = MazeWorld(maze, noise=noise)
    solved_at, returns, _ = live(agent, world, seed, list(check_steps(n_steps)))
    exact = compare_structure(agent, maze).is_exact
    return solved_at is not None, exact, returns[-1][1], agent.n_states


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--maze", default="27")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    maze = load_maze(arguments.maze)
    rows = []
    for noise, filtering in itertools.product(LEVELS, (True, False)):
        tasks = [
            (arguments.maze, noise, filtering, seed, arguments.steps)
            for seed in range(arguments.seeds)
        ]
        lives = run_all(run, tasks, arguments.jobs)
        rows.append(
            {
                "noise": noise,
                "best possible error": f"{best_possible_error(maze, noise):.2%}",
                "filtering": "yes" if filtering else "no",
                "solved at the end": f"{sum(life[0] for life in lives)} of {len(lives)}",
                "exact": f"{sum(life[1] for life in lives)} of {len(lives)}",
                "mean return": round(float(np.mean([life[2] for life in lives])), 2),
                "states, median": float(np.median([life[3] for life in lives])),
            }
        )
    print_table(rows)


if __name__ == "__main__":
    main()
