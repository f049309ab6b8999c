"""An environment of your own: a thermostat with three knobs, seen through a noisy sensor.

Run it as it is: `python examples/own_environment.py`. The picture needs the extra `figures`.
"""

import gymnasium as gym
import numpy as np
from matplotlib.figure import Figure

import tgm


class Thermostat(gym.Env):
    """Four rooms of different warmth; the agent wants to stay in the comfortable one."""

    observation_space = gym.spaces.Box(-50.0, 100.0, (1,))
    action_space = gym.spaces.Discrete(3)
    action_names = ("cooler", "wait", "warmer")
    temperatures = (10.0, 16.0, 21.0, 28.0)
    comfortable = 2

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.room = int(self.np_random.integers(len(self.temperatures)))
        return self.observe(), {}

    def step(self, action):
        self.room = int(np.clip(self.room + action - 1, 0, len(self.temperatures) - 1))
        reward = 1.0 if self.room == self.comfortable else 0.0
        return self.observe(), reward, False, False, {}

    def observe(self):
        return self.np_random.normal(self.temperatures[self.room], 0.7, size=1).astype(np.float32)


def main(n_steps: int = 500) -> Figure:
    """Train, explain three observations, and draw the states with what to do in each."""
    env = gym.wrappers.TimeLimit(Thermostat(), max_episode_steps=30)
    agent = tgm.TGMAgent(env, seed=0).learn(n_steps)
    print(f"{agent.n_states} states, at {np.sort(agent.means.ravel()).round(1)} degrees")
    for temperature in (10.0, 21.0, 28.0):
        print(f"\nat {temperature} degrees:\n{agent.explain([temperature])}")
    figure = Figure(figsize=(6.4, 3.0), layout="constrained")
    axes = figure.subplots()
    degrees = np.linspace(5, 33, 400)
    for mean, covariance in zip(agent.means.ravel(), agent.covariances.ravel(), strict=True):
        axes.fill_between(degrees, np.exp(-((degrees - mean) ** 2) / 2 / covariance), alpha=0.4)
        action, _ = agent.predict([mean], deterministic=True)
        axes.text(mean, 1.05, Thermostat.action_names[action], ha="center")
    axes.set(xlabel="degrees", ylabel="density", ylim=(0, 1.2), title="the states it found")
    return figure


if __name__ == "__main__":
    main().savefig("own_environment.png")
