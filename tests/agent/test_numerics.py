"""Our arithmetic holds in worlds that are no mazes, and is never blamed on the user's data."""

import gymnasium as gym
import numpy as np
import pytest
from campaigns.common.worlds import Codes, Stream, one_hot

import tgm
from tgm.agent.model_file import read_model, write_model
from tgm.errors import DataError, NumericsError

AUTO = tgm.TGMConfig(bandwidth="auto")


@pytest.mark.parametrize("seed", [0, 1])
def test_frozen_lake_as_one_hot_vectors_is_lived_through(seed):
    # A split gave one half nothing: a division of zero by zero at steps 155 to 570.
    agent = tgm.TGMAgent(one_hot("FrozenLake-v1", map_name="8x8"), seed=seed).learn(600)
    assert agent.n_steps == 600
    assert np.isfinite(agent.means).all()


@pytest.mark.parametrize(
    ("env_id", "arguments", "n_steps"),
    [("FrozenLake-v1", {"map_name": "8x8"}, 60), ("CliffWalking", {}, 60)],
)
def test_one_hot_vectors_with_a_learned_scale_are_lived_through(env_id, arguments, n_steps):
    # Densities beyond the largest float; then no candidate scale was left.
    agent = tgm.TGMAgent(one_hot(env_id, **arguments), AUTO, seed=0).learn(n_steps)
    assert agent.n_steps == n_steps
    assert np.isfinite(agent.belief(agent.means[0])).all()


def test_many_features_are_lived_through():
    agent = tgm.TGMAgent(Codes(64), seed=1)
    agent.learn(150)
    assert agent.n_steps == 150


def test_a_numerical_failure_is_said_to_be_ours(monkeypatch):
    agent = tgm.TGMAgent(gym.make("tgm/Maze-v0", maze="8"), seed=0).learn(30)

    def fail(*args, **kwargs):
        raise ZeroDivisionError("float division by zero")

    monkeypatch.setattr(agent.learner, "observe", fail)
    with pytest.raises(NumericsError, match=r"step 31: .*division by zero.*fault of tgm"):
        agent.learn(10)
    assert not issubclass(NumericsError, DataError)


# --- what enters can be stored ------------------------------------------------------------------


class Extreme(gym.Wrapper):
    """Some observations and rewards of a maze are replaced by extreme ones."""

    def __init__(self, env, value, every=7):
        super().__init__(env)
        self._value, self._every, self._n = value, every, 0

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._n += 1
        sign = 1.0 if self._n % 2 else -1.0
        if self._n % self._every == 0:
            observation = observation.astype(np.float64)
            observation[self._n % 2] = sign * self._value
        if self._n % self._every == 1:
            reward = sign * self._value
        return observation, reward, terminated, truncated, info


@pytest.mark.parametrize("value", [1e20, 1e30, 3.4e38, 1e60])
@pytest.mark.parametrize(
    "config",
    [tgm.TGMConfig(), AUTO, tgm.TGMConfig(max_states=5), tgm.TGMConfig(bandwidth=1e-30)],
    ids=["default", "auto", "few states", "narrow"],
)
def test_a_model_of_extreme_but_accepted_numbers_can_be_loaded(config, value, tmp_path):
    agent = tgm.TGMAgent(Extreme(gym.make("tgm/Maze-v0", maze="8"), value), config, seed=0)
    for part in range(3):
        agent.learn(70).save(tmp_path / f"{part}.tgm")
        again = tgm.TGMAgent.load(tmp_path / f"{part}.tgm")
        np.testing.assert_array_equal(again.means, agent.means)
        np.testing.assert_array_equal(again.covariances, agent.covariances)


@pytest.mark.parametrize("size", [1e-150, 1e-40, 1e25])
def test_a_model_of_tiny_or_huge_noise_can_be_loaded(size, tmp_path):
    agent = tgm.TGMAgent(Stream(3, "normal", size), AUTO, seed=0).learn(150)
    agent.save(tmp_path / "model.tgm")
    assert tgm.TGMAgent.load(tmp_path / "model.tgm").n_states == agent.n_states


