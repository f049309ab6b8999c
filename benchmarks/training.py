"""Training steps per second on maze 27 beside DQN of Stable-Baselines3, and how the cost grows.

All in one run on one core, in processor time, so that the ratios hold on any machine. What happens
once in a process (imports, first calls of NumPy and torch) is done before by a short life of each
agent, and does not count. DQN and tgm take turns, so that both meet the same machine. Seeds differ:
where the first observations of a life overlap, whole learners compete for a scale (see
docs/default-agent.md). So the median of the seeds is printed, with the fastest and the slowest.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

import gymnasium as gym

import tgm
from tgm.envs import random_maze

STEPS = 5000
WARM_UP = 600  # steps in maze 8 before anything is measured: the scale of tgm is settled by then
MANY, FEW, LONG = 15, 5, 3  # seeds: of the default agent, of DQN and other settings, of long lives
LATE = (5000, 45_000)  # steps after which 5,000 steps are measured
GROWTH = 8000  # steps of the comparison of 25 and 400 cells

Speeds = list[float]  # steps per second, one for each seed


def tgm_speed(maze, limit: int, n_steps: int, seed: int, settle: int = 0, **settings) -> float:
    """Steps per second of a TGM agent, after `settle` steps that do not count."""
    env = gym.make("tgm/Maze-v0", maze=maze, max_episode_steps=limit)
    config = tgm.TGMConfig.preset(settings.pop("preset", "default"), **settings)
    agent = tgm.TGMAgent(env, config, seed=seed)
    if settle:
        agent.learn(settle)
    return _speed(agent, n_steps)


def dqn_speed(n_steps: int, seed: int, maze: str = "27") -> float:
    """Steps per second of DQN with the paper's settings."""
    import torch
    from stable_baselines3 import DQN

    torch.set_num_threads(1)
    env = gym.make("tgm/Maze-v0", maze=maze)
    model = DQN(
        "MlpPolicy",
        env,
        learning_rate=0.01,
        learning_starts=0,
        target_update_interval=100,
        exploration_fraction=0.7,
        seed=seed,
    )
    return _speed(model, n_steps)


def _speed(agent, n_steps: int) -> float:
    began = time.process_time()
    agent.learn(n_steps)
    return n_steps / (time.process_time() - began)


def in_turns(kinds: dict[str, tuple[int, Callable[[int], float]]]) -> dict[str, Speeds]:
    """Speeds of each kind of agent: name -> (number of seeds, seed -> speed)."""
    speeds: dict[str, Speeds] = {name: [] for name in kinds}
    for seed in range(max(n_seeds for n_seeds, _ in kinds.values())):
        for name, (n_seeds, speed) in kinds.items():
            if seed < n_seeds:
                speeds[name].append(speed(seed))
    return speeds


def beside_dqn() -> None:
    """Print the speeds over the first steps, as multiples of DQN."""
    speeds = in_turns(
        {
            "DQN": (FEW, lambda seed: dqn_speed(STEPS, seed)),
            "tgm, default": (MANY, lambda seed: tgm_speed("27", 50, STEPS, seed)),
            "tgm, bandwidth 0.5": (
                FEW,
                lambda seed: tgm_speed("27", 50, STEPS, seed, bandwidth=0.5),
            ),
            "tgm, paper preset": (
                FEW,
                lambda seed: tgm_speed("27", 50, STEPS, seed, preset="paper"),
            ),
        }
    )
    dqn = statistics.median(speeds["DQN"])
    print(f"the first {STEPS:,} steps of maze 27, steps per second (median, slowest to fastest):")
    for name, each in speeds.items():
        middle, low, high = statistics.median(each), min(each), max(each)
        print(
            f"  {name}: {middle:,.0f} ({low:,.0f} to {high:,.0f}; {len(each)} seeds), "
            f"{middle / dqn:.1f} times DQN ({low / dqn:.1f} to {high / dqn:.1f})"
        )


def late_steps() -> None:
    """Print what a step costs later in a life."""
    for settle in LATE:
        each = [tgm_speed("27", 50, 5000, seed, settle) for seed in range(LONG)]
        print(f"steps {settle:,} to {settle + 5000:,}: {_cost(each)}")


def larger_world() -> None:
    """Print what a step costs in a small world and in a large one."""
    small, large = random_maze("open", 5, 5, 0), random_maze("open", 20, 20, 0)
    few = [tgm_speed(small, 36, GROWTH, seed) for seed in range(LONG)]
    many = [tgm_speed(large, 156, GROWTH, seed) for seed in range(LONG)]
    ratio = statistics.median(few) / statistics.median(many)
    print(f"25 cells: {_cost(few)}; 400 cells: {_cost(many)}")
    print(f"  {ratio:.1f} times as much (first {GROWTH:,} steps of each)")


def _cost(speeds: Sequence[float]) -> str:
    """Microseconds of a step, from speeds."""
    costs = sorted(1e6 / speed for speed in speeds)
    return f"{statistics.median(costs):.0f} us a step ({costs[0]:.0f} to {costs[-1]:.0f})"


def main() -> None:
    """Print the ratios."""
    print(f"warm-up: {WARM_UP} steps of each kind of agent in maze 8")
    dqn_speed(WARM_UP, 0, "8")
    tgm_speed("8", 50, WARM_UP, 0)
    tgm_speed("8", 50, WARM_UP, 0, preset="paper")
    beside_dqn()
    late_steps()
    larger_world()


if __name__ == "__main__":
    main()
