"""Greedy episodes with a trained agent; one evaluator for every agent with `predict`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import gymnasium as gym
import numpy as np

from tgm.distributions import FloatArray
from tgm.envs import Maze, default_limit
from tgm.envs.decision_table import LONGEST
from tgm.envs.facts import facts_of_maze
from tgm.envs.maze import EAT, N_ACTIONS
from tgm.envs.maze_env import DEFAULT_NOISE


class Policy(Protocol):
    """Anything that acts in Stable-Baselines3's protocol."""

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[Any, Any]:
        """(action, state) for an observation or a batch of them."""


@dataclass(frozen=True)
class Evaluation:
    """Some episodes: their returns, their lengths in steps, and whether they terminated.

    `n_cut` is how many of them had no end of their own.
    """

    returns: tuple[float, ...]
    lengths: tuple[int, ...]
    terminated: tuple[bool, ...]
    n_cut: int = 0

    @property
    def mean_return(self) -> float:
        """Mean undiscounted return."""
        return float(np.mean(self.returns))

    def solves(self, maze: Maze) -> bool:
        """Whether all episodes end at the goal, in the mean within 0.5 of the best return.

        An episode that the time limit cuts off did not end at the goal: where the limit is
        shorter than the shortest way, nothing solves the maze.
        """
        return bool(facts_of_maze(maze).is_solved(self.mean_return, self.terminated))


def evaluate(policy: Policy, env: gym.Env[Any, Any], n_episodes: int, seed: int) -> Evaluation:
    """Play greedy episodes, each from a seed of its own that follows from `seed`.

    Without a time limit of the environment one is cut off after LONGEST steps.
    """
    seeds = np.random.SeedSequence(seed).spawn(n_episodes)
    parts = [evaluate_one(policy, env, one) for one in seeds]
    returns, lengths, ends, cut = zip(*parts, strict=True)
    return Evaluation(returns, lengths, ends, sum(cut))


def evaluate_one(
    policy: Policy, env: gym.Env[Any, Any], seed: np.random.SeedSequence
) -> tuple[float, int, bool, bool]:
    """Return, length, whether it ended by itself, whether it was cut off here, of one episode."""
    longest = _longest(env)
    observation, _ = env.reset(seed=int(seed.generate_state(1)[0]))
    total, length, over, state = 0.0, 0, False, None
    while not over and length < longest:
        action, state = policy.predict(observation, state, deterministic=True)
        observation, reward, terminated, truncated, _ = env.step(action)
        total += float(reward)
        length += 1
        over = terminated or truncated
    return total, length, bool(terminated), not over


def _longest(env: gym.Env[Any, Any]) -> float:
    has_limit = env.spec is not None and (env.spec.max_episode_steps or 0) > 0
    return math.inf if has_limit else LONGEST


def evaluate_copies(
    policy: Policy, copies: Sequence[gym.Env[Any, Any]], seeds: Sequence[np.random.SeedSequence]
) -> Evaluation:
    """One greedy episode in each of several copies of an environment, all in step.

    One batch of observations a time is much faster than one observation. An episode that is over
    stays in the batch until the last one is.

    Args:
        policy: takes batches of observations.
        copies: (n_episodes,) environments.
        seeds: (n_episodes,) of the episodes.
    """
    space = copies[0].observation_space
    if not isinstance(space, gym.spaces.Box | gym.spaces.Discrete):
        parts = [evaluate_one(policy, env, seed) for env, seed in zip(copies, seeds, strict=True)]
        returns, lengths, ends, cut = zip(*parts, strict=True)
        return Evaluation(returns, lengths, ends, sum(cut))
    seen = [
        env.reset(seed=int(seed.generate_state(1)[0]))[0]
        for env, seed in zip(copies, seeds, strict=True)
    ]
    n = len(copies)
    totals, steps, terminated, state = [0.0] * n, [0] * n, [False] * n, None
    playing = list(range(n))
    longest = _longest(copies[0])
    while playing and steps[playing[0]] < longest:
        actions, state = policy.predict(np.stack(seen), state, deterministic=True)
        still = []
        for index in playing:
            seen[index], reward, terminated[index], cut_off, _ = copies[index].step(actions[index])
            totals[index] += float(reward)
            steps[index] += 1
            if not (terminated[index] or cut_off):
                still.append(index)
        playing = still
    return Evaluation(tuple(totals), tuple(steps), tuple(map(bool, terminated)), len(playing))


@dataclass(frozen=True)
class MazeWorld:
    """The maze's rules as arrays, to play many episodes side by side.

    Attributes:
        maze: the maze.
        noise: standard deviation of the observations.
        limit: steps after which an episode is cut off; None: the default of the maze.
        scale, shift: observations are scale * (position + noise) + shift, for other units.
    """

    maze: Maze
    noise: float = DEFAULT_NOISE
    limit: int | None = None
    scale: float = 1.0
    shift: float = 0.0

    def observe(self, positions: FloatArray, rng: np.random.Generator) -> FloatArray:
        """(n, 2) observations of n true positions."""
        noisy = positions + self.noise * rng.standard_normal(positions.shape)
        return np.asarray(self.scale * noisy + self.shift)


def evaluate_side_by_side(
    policy: Policy, world: MazeWorld, n_episodes: int, rng: np.random.Generator
) -> Evaluation:
    """What `evaluate` does, with all episodes in step: one batch of observations a time.

    Args:
        policy: takes batches of observations.
        world: the maze and how it is seen.
        n_episodes: number of episodes.
        rng: draws the noise.
    """
    maze = world.maze
    cells = tuple(maze.moves)
    index = {cell: number for number, cell in enumerate(cells)}
    positions = np.array(cells, dtype=np.float64)
    after = np.array([[index[there] for there in maze.moves[cell]] for cell in cells])
    assert after.shape == (len(cells), N_ACTIONS)
    goal = index[maze.goal]
    here = np.full(n_episodes, index[maze.start])
    returns, lengths = np.zeros(n_episodes), np.zeros(n_episodes, dtype=int)
    playing = np.ones(n_episodes, dtype=bool)
    state = None
    for _ in range(default_limit(maze) if world.limit is None else world.limit):
        observations = world.observe(positions[here], rng)
        actions, state = policy.predict(observations, state, deterministic=True)
        eaten = (here == goal) & (actions == EAT)
        returns += np.where(playing, np.where(eaten, 1.0, -1.0), 0.0)
        lengths += playing
        here = after[here, actions]
        playing &= ~eaten
        if not playing.any():
            break
    ends = (~playing).tolist()
    return Evaluation(tuple(returns.tolist()), tuple(lengths.tolist()), tuple(ends))
