"""Worlds that flow: the greedy mean of the default agent at given steps, and the time of a step.

python -m benchmarks.flowing CartPole-v1 --seeds 0 1 2; all three worlds by default.
"""

import argparse
import time

import gymnasium as gym
import numpy as np

import tgm

CHECKS = {
    "CartPole-v1": (1000, 2000, 4000),
    "MountainCar-v0": (1500, 3000, 6000),
    "Acrobot-v1": (5000, 10_000, 20_000),
}
"""Steps at which each world is looked at: by which it is to be learned, twice and four times."""


def greedy_mean(agent: tgm.TGMAgent, world: str, n_episodes: int) -> float:
    """Mean return of greedy episodes, all at once; the agent learns nothing from them."""
    envs = [gym.make(world) for _ in range(n_episodes)]
    seen = np.array([env.reset(seed=99_000 + index)[0] for index, env in enumerate(envs)])
    total, goes_on = np.zeros(n_episodes), np.ones(n_episodes, dtype=bool)
    while goes_on.any():
        left = np.flatnonzero(goes_on)
        actions, _ = agent.predict(seen[left], deterministic=True)
        for index, action in zip(left.tolist(), actions, strict=True):
            seen[index], reward, terminated, truncated, _ = envs[index].step(action)
            total[index] += float(reward)
            goes_on[index] = not (terminated or truncated)
    return float(total.mean())


def main() -> None:
    """Print one line for each seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("worlds", nargs="*", default=list(CHECKS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--episodes", type=int, default=100)
    given = parser.parse_args()
    for world in given.worlds:
        for seed in given.seeds:
            agent, spent = tgm.TGMAgent(gym.make(world), seed=seed), 0.0
            found = []
            for steps in CHECKS[world]:
                begun = time.process_time()
                agent.learn(steps - agent.n_steps)
                spent += time.process_time() - begun
                mean = greedy_mean(agent, world, given.episodes)
                found.append(f"{steps}: {mean:.1f} ({1e3 * spent / steps:.2f} ms a step)")
            print(world, seed, ", ".join(found), f"{agent.n_states} points", flush=True)


if __name__ == "__main__":
    main()
