"""The unit of rewards changes nothing: an agent does the same, to the bit."""

import gymnasium as gym
import pytest

import tgm


class Scaled(gym.Wrapper):
    """Rewards in another unit; the actions are noted."""

    def __init__(self, env, unit):
        super().__init__(env)
        self.unit, self.actions = unit, []

    def step(self, action):
        self.actions.append(int(action))
        observation, reward, *rest = self.env.step(action)
        return observation, self.unit * float(reward), *rest


def actions_in(world, unit, n_steps):
    env = Scaled(gym.make(world), unit)
    tgm.TGMAgent(env, seed=0).learn(n_steps)
    return env.actions


# Powers of two: others round, and rounding breaks ties.
@pytest.mark.parametrize(
    ("world", "n_steps", "unit"), [("tgm/Maze-v0", 250, 2.0**-10), ("CartPole-v1", 60, 2.0**10)]
)
def test_rewards_in_another_unit_change_no_action(world, n_steps, unit):
    assert actions_in(world, unit, n_steps) == actions_in(world, 1.0, n_steps)
