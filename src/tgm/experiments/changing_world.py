"""A wall moves at step 3,000: how long until the agent is optimal again?

`python -m tgm.experiments.changing_world` prints the table.
"""

from __future__ import annotations

import argparse
from typing import Any

import gymnasium as gym
import numpy as np

from tgm.agent import TGMAgent, TGMConfig
from tgm.envs import Maze
from tgm.experiments.evaluation import MazeWorld
from tgm.experiments.solving import live
from tgm.experiments.tables import print_table, run_all

CHANGE_AT = 3000
WATCHED = 1500  # steps after the change


def walled(gap: int) -> Maze:
    """A room of 5 x 5 cells with a wall across the middle that leaves a gap at column `gap`."""
    wall = "".join("." if x == gap else "#" for x in range(1, 6))
    rows = ("#######", "#....G#", "#.....#", f"#{wall}#", "#.....#", "#S....#", "#######")
    return Maze(f"gap at {gap}", rows)


CHANGES = {
    "gap moves from 1 to 5": (walled(1), walled(5)),
    "gap moves from 5 to 1": (walled(5), walled(1)),
    "gap moves from 2 to 4": (walled(2), walled(4)),
}


def run(task: tuple[str, int]) -> tuple[int | None, int | None]:
    """(steps to be optimal again, steps of a fresh agent in the changed world)."""
    name, seed = task
    before, after = CHANGES[name]
    checks = list(range(10, WATCHED + 1, 10))
    env = gym.make("tgm/Maze-v0", maze=before, changes=[(CHANGE_AT, after)])
    agent = TGMAgent(env, TGMConfig(), seed=seed).learn(CHANGE_AT)
    again, _, _ = live(agent, MazeWorld(after), seed, checks)
    fresh = TGMAgent(gym.make("tgm/Maze-v0", maze=after), TGMConfig(), seed=seed)
    return again, live(fresh, MazeWorld(after), seed, checks)[0]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for name in CHANGES:
        outcomes = run_all(run, [(name, s) for s in range(arguments.seeds)], arguments.jobs)
        again = [a for a, _ in outcomes if a is not None]
        fresh = [f for _, f in outcomes if f is not None]
        rows.append(
            {
                "change at step 3,000": name,
                "optimal again": f"{len(again)} of {len(outcomes)}",
                "steps, median": float(np.median(again)) if again else None,
                "steps, worst": max(again, default=None),
                "fresh agent, median": float(np.median(fresh)) if fresh else None,
                "fresh agent, worst": max(fresh, default=None),
            }
        )
    print_table(rows)


if __name__ == "__main__":
    main()