@pytest.mark.parametrize("reward", [1.1e60, -1e299])
def test_a_reward_that_could_not_be_stored_is_refused(reward):
    env = gym.wrappers.TransformReward(gym.make("tgm/Maze-v0", maze="8"), lambda r: reward)
    agent = tgm.TGMAgent(env, seed=0)
    with pytest.raises(DataError, match=r"step 1: the reward is .*at most 1e\+60"):
        agent.learn(5)
    assert agent.n_steps == 0


class Fixed(gym.Env):
    """Gives the same observation and reward for ever, whatever they are."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, observation, reward=0.0):
        self._seen, self._reward = observation, reward

    def reset(self, *, seed=None, options=None):
        return np.zeros(2), {}

    def step(self, action):
        return self._seen, self._reward, False, False, {}


@pytest.mark.parametrize(
    ("observation", "wanted"),
    [
        (np.array([1j, 0.0]), "complex"),
        (np.ma.masked_array([1.0, 2.0], [False, True]), r"observation\[1\] is masked"),
        (["1", "2"], "not numeric"),
        (np.array(["1", "2"]), "not numeric"),
        ([1.0, None], "not numeric"),
        ([[1.0], [1.0, 2.0]], "not numeric"),
        ([10**61, 0], r"observation\[0\] is inf"),
    ],
)
def test_an_observation_that_is_no_numbers_is_refused_by_name(observation, wanted):
    agent = tgm.TGMAgent(Fixed(observation), seed=0)
    with pytest.raises(DataError, match=f"step 1: .*{wanted}"):
        agent.learn(3)


@pytest.mark.parametrize(
    ("reward", "wanted"),
    [
        ("3", "'3' is not one number"),
        (b"3", "not one number"),
        (1 + 2j, "not one number"),
        (np.complex128(1.0), "not one number"),
        (np.ma.masked, "not one number"),
        (np.array([1.0, 2.0]), "not one number"),
        (None, "not one number"),
        ([[1], [1, 2]], "not one number"),
        (10**61, r"at most 1e\+60"),
        (10**400, r"at most 1e\+60"),
    ],
)
def test_a_reward_that_is_no_number_is_refused_by_name(reward, wanted):
    agent = tgm.TGMAgent(Fixed(np.zeros(2), reward), seed=0)
    with pytest.raises(DataError, match=f"step 1: the reward .*{wanted}"):
        agent.learn(3)


@pytest.mark.parametrize(
    "reward", [1, True, np.float32(1.0), np.int64(1), np.array(1.0), np.array([1.0]), 10**30]
)
def test_numbers_of_every_kind_are_rewards(reward):
    assert tgm.TGMAgent(Fixed(np.zeros(2), reward), seed=0).learn(3).n_steps == 3


def test_a_whole_number_of_any_size_up_to_the_limit_is_an_observation():
    agent = tgm.TGMAgent(Fixed([10**30, 0]), seed=0).learn(3)
    assert agent.means.max() == 1e30


# --- doctored files -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def noisy_model(tmp_path_factory):
    """The arrays and facts of an agent in a noisy maze."""
    path = tmp_path_factory.mktemp("noisy") / "model.tgm"
    env = gym.make("tgm/Maze-v0", maze="8", noise=0.3)
    tgm.TGMAgent(env, seed=0).learn(300).save(path)
    return read_model(path)


@pytest.mark.parametrize("times", [3.0, 1e6, 1e59])
def test_kept_points_that_were_never_part_of_their_state_leave_sound_covariances(
    tmp_path, times, noisy_model
):
    env, path = gym.make("tgm/Maze-v0", maze="8", noise=0.3), tmp_path / "model.tgm"
    arrays, facts = noisy_model
    doctored = dict(arrays)
    name = "learner.world.memory.step.arrival"
    doctored[name] = arrays[name] * times
    write_model(path, doctored, facts)
    again = tgm.TGMAgent.load(path, env=env)
    for _ in range(40):
        again.learn(10)
        deviation = np.sqrt(np.einsum("kii->ki", again.covariances))
        correlation = again.covariances / deviation[:, :, None] / deviation[:, None, :]
        assert np.linalg.eigvalsh(correlation).min() > 0
    again.save(path)
    assert tgm.TGMAgent.load(path).n_states == again.n_states
