"""The worlds in which a changed constant is tried, and one run in one of them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np

from tgm.agent import TGMAgent, TGMConfig
from tgm.envs import load_maze, maze_names, random_maze
from tgm.envs.time_limit import PAPER_LIMIT
from tgm.experiments.changing_world.sweep import CHANGES
from tgm.experiments.evaluation import MazeWorld
from tgm.experiments.finite_worlds import worlds as finite_worlds
from tgm.experiments.finite_worlds.sweep import live
from tgm.experiments.harness.agent import InPieces
from tgm.experiments.harness.training import solved_from, train
from tgm.experiments.hidden_worlds.sweep import CLOSE, greedy_return
from tgm.experiments.hidden_worlds.sweep import WORLDS as HIDDEN_WORLDS
from tgm.experiments.larger_worlds.sweep import ALLOWED, checking_world, oracle_steps
from tgm.experiments.sensitivity.environments import (
    NoisyBits,
    NoisyFeatures,
    NoisyRewards,
    Rounded,
)
from tgm.experiments.solving.sweep import GOALS
from tgm.experiments.structure import compare_structure

TIMES_GOAL = 2.0  # steps in a maze of the paper, in goals: later is not within the goal anyway
CHECKS_IN_GOAL = 15  # checks up to the goal of such a maze
SIDE = 10  # cells along a side of the larger worlds
LARGER_CHECKS = 30  # in a larger world
EPISODES = 5  # greedy episodes of one check: they take most of the time
FINITE = {
    "lake-4x4": range(250, 4001, 250),
    "maze-distractors-8": range(20, 401, 20),
    "maze-outliers-0.05": range(100, 2001, 100),
    "maze-codes-16-noise-0.15": range(20, 401, 20),
}
"""Worlds of the study of finite worlds that use parts which mazes do not, and their checks."""
MOST_STATES = 1.2  # for each true state of such a world
FLOWING = {
    "CartPole-v1": (475.0, 1000, ()),
    "MountainCar-v0": (-110.0, 1500, ()),
    "MountainCar-v0 with noise": (-122.0, 1500, (0.0039, 0.00036)),
}
"""Worlds that flow: the greedy return that is wanted, the steps at which it is, and the deviations
of noise (1 % of the range of each feature)."""
HIDDEN = ("walls-8", "cue-5", "walls-26")  # of the study of hidden worlds
SLOW = {"MountainCar-v0 with noise": tuple(FLOWING)}
"""Worlds for constants alone that no other world of their kind reads."""
HIDDEN_CHECKS = 20  # in a hidden world
PAPER = "maze 8, the paper's preset"
CHANGED: dict[str, tuple[str, Callable[[Any], Any], Sequence[int]]] = {
    "maze 20, cells and 6 bits of noise": ("20", partial(NoisyBits, n_bits=6), range(64, 769, 64)),
    "maze 20 in tenths": ("20", Rounded, range(40, 401, 40)),
    "maze 20, noise in rewards": ("20", partial(NoisyRewards, deviation=0.5), range(40, 401, 40)),
    PAPER: ("8", lambda env: env, range(500, 3001, 500)),
}
"""Mazes that are seen or rewarded in another way: the maze, what changes it, and the checks."""
CHANGE_AT = 1000  # step at which the wall moves
CHANGE_GOAL = 150  # steps after which the way around it is to be known


@dataclass(frozen=True)
class Measured:
    """One run with a changed constant.

    Attributes:
        world, seed: where.
        solved_at: the step from which on every check was solved; None: never.
        is_good: whether that is within the goal, and the structure is exact (where a wall moves or
            the world flows: whether it is within the goal).
        states_per_cell: number of states over number of cells; None in a world that flows.
        digest: of the returns at all checks and of the learned map.
        error: what went wrong, in one line; empty if nothing did.
    """

    world: str
    seed: int
    solved_at: int | None
    is_good: bool
    states_per_cell: float | None
    digest: str
    error: str = ""


def measure(world: str, seed: int) -> Measured:
    """One run of the default agent; an exception becomes part of the measures."""
    try:
        return WORLDS[world](world, seed)
    except Exception as error:
        text = " ".join(f"{type(error).__name__}: {error}".split())
        return Measured(world, seed, None, False, 0.0, "", text[:200])


def _maze_of_the_paper(world: str, seed: int) -> Measured:
    maze, goal = load_maze(world), GOALS[world]
    agent = TGMAgent(gym.make("tgm/Maze-v0", maze=maze), TGMConfig(), seed=seed)
    every = math.ceil(goal / CHECKS_IN_GOAL)
    checks = range(every, math.ceil(TIMES_GOAL * goal) + 1, every)
    return _measure(world, seed, agent, MazeWorld(maze), checks, goal)


def _finite(world: str, seed: int) -> Measured:
    about = replace(finite_worlds.WORLDS[world], checks=tuple(FINITE[world]), episodes=EPISODES)
    result = live(about, about.make(seed), seed)
    states_per_cell = result.checks[-1].n_states / result.n_true
    returns = [(check.step, check.greedy_return, check.n_states) for check in result.checks]
    is_good = result.solved_at is not None and states_per_cell <= MOST_STATES
    digest = hashlib.sha256(repr(returns).encode()).hexdigest()[:16]
    return Measured(world, seed, result.solved_at, is_good, states_per_cell, digest)


def _flowing(world: str, seed: int) -> Measured:
    wanted, n_steps, deviations = FLOWING[world]

    def make() -> gym.Env[Any, Any]:
        env = gym.make(world.split()[0])
        return NoisyFeatures(env, deviations) if deviations else env

    agent = TGMAgent(make(), TGMConfig(), seed=seed)
    result = _greedy(world, seed, agent, make, (n_steps,), wanted)
    return replace(result, states_per_cell=None)


def _hidden(world: str, seed: int) -> Measured:
    about = HIDDEN_WORLDS[world]
    agent = TGMAgent(about.make(seed), TGMConfig(), seed=seed)
    every = about.wanted // HIDDEN_CHECKS if not about.counts_episodes else 20
    checks = range(every, HIDDEN_CHECKS * every + 1, every)
    result = _greedy(world, seed, agent, lambda: about.make(seed), checks, about.best - CLOSE)
    n_true = about.n_states or agent.n_states
    is_good = result.is_good and agent.n_states == n_true
    return replace(result, is_good=is_good, states_per_cell=agent.n_states / n_true)


def _changed_maze(world: str, seed: int) -> Measured:
    name, change, checks = CHANGED[world]
    maze = load_maze(name)

    def make() -> Any:
        return change(gym.make("tgm/Maze-v0", maze=maze))

    def make_check() -> gym.Env[Any, Any]:
        env = make()
        return env.env if isinstance(env, NoisyRewards) else env

    config = TGMConfig.paper() if world == PAPER else TGMConfig()
    agent = TGMAgent(make(), config, seed=seed)
    best = maze.best_return(PAPER_LIMIT) - CLOSE
    result = _greedy(world, seed, agent, make_check, checks, best)
    return replace(result, states_per_cell=agent.n_states / len(maze.moves))


def _greedy(
    world: str,
    seed: int,
    agent: TGMAgent,
    make: Callable[[], gym.Env[Any, Any]],
    checks: Sequence[int],
    wanted: float,
) -> Measured:
    """A run that is good if its last check is: greedy episodes that remember what they saw."""
    returns = []
    for step in checks:
        agent.learn(step - agent.n_steps)
        returns.append((step, greedy_return(agent, make(), seed, EPISODES)))
    solved_at = solved_from([(step, found >= wanted) for step, found in returns])
    return Measured(world, seed, solved_at, solved_at is not None, None, _digest(agent, returns))


def _larger(world: str, seed: int) -> Measured:
    kind: Any = world.split()[0]
    maze = random_maze(kind, SIDE, SIDE, seed)
    env = gym.make("tgm/Maze-v0", maze=maze)
    allowed = ALLOWED * oracle_steps(env, len(maze.shortest_path) - 1, seed)
    agent = TGMAgent(env, TGMConfig(), seed=seed)
    every = max(10, allowed // LARGER_CHECKS)
    checks = range(every, allowed + 1, every)
    return _measure(world, seed, agent, checking_world(maze), checks, allowed)


def _moved_wall(world: str, seed: int) -> Measured:
    before, after = CHANGES["gap moves from 1 to 5"]
    env = gym.make("tgm/Maze-v0", maze=before, changes=[(CHANGE_AT, after)])
    agent = TGMAgent(env, TGMConfig(), seed=seed).learn(CHANGE_AT)
    checks = range(10, 3 * CHANGE_GOAL + 1, 10)
    # The state of the gap that was closed stays: a map of both mazes is not exact for one.
    return _measure(world, seed, agent, MazeWorld(after), checks, CHANGE_GOAL, needs_exact=False)


def _measure(
    world: str,
    seed: int,
    agent: TGMAgent,
    maze_world: MazeWorld,
    checks: Sequence[int],
    goal: float,
    *,
    needs_exact: bool = True,
) -> Measured:
    run = train(InPieces(agent), maze_world, seed, checks, n_episodes=EPISODES)
    maze = maze_world.maze
    is_in_time = run.solved_at is not None and run.solved_at <= goal
    is_exact = not needs_exact or compare_structure(agent, maze).is_exact
    return Measured(
        world,
        seed,
        run.solved_at,
        is_in_time and is_exact,
        agent.n_states / len(maze.cells),
        _digest(agent, run.returns),
    )


def _digest(agent: TGMAgent, returns: Sequence[tuple[int, float]]) -> str:
    digest = hashlib.sha256(repr(returns).encode())
    for array in (agent.means, agent.covariances, agent.transition_counts):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]


WORLDS: dict[str, Callable[[str, int], Measured]] = {
    **dict.fromkeys(maze_names(), _maze_of_the_paper),
    **{f"{kind} {SIDE}x{SIDE}": _larger for kind in ("perfect", "open")},
    "a wall that moves": _moved_wall,
    **dict.fromkeys(FINITE, _finite),
    **dict.fromkeys(HIDDEN, _hidden),
    **dict.fromkeys(CHANGED, _changed_maze),
    **dict.fromkeys(FLOWING, _flowing),
}
"""The six mazes, two larger worlds, and some that use parts which these do not."""
