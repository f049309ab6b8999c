"""The default agent where rewards are noisy: it tries again what may be better, and averages."""

import gymnasium as gym
import numpy as np
import pytest

import tgm

MEANS = (0.2, 0.8, 0.0, 1.0, 0.5)  # expected rewards of the arms


class NoisyBandit(gym.Env):
    """One state, arms, and an end after each try."""

    observation_space = gym.spaces.Discrete(1)
    action_space = gym.spaces.Discrete(len(MEANS))

    def __init__(self, noise, unit=1.0):
        self.noise, self.unit, self.actions = noise, unit, []
        self.rng = np.random.default_rng(3)

    def reset(self, *, seed=None, options=None):
        return 0, {}

    def step(self, action):
        self.actions.append(int(action))
        reward = MEANS[action] + self.noise * self.rng.standard_normal()
        return 0, self.unit * reward, True, False, {}


def arms(noise, unit=1.0, seed=0, n_steps=1_500):
    env = NoisyBandit(noise, unit)
    tgm.TGMAgent(env, seed=seed).learn(n_steps)
    return np.array(env.actions)


def test_good_arms_are_found_under_noise_of_five_times_the_difference():
    late = np.concatenate([arms(noise=1.0, seed=seed)[-500:] for seed in range(4)])
    assert np.array(MEANS)[late].mean() > 0.9


def test_without_noise_one_try_of_each_is_enough():
    tried = arms(noise=0.0, n_steps=50)
    assert set(tried[:5]) == set(range(5))
    assert (tried[5:] == 3).all()


@pytest.mark.parametrize("unit", [1e-3, 1e3])
def test_the_unit_of_noisy_rewards_does_not_matter(unit):
    np.testing.assert_array_equal(arms(1.0, unit, n_steps=400), arms(1.0, n_steps=400))


def test_an_agent_that_was_saved_goes_on_to_the_bit(tmp_path):
    env = NoisyBandit(1.0)
    agent = tgm.TGMAgent(env, seed=0).learn(200)
    agent.save(tmp_path / "model")
    other = NoisyBandit(1.0)
    other.rng = np.random.default_rng()
    other.rng.bit_generator.state = env.rng.bit_generator.state
    copy = tgm.TGMAgent.load(tmp_path / "model", env=other)
    agent.learn(100)
    copy.learn(100)
    assert other.actions == env.actions[200:]
