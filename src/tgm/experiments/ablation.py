"""What each part is worth: the default agent with one thing changed at a time.

`python -m tgm.experiments.ablation` prints the table, exploration strategies included.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np

from tgm.agent import TGMConfig
from tgm.envs import maze_names
from tgm.experiments.solving import Life, run
from tgm.experiments.tables import print_table, run_all

VARIANTS: dict[str, dict[str, Any]] = {
    "default (optimism)": {},
    "information gain": {"exploration": "information_gain"},
    "posterior sampling": {"exploration": "posterior_sampling"},
    "epsilon-greedy": {"exploration": "epsilon_greedy"},
    "softmax": {"exploration": "softmax"},
    "greedy": {"exploration": "greedy"},
    "no filtering": {"filtering": False},
    "no second thoughts": {"reassign_steps": False},
    "no merges and splits": {"moves": False},
    "no displacement prior": {"displacement_prior": False},
    "no forgetting": {"kept_per_state": 1_000_000},
    "bandwidth auto": {"bandwidth": "auto"},
    "half-life 1,000": {"half_life": 1000.0},
}


def cell(lives: list[Life]) -> str:
    """Solved, median step and exact, in few characters."""
    solved = [life.solved_at for life in lives if life.solved_at is not None]
    exact = sum(bool(life.exact) for life in lives)
    median = f"{np.median(solved):.0f}" if solved else "never"
    return f"{len(solved)}/{len(lives)}, {median}, {exact}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mazes", nargs="+", default=list(maze_names()))
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    print("Solved / runs, median step of solving, runs with exact structure.\n")
    rows = []
    for variant in arguments.variants:
        config = TGMConfig(**VARIANTS[variant])
        row = {"variant": variant}
        for maze in arguments.mazes:
            one = partial(run, maze, n_steps=arguments.steps, config=config)
            row[maze] = cell(run_all(one, range(arguments.seeds), arguments.jobs))
        rows.append(row)
    print_table(rows)


if __name__ == "__main__":
    main()
