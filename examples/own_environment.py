"""An environment of your own: a thermostat with three knobs, seen through a noisy sensor.

Run it as it is: `.venv/bin/python examples/own_environment.py`.
"""

import gymnasium as gym
import numpy as np

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


def main() -> None:
    env = gym.wrappers.TimeLimit(Thermostat(), max_episode_steps=30)
    # Which differences are noise and which are another state? "auto" learns it.
    agent = tgm.TGMAgent(env, tgm.TGMConfig(bandwidth="auto"), seed=0).learn(500)
    print(f"{agent.n_states} states, at {np.sort(agent.means.ravel()).round(1)} degrees")
    for temperature in (10.0, 21.0, 28.0):
        print(f"\nat {temperature} degrees:\n{agent.explain([temperature])}")


if __name__ == "__main__":
    main()
