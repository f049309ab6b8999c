"""Never unlearned: a long life in maze 27, looked at every 100 steps.

`python -m tgm.experiments.long_run --steps 100000` prints the table.
"""

from __future__ import annotations

import argparse
import time

import gymnasium as gym

from tgm.agent import TGMAgent, TGMConfig
from tgm.envs import load_maze
from tgm.experiments.structure import compare_structure
from tgm.experiments.tables import print_table, run_all

LOOK_EVERY = 100
SETTLED = 1000  # steps after which nothing may be lost or doubled
TENTHS = 10


def run(task: tuple[str, int, int]) -> dict[str, object]:
    """One life: checks at which the map was not exact, points kept, and the cost of a step."""
    name, seed, n_steps = task
    maze = load_maze(name)
    agent = TGMAgent(gym.make("tgm/Maze-v0", maze=maze), TGMConfig(), seed=seed)
    lost = doubled = 0
    costs = []
    kept = [0]
    for _ in range(TENTHS):
        spent = 0.0
        for _ in range(n_steps // TENTHS // LOOK_EVERY):
            began = time.perf_counter()
            agent.learn(LOOK_EVERY, callback=lambda info: kept.__setitem__(0, info.n_kept))
            spent += time.perf_counter() - began
            if agent.n_steps > SETTLED:
                counts = compare_structure(agent, maze).counts
                lost += counts["fused"] + counts["missing"] > 0
                doubled += counts["duplicated"] > 0 or agent.n_states > len(maze.cells)
        costs.append(round(1e6 * spent / (n_steps / TENTHS)))
    return {
        "seed": seed,
        "steps": agent.n_steps,
        "checks with a state lost": lost,
        "checks with a state doubled": doubled,
        "points kept": kept[0],
        "us per step, first tenth": costs[0],
        "us per step, last tenth": costs[-1],
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--maze", default="27")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    tasks = [(arguments.maze, seed, arguments.steps) for seed in range(arguments.seeds)]
    print_table(run_all(run, tasks, arguments.jobs))


if __name__ == "__main__":
    main()
