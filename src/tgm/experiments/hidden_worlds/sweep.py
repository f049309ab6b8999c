"""Each hidden world with each seed: when is the greedy policy optimal, and with how many states?"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np

from tgm.agent import TGMAgent, TGMConfig
from tgm.experiments.harness.study import Sweep
from tgm.experiments.hidden_worlds.environments import CueMaze, SeenMaze, column, room, walls

CHECKS = 40  # of the greedy policy, in a trial
EPISODES = 10  # of each check
CLOSE = 1e-6  # of two returns


@dataclass(frozen=True)
class HiddenWorld:
    """A world, and what is wanted in it.

    Attributes:
        make: makes the environment.
        best: mean return of the best policy.
        steps: that an agent learns for.
        wanted: steps or episodes within which the greedy policy is to be optimal.
        counts_episodes: whether `wanted` are episodes.
        n_states: true number of states; None where the same policy needs fewer.
    """

    make: Callable[[], gym.Env[Any, Any]]
    best: float
    steps: int
    wanted: int
    counts_episodes: bool = False
    n_states: int | None = None


def _maze(name: str, look: Any, wanted: int, *, is_exact: bool = True) -> HiddenWorld:
    made = room(*map(int, name.split()[-1].split("x"))) if "x" in name else name

    def make() -> gym.Env[Any, Any]:
        return SeenMaze(made, look)

    env = SeenMaze(made, look)
    limit = env.spec.max_episode_steps if env.spec is not None else None
    n_cells = len(env.maze.moves)
    best = env.maze.best_return(limit or 50)
    return HiddenWorld(make, best, 2 * wanted, wanted, n_states=n_cells if is_exact else None)


def _cue(lag: int, steps: int, wanted: int) -> HiddenWorld:
    def make() -> gym.Env[Any, Any]:
        return CueMaze(lag)

    best = CueMaze(lag).best_return
    return HiddenWorld(make, best, steps, wanted, True, 2 * (lag + 2))


WORLDS: dict[str, HiddenWorld] = {
    **{f"maze {name} by walls": _maze(name, walls, 1000) for name in ("8", "20", "25")},
    "maze 26 by walls": _maze("26", walls, 2000),
    "room of 5 x 4 by walls": _maze("room 5x4", walls, 3000),
    "maze 26 by x": _maze("26", column, 3000, is_exact=False),
    "maze 27 by x": _maze("27", column, 5000, is_exact=False),
    "cue, lag 1": _cue(1, 600, 15),
    "cue, lag 5": _cue(5, 1500, 40),
    "cue, lag 20": _cue(20, 4000, 100),
}
"""By name."""


@dataclass(frozen=True)
class HiddenTrial:
    """One of WORLDS with one seed."""

    world: str
    seed: int

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.world}, seed {self.seed}"


@dataclass(frozen=True)
class HiddenResult:
    """What an agent came to.

    Attributes:
        solved_at: steps from which on every check was optimal; None if the last one was not.
        episodes: the same in episodes.
        final_return: mean greedy return at the end.
        n_states: at the end.
        milliseconds: of learning, for each step.
    """

    solved_at: int | None
    episodes: int | None
    final_return: float
    n_states: int
    milliseconds: float


@dataclass(frozen=True, kw_only=True)
class HiddenSweep(Sweep[HiddenTrial]):
    """Places that look alike: when is the greedy policy optimal?"""

    seeds: int = 3
    """Number of seeds."""

    worlds: tuple[str, ...] = tuple(WORLDS)
    """Names of the worlds."""

    def trials(self) -> list[HiddenTrial]:
        """Every world with every seed."""
        return [HiddenTrial(world, seed) for world in self.worlds for seed in range(self.seeds)]


def run(trial: HiddenTrial) -> HiddenResult:
    """Let one agent learn, and look at its greedy policy now and then."""
    world = WORLDS[trial.world]
    agent, seconds = TGMAgent(world.make(), TGMConfig(), seed=trial.seed), 0.0
    solved: tuple[int, int] | None = None
    for _ in range(CHECKS):
        began = time.process_time()
        agent.learn(world.steps // CHECKS)
        seconds += time.process_time() - began
        found = greedy_return(agent, world.make(), trial.seed)
        if found < world.best - CLOSE:
            solved = None
        elif solved is None:
            solved = agent.n_steps, agent.n_episodes
    at, episodes = solved or (None, None)
    per_step = 1000.0 * seconds / agent.n_steps
    return HiddenResult(at, episodes, found, agent.n_states, per_step)


def greedy_return(agent: TGMAgent, env: gym.Env[Any, Any], seed: int) -> float:
    """Mean return of greedy episodes that remember what they saw."""
    total = 0.0
    for episode in range(EPISODES):
        observation, _ = env.reset(seed=10_000 * (seed + 1) + episode)
        state, is_start, is_over = None, True, False
        while not is_over:
            start = np.array([is_start])
            action, state = agent.predict(observation, state, start, deterministic=True)
            observation, reward, terminated, truncated, _ = env.step(action)
            total, is_start, is_over = total + float(reward), False, terminated or truncated
    return total / EPISODES
