"""Each hidden world with each seed: when is the greedy policy optimal, and with how many states?"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np

from tgm.agent import TGMAgent, TGMConfig
from tgm.envs import Maze, random_maze
from tgm.envs.time_limit import PAPER_LIMIT
from tgm.errors import ConfigError
from tgm.experiments.harness.study import Sweep
from tgm.experiments.hidden_worlds.environments import (
    ColourRoom,
    CueMaze,
    Look,
    SeenMaze,
    column,
    room,
    walls,
)

CHECKS = 30  # of the greedy policy, in a trial
EPISODES = 10  # of each check
CLOSE = 1e-6  # of two returns


@dataclass(frozen=True)
class HiddenWorld:
    """A world, and what is wanted in it.

    Attributes:
        make: makes the environment, from a seed.
        best: mean return of the best policy; of a walk 1, which an exact map is worth.
        steps: that an agent learns for.
        wanted: steps or episodes within which the greedy policy is to be optimal.
        counts_episodes: whether `wanted` are episodes.
        n_states: true number of states; None where the same policy needs fewer.
        is_walk: whether somebody else walks at random, and a map is all that is wanted.
    """

    make: Callable[[int], gym.Env[Any, Any]]
    best: float
    steps: int
    wanted: int
    counts_episodes: bool = False
    n_states: int | None = None
    is_walk: bool = False


def _maze(maze: str | Maze, look: Look, wanted: int, *, is_exact: bool = True) -> HiddenWorld:
    def make(seed: int) -> gym.Env[Any, Any]:
        return SeenMaze(maze, look)

    env = SeenMaze(maze, look)
    limit = None if env.spec is None else env.spec.max_episode_steps
    best, n_cells = env.maze.best_return(limit or PAPER_LIMIT), len(env.maze.moves)
    return HiddenWorld(make, best, 2 * wanted, wanted, n_states=n_cells if is_exact else None)


def _cue(lag: int, steps: int, wanted: int) -> HiddenWorld:
    def make(seed: int) -> gym.Env[Any, Any]:
        return CueMaze(lag)

    return HiddenWorld(make, CueMaze(lag).best_return, steps, wanted, True, 2 * (lag + 2))


def _colours(width: int, height: int, n_colours: int, wanted: int) -> HiddenWorld:
    def make(seed: int) -> gym.Env[Any, Any]:
        return ColourRoom(width, height, n_colours, seed)

    return HiddenWorld(make, 1.0, wanted, wanted, n_states=width * height, is_walk=True)


WORLDS: dict[str, HiddenWorld] = {
    "walls-8": _maze("8", walls, 1000),
    "walls-20": _maze("20", walls, 1000),
    "walls-25": _maze("25", walls, 1000),
    "walls-26": _maze("26", walls, 2000),
    "room-5x4": _maze(room(5, 4), walls, 5000),
    "room-8x5": _maze(room(8, 5), walls, 5000),
    "room-10x6": _maze(room(10, 6), walls, 5000),
    "tree-32": _maze(random_maze("perfect", 4, 8, seed=0), walls, 5000),
    "tree-48": _maze(random_maze("perfect", 6, 8, seed=0), walls, 5000),
    "colours-6x8": _colours(6, 8, 4, 6000),
    "colours-10x10": _colours(10, 10, 4, 9000),
    "x-26": _maze("26", column, 3000, is_exact=False),
    "x-27": _maze("27", column, 5000, is_exact=False),
    "cue-1": _cue(1, 300, 15),  # looked at every 10 steps, about 3 episodes
    "cue-5": _cue(5, 1500, 40),
    "cue-20": _cue(20, 4000, 100),
}
"""By name: mazes, rooms and trees seen by walls, colours or x alone, and cues by their lag."""


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
        unknown = [world for world in self.worlds if world not in WORLDS]
        if unknown:
            raise ConfigError(f"--worlds: {unknown[0]!r} is none of {', '.join(WORLDS)}")
        return [HiddenTrial(world, seed) for world in self.worlds for seed in range(self.seeds)]


def run(trial: HiddenTrial) -> HiddenResult:
    """Let one agent learn, and look at its greedy policy now and then."""
    world = WORLDS[trial.world]
    env = world.make(trial.seed)
    agent, seconds = TGMAgent(env, TGMConfig(), seed=trial.seed), 0.0
    rng = np.random.default_rng(trial.seed)
    solved: tuple[int, int] | None = None
    for _ in range(CHECKS):
        began = time.process_time()
        if world.is_walk:
            walk(agent, env, world.steps // CHECKS, rng)
        else:
            agent.learn(world.steps // CHECKS)
        seconds += time.process_time() - began
        if isinstance(env, ColourRoom):
            found = float(env.is_mapped(agent.means[:, 0], agent.transition_matrix))
        else:
            found = greedy_return(agent, world.make(trial.seed), trial.seed)
        if found < world.best - CLOSE:
            solved = None
        elif solved is None:
            solved = agent.n_steps, agent.n_episodes
    at, episodes = solved or (None, None)
    per_step = 1000.0 * seconds / agent.n_steps
    return HiddenResult(at, episodes, found, agent.n_states, per_step)


def walk(agent: TGMAgent, env: gym.Env[Any, Any], n_steps: int, rng: np.random.Generator) -> None:
    """Let an agent observe a walk at random, which goes on where it was."""
    if agent.is_between_episodes:
        agent.start_episode(env.reset(seed=int(rng.integers(2**31)))[0])
    for action in rng.integers(agent.interface.n_actions, size=n_steps).tolist():
        observation, reward, terminated, truncated, _ = env.step(action)
        agent.observe(action, reward, observation, terminated, truncated)


def greedy_return(
    agent: TGMAgent, env: gym.Env[Any, Any], seed: int, n_episodes: int = EPISODES
) -> float:
    """Mean return of greedy episodes that remember what they saw."""
    total = 0.0
    for episode in range(n_episodes):
        observation, _ = env.reset(seed=10_000 * (seed + 1) + episode)
        state, is_start, is_over = None, True, False
        while not is_over:
            start = np.array([is_start])
            action, state = agent.predict(observation, state, start, deterministic=True)
            observation, reward, terminated, truncated, _ = env.step(action)
            total, is_start, is_over = total + float(reward), False, terminated or truncated
    return total / n_episodes
