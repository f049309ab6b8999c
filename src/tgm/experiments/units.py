"""The same world in metres, millimetres and far away: with bandwidth="auto" nothing changes.

`python -m tgm.experiments.units` prints the table.
"""

from __future__ import annotations

import argparse
from typing import Any

import gymnasium as gym
import numpy as np

from tgm.agent import TGMAgent, TGMConfig
from tgm.envs import load_maze, maze_names
from tgm.experiments.evaluation import MazeWorld
from tgm.experiments.solving import GOALS, check_steps, live
from tgm.experiments.structure import compare_structure
from tgm.experiments.tables import print_table, run_all

UNITS = {
    "as it is": (1.0, 0.0),
    "x 1,000": (1e3, 0.0),
    "x 0.001": (1e-3, 0.0),
    "+ 10,000": (1.0, 1e4),
}
Task = tuple[str, str, int, int]


class InOtherUnits:
    """The learned map of an agent, translated back into cells."""

    def __init__(self, agent: TGMAgent, scale: float, shift: float) -> None:
        self.n_states = agent.n_states
        self.means = (agent.means - shift) / scale
        self.covariances = agent.covariances / scale**2
        self.transition_matrix = agent.transition_matrix
        self.transition_counts = agent.transition_counts


def environment(name: str, scale: float, shift: float) -> gym.Env[Any, Any]:
    """The maze with observations times `scale` plus `shift`."""
    env = gym.make("tgm/Maze-v0", maze=name)
    box = env.observation_space
    assert isinstance(box, gym.spaces.Box)
    other = gym.spaces.Box(scale * box.low + shift, scale * box.high + shift, dtype=np.float64)
    return gym.wrappers.TransformObservation(env, lambda x: scale * x + shift, other)


def run(task: Task) -> tuple[int | None, bool, float]:
    """(step of solving, exact, seconds) of one life in other units."""
    name, unit, seed, n_steps = task
    scale, shift = UNITS[unit]
    maze = load_maze(name)
    agent = TGMAgent(environment(name, scale, shift), TGMConfig(bandwidth="auto"), seed=seed)
    world = MazeWorld(maze, scale=scale, shift=shift)
    solved_at, _, seconds = live(agent, world, seed, list(check_steps(n_steps)))
    exact = compare_structure(InOtherUnits(agent, scale, shift), maze).is_exact
    return solved_at, exact, seconds


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mazes", nargs="+", default=list(maze_names()))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    rows = []
    for name in arguments.mazes:
        for unit in UNITS:
            tasks = [(name, unit, seed, arguments.steps) for seed in range(arguments.seeds)]
            lives = run_all(run, tasks, arguments.jobs)
            solved = [life[0] for life in lives if life[0] is not None]
            rows.append(
                {
                    "maze": name,
                    "observations": unit,
                    "solved": f"{len(solved)} of {len(lives)}",
                    "median": float(np.median(solved)) if solved else None,
                    "worst": max(solved) if len(solved) == len(lives) else None,
                    "1.5 x the goal": round(1.5 * GOALS[name]) if name in GOALS else None,
                    "exact": f"{sum(life[1] for life in lives)} of {len(lives)}",
                    "us per step": round(
                        1e6 * sum(x[2] for x in lives) / len(lives) / arguments.steps
                    ),
                }
            )
    print_table(rows)


if __name__ == "__main__":
    main()
