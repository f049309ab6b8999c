"""Training steps per second on maze 27 beside DQN of Stable-Baselines3, and how the cost grows.

All in one run on one core, so that the ratios hold on any machine.
"""

import time

import gymnasium as gym

import tgm
from tgm.envs import random_maze

STEPS = 5000


def tgm_speed(maze, limit: int, n_steps: int, settle: int = 0, **settings) -> float:
    """Steps per second of a TGM agent, after `settle` steps that do not count."""
    env = gym.make("tgm/Maze-v0", maze=maze, max_episode_steps=limit)
    agent = tgm.TGMAgent(
        env, tgm.TGMConfig.preset(settings.pop("preset", "default"), **settings), seed=0
    )
    if settle:
        agent.learn(settle)
    began = time.perf_counter()
    agent.learn(n_steps)
    return n_steps / (time.perf_counter() - began)


def dqn_speed(n_steps: int) -> float:
    """Steps per second of DQN with the paper's settings."""
    import torch
    from stable_baselines3 import DQN

    torch.set_num_threads(1)
    env = gym.make("tgm/Maze-v0", maze="27")
    model = DQN(
        "MlpPolicy",
        env,
        learning_rate=0.01,
        learning_starts=0,
        target_update_interval=100,
        exploration_fraction=0.7,
        seed=0,
    )
    began = time.perf_counter()
    model.learn(n_steps)
    return n_steps / (time.perf_counter() - began)


def main() -> None:
    """Print the ratios."""
    dqn = dqn_speed(STEPS)
    rows = {
        "tgm, default": tgm_speed("27", 50, STEPS),
        "tgm, bandwidth 0.5": tgm_speed("27", 50, STEPS, bandwidth=0.5),
        "tgm, paper preset": tgm_speed("27", 50, STEPS, preset="paper"),
    }
    print(f"DQN of Stable-Baselines3: {dqn:,.0f} steps per second on maze 27")
    for name, speed in rows.items():
        print(f"{name}: {speed:,.0f} steps per second, {speed / dqn:.1f} times DQN")
    early = tgm_speed("27", 50, 5000, settle=5000)
    late = tgm_speed("27", 50, 5000, settle=45000)
    print(f"steps 5,000 to 10,000: {1e6 / early:.0f} us; 45,000 to 50,000: {1e6 / late:.0f} us")
    small = random_maze("open", 5, 5, 0)
    large = random_maze("open", 20, 20, 0)
    few = tgm_speed(small, 36, 8000)
    many = tgm_speed(large, 156, 8000)
    print(
        f"25 cells: {1e6 / few:.0f} us a step; 400 cells: {1e6 / many:.0f} us; "
        f"{few / many:.1f} times as much (first 8,000 steps of each)"
    )


if __name__ == "__main__":
    main()
