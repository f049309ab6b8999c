"""The three worlds of the README: tgm, and DQN.

Greedy mean of 100 episodes.

`python -m benchmarks.three_worlds --seeds 3`. DQN in mazes is "dqn-tuned" of `tgm compare`; in
MountainCar it has the settings of RL Zoo. Needs the extra `baselines`. No
DQN here has a memory, and in MountainCar it gets 20,000 of RL Zoo's 120,000 steps.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

import gymnasium as gym
from stable_baselines3 import DQN
from stable_baselines3.common.evaluation import evaluate_policy

sys.path.insert(0, str(Path(__file__).parents[1]))

from examples.looks_alike import SeenByWalls

import tgm

EPISODES = 100
MAZE_DQN = {"learning_rate": 1e-3, "learning_starts": 50, "batch_size": 128, "train_freq": 2}
MAZE_DQN |= {"target_update_interval": 250, "exploration_fraction": 0.6, "gamma": 0.97}
CAR_DQN = {"learning_rate": 4e-3, "batch_size": 128, "buffer_size": 10_000, "gamma": 0.98}
CAR_DQN |= {"learning_starts": 1000, "target_update_interval": 600, "train_freq": 16}
CAR_DQN |= {"gradient_steps": 8, "exploration_fraction": 0.2, "exploration_final_eps": 0.07}
CAR_DQN |= {"policy_kwargs": {"net_arch": [256, 256]}}

# Name -> (environment, steps of tgm, steps of DQN, settings of DQN, rescaled for DQN).
WORLDS = {
    "maze 27": (lambda: gym.make("tgm/Maze-v0", maze="27"), 500, 5000, MAZE_DQN, True),
    "maze 26 seen by its walls": (lambda: SeenByWalls("26"), 1500, 20_000, MAZE_DQN, False),
    "MountainCar-v0": (lambda: gym.make("MountainCar-v0"), 1500, 20_000, CAR_DQN, False),
}


def greedy(agent, env) -> float:
    """Mean return of greedy episodes, by the evaluator of Stable-Baselines3."""
    return float(evaluate_policy(agent, env, n_eval_episodes=EPISODES, deterministic=True)[0])


def main() -> None:
    """Print a line for each world, agent and seed."""
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--worlds", nargs="*", default=list(WORLDS), choices=list(WORLDS))
    asked = parser.parse_args()
    for name in asked.worlds:
        make, steps, deep_steps, settings, rescaled = WORLDS[name]
        for seed in range(asked.seeds):
            began = time.perf_counter()
            agent = tgm.TGMAgent(make(), seed=seed).learn(steps)
            took = time.perf_counter() - began
            print(
                f"{name}: tgm, seed {seed}, {steps} steps: {greedy(agent, make()):.1f} "
                f"({took:.0f} s)",
                flush=True,
            )

            def deep_env(make=make, rescaled=rescaled):
                return gym.wrappers.RescaleObservation(make(), -1.0, 1.0) if rescaled else make()

            deep = DQN("MlpPolicy", deep_env(), seed=seed, device="cpu", **settings)
            began = time.perf_counter()
            deep.learn(deep_steps)
            took = time.perf_counter() - began
            print(
                f"{name}: DQN, seed {seed}, {deep_steps} steps: {greedy(deep, deep_env()):.1f} "
                f"({took:.0f} s)",
                flush=True,
            )


if __name__ == "__main__":
    main()
