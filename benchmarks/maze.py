"""Random steps per second through gym.make, beside CartPole in the same run.

Run as `python benchmarks/maze.py`. The promise is 100,000 steps per second on one core. Two
figures for each: with the actions drawn beforehand, which is the environment's own cost, and
with `action_space.sample()` in the loop, which costs about as much as a step of the maze.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from statistics import median

import gymnasium as gym

import tgm  # noqa: F401  (registers the maze)

ENV_IDS = ("tgm/Maze-v0", "CartPole-v1")
N_STEPS = 200_000
N_ROUNDS = 5


def steps_per_second(env_id: str, *, sample_in_loop: bool) -> float:
    """Steps per second of one round, resets at the episodes' ends included."""
    env = gym.make(env_id)
    env.action_space.seed(0)
    sampled: Iterable[int] = (env.action_space.sample() for _ in range(N_STEPS))
    actions = sampled if sample_in_loop else [int(action) for action in sampled]
    env.reset(seed=0)
    began = time.perf_counter()
    for action in actions:
        _, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            env.reset()
    return N_STEPS / (time.perf_counter() - began)


def main() -> None:
    """Print the medians of rounds that alternate, so that both meet the same machine."""
    print(f"random steps per second through gym.make, median of {N_ROUNDS} rounds of {N_STEPS:,}")
    for sample_in_loop in (False, True):
        rounds = [
            [steps_per_second(env_id, sample_in_loop=sample_in_loop) for env_id in ENV_IDS]
            for _ in range(N_ROUNDS)
        ]
        medians = [median(column) for column in zip(*rounds, strict=True)]
        print("  sampling in the loop" if sample_in_loop else "  actions drawn beforehand")
        for env_id, figure in zip(ENV_IDS, medians, strict=True):
            print(f"    {env_id:<12} {figure:>9,.0f}   x {figure / medians[1]:.2f}")


if __name__ == "__main__":
    main()
