"""How soon a maze is solved for good: the table of the default preset.

`python -m tgm.experiments.solving --seeds 50` prints it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, Protocol

import gymnasium as gym
import numpy as np

from tgm.agent import TGMAgent, TGMConfig
from tgm.envs import Maze, load_maze, maze_names
from tgm.experiments.evaluation import MazeWorld, Policy, evaluate_side_by_side
from tgm.experiments.structure import compare_structure
from tgm.experiments.tables import print_table, run_all

EPISODES = 20
GOALS = {"8": 109, "10": 390, "20": 102, "25": 92, "26": 144, "27": 197}
"""Steps by which all seeds should have solved each maze of the paper."""


class Agent(Policy, Protocol):
    """An agent that learns in pieces."""

    def learn(self, n_steps: int) -> Any:
        """Live for so many more steps."""


@dataclass(frozen=True)
class Life:
    """One run with its checks.

    Attributes:
        maze, seed, steps: what was run.
        solved_at: the step from which on every check was solved; None if the last one was not.
        exact: whether the structure is exact at the end; None for agents without one.
        states: number of states at the end.
        seconds: time spent learning, checks not counted.
    """

    maze: str
    seed: int
    steps: int
    solved_at: int | None
    exact: bool | None
    states: int | None
    seconds: float
    checks: tuple[tuple[int, float], ...] = field(repr=False, default=())


def check_steps(n_steps: int) -> Iterator[int]:
    """Every 10 steps up to 1,000, every 100 after."""
    yield from range(10, min(n_steps, 1000) + 1, 10)
    yield from range(1100, n_steps + 1, 100)


def live(
    learner: Agent, world: MazeWorld, seed: int, checks: Sequence[int]
) -> tuple[int | None, list[tuple[int, float]], float]:
    """Learn to the last check; returns the step of solving, the checks, and the seconds.

    A maze is solved at a check if 20 greedy episodes solve it (`Evaluation.solves`), and at every
    later check too.
    """
    rng = check_rng(seed)
    returns: list[tuple[int, float]] = []
    verdicts: list[tuple[int, bool]] = []
    seconds, done = 0.0, 0
    for step in checks:
        began = time.perf_counter()
        learner.learn(step - done)
        seconds += time.perf_counter() - began
        done = step
        evaluation = evaluate_side_by_side(learner, world, EPISODES, rng)
        returns.append((step, evaluation.mean_return))
        verdicts.append((step, evaluation.solves(world.maze)))
    return solved_from(verdicts), returns, seconds


def check_rng(seed: int) -> np.random.Generator:
    """The generator of the checks' noise, apart from all that the agent draws."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(99,)))


def solved_from(checks: Sequence[tuple[int, bool]]) -> int | None:
    """The first step from which on every (step, whether it is solved) is; None: there is none."""
    solved_at: int | None = None
    for step, is_solved in checks:
        if not is_solved:
            solved_at = None
        elif solved_at is None:
            solved_at = step
    return solved_at


def run(name: str, seed: int, n_steps: int, config: TGMConfig) -> Life:
    """One life of a TGM agent in a maze of the paper, or in a maze file."""
    return run_in(load_maze(name), seed, n_steps, config)


def run_in(maze: Maze, seed: int, n_steps: int, config: TGMConfig) -> Life:
    """One life of a TGM agent in a maze."""
    agent = TGMAgent(gym.make("tgm/Maze-v0", maze=maze), config, seed=seed)
    checks = list(check_steps(n_steps))
    solved_at, returns, seconds = live(agent, MazeWorld(maze), seed, checks)
    exact = compare_structure(agent, maze).is_exact
    return Life(maze.name, seed, n_steps, solved_at, exact, agent.n_states, seconds, tuple(returns))


def summarise(lives: Sequence[Life]) -> dict[str, Any]:
    """The row of one maze."""
    seconds = sum(life.seconds for life in lives)
    solved = sorted(life.solved_at for life in lives if life.solved_at is not None)
    return {
        "maze": lives[0].maze,
        "runs": len(lives),
        "solved": len(solved),
        "median": float(np.median(solved)) if solved else None,
        "worst": solved[-1] if len(solved) == len(lives) else None,
        "goal": GOALS.get(lives[0].maze),
        "exact": sum(bool(life.exact) for life in lives),
        "steps_per_second": round(sum(life.steps for life in lives) / seconds),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mazes", nargs="+", default=list(maze_names()))
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--preset", default="default")
    parser.add_argument("--bandwidth", default=None, help="a number, or auto")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--lives", action="store_true", help="print every run as a JSON line")
    arguments = parser.parse_args()
    config = TGMConfig.preset(arguments.preset)
    if arguments.bandwidth is not None:
        bandwidth = arguments.bandwidth
        config = replace(config, bandwidth="auto" if bandwidth == "auto" else float(bandwidth))
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    rows = []
    for maze in arguments.mazes:
        one = partial(run, maze, n_steps=arguments.steps, config=config)
        lives = run_all(one, seeds, arguments.jobs)
        if arguments.lives:
            for life in lives:
                print(json.dumps({k: v for k, v in asdict(life).items() if k != "checks"}))
        rows.append(summarise(lives))
    print_table(rows)


if __name__ == "__main__":
    main()
