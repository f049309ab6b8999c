"""The protocol of every study: train an agent, and evaluate it greedily at fixed steps."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tgm.experiments.evaluation import MazeWorld, evaluate_side_by_side
from tgm.experiments.harness.agent import Agent, OnStep

EPISODES = 20  # greedy episodes of one check
CHECK_STREAM = 99  # of the seed, for the checks

Look = Callable[[Agent], tuple[float, bool]]
"""From an agent to its mean greedy return, and whether that solves the world."""


@dataclass(frozen=True)
class TrialRun:
    """One agent that was trained with checks.

    Attributes:
        solved_at: the step from which on every check was solved; None if the last one was not.
        returns: (step, mean greedy return) of every check.
        seconds: time spent learning, checks not counted.
    """

    solved_at: int | None
    returns: tuple[tuple[int, float], ...]
    seconds: float


def train(
    agent: Agent,
    world: MazeWorld,
    seed: int,
    checks: Sequence[int],
    after_check: OnStep = lambda step: None,
    n_episodes: int = EPISODES,
) -> TrialRun:
    """Train to the last check.

    A maze is solved at a check if its greedy episodes solve it (`Evaluation.solves`), and at every
    later check too.

    Args:
        agent: learns in an environment of its own.
        world: the maze in which the greedy episodes are played.
        seed: of the noise of the greedy episodes.
        checks: rising numbers of steps.
        after_check: called after each check with its step; its time does not count as learning.
        n_episodes: greedy episodes of one check.
    """
    rng = check_rng(seed)

    def look(agent: Agent) -> tuple[float, bool]:
        evaluation = evaluate_side_by_side(agent, world, n_episodes, rng)
        return evaluation.mean_return, evaluation.solves(world.maze)

    return train_and_look(agent, look, checks, after_check)


def train_and_look(
    agent: Agent, look: Look, checks: Sequence[int], after_check: OnStep = lambda step: None
) -> TrialRun:
    """Train to the last check, with a look at the agent at each.

    Args:
        agent: learns in an environment of its own.
        look: its greedy return, and whether it solves the world; takes nothing from the agent.
        checks: rising numbers of steps.
        after_check: called after each check with its step; its time does not count as learning.
    """
    returns: list[tuple[int, float]] = []
    verdicts: list[tuple[int, bool]] = []
    evaluating = 0.0

    def check(step: int) -> None:
        nonlocal evaluating
        began = time.perf_counter()
        mean_return, is_solved = look(agent)
        returns.append((step, mean_return))
        verdicts.append((step, is_solved))
        after_check(step)
        evaluating += time.perf_counter() - began

    began = time.perf_counter()
    agent.learn(checks[-1], check, checks)
    seconds = time.perf_counter() - began - evaluating
    return TrialRun(solved_from(verdicts), tuple(returns), seconds)


def check_steps(n_steps: int) -> Iterator[int]:
    """Every 10 steps up to 1,000, every 100 after."""
    yield from range(10, min(n_steps, 1000) + 1, 10)
    yield from range(1100, n_steps + 1, 100)


def check_rng(seed: int) -> np.random.Generator:
    """The generator of the checks' noise, separate from every generator of the agent."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(CHECK_STREAM,)))


def solved_from(checks: Sequence[tuple[int, bool]]) -> int | None:
    """The first step from which on every (step, is solved) is solved; None if there is none."""
    solved_at: int | None = None
    for step, is_solved in checks:
        if not is_solved:
            solved_at = None
        elif solved_at is None:
            solved_at = step
    return solved_at
