"""An agent says once what does not work, and which features tell states apart."""

import warnings

import gymnasium as gym
import numpy as np
import pytest
from campaigns.common.worlds import Stream

import tgm


class WithNoise(gym.ObservationWrapper):
    """A maze whose observations have more features, of pure noise; and a bit that never changes."""

    def __init__(self, env, n_noise, *, with_bit=False):
        super().__init__(env)
        self._n, self._bit = n_noise, [1.0] if with_bit else []
        shape = (2 + n_noise + len(self._bit),)
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, shape, np.float64)

    def observation(self, observation):
        noise = self.unwrapped.np_random.normal(size=self._n)
        return np.concatenate([observation, noise, self._bit])


def maze(n_noise=0, **options):
    return WithNoise(gym.make("tgm/Maze-v0", maze="27"), n_noise, **options)


class Drift(gym.Env):
    """A place that is never seen again."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (1,), np.float64)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._at = 0.0
        return np.array([self._at]), {}

    def step(self, action):
        self._at += 10.0 + 0.1 * self.np_random.normal()
        return np.array([self._at]), 0.0, False, False, {}


def told(agent, n_steps):
    """The advice of each learning step, and the warnings."""
    infos = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", tgm.TGMWarning)
        agent.learn(n_steps, callback=infos.append)
    return infos, [w for w in caught if w.category is tgm.TGMWarning]


def test_noise_is_called_noise_once():
    agent = tgm.TGMAgent(Stream(2, "normal"), seed=0)
    infos, caught = told(agent, 450)
    assert agent.n_states == 1
    assert len(caught) == 1
    assert "step 200: one state explains all 201 observations" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert infos[197].advice == ()
    assert infos[199].advice == (str(caught[0].message).removeprefix("step 200: "),)
    assert infos[-1].to_dict()["advice"] == list(infos[-1].advice)
    assert set(agent.relevance.values()) == {False}


def test_a_state_per_observation_is_told():
    agent = tgm.TGMAgent(Drift(), tgm.TGMConfig(bandwidth=0.5), seed=0)
    infos, caught = told(agent, 820)
    assert agent.n_states > 800
    assert ["a state per observation" in str(w.message) for w in caught] == [True]
    assert infos[497].advice == () != infos[498].advice  # the reset is an observation too
    assert "bandwidth" in infos[-1].advice[0]


def test_nothing_is_told_where_it_works():
    infos, caught = told(tgm.TGMAgent(maze(), seed=0), 900)
    assert not caught
    assert not any(info.advice for info in infos)


class Bandit(gym.Env):
    """One observation, which is never a whole number."""

    observation_space = gym.spaces.Box(-1, 1, (1,), np.float64)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.array([0.3]), {}

    def step(self, action):
        return np.array([0.3]), float(action), True, False, {}


@pytest.mark.parametrize("config", [tgm.TGMConfig(), tgm.TGMConfig(bandwidth=0.5)])
def test_one_state_is_right_where_nothing_varies(config):
    _, caught = told(tgm.TGMAgent(Bandit(), config, seed=0), 450)
    assert not caught


def test_one_state_is_right_where_no_more_are_allowed():
    agent = tgm.TGMAgent(Stream(2, "normal"), tgm.TGMConfig(max_states=1), seed=0)
    assert not told(agent, 450)[1]


def test_a_warning_that_is_an_error_costs_nothing():
    agent = tgm.TGMAgent(Stream(2, "normal"), seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(tgm.TGMWarning, match="noise"):
            agent.learn(300)
        assert agent.n_steps == 200
        agent.learn(300)  # it was said
    assert agent.n_steps == 500


# --- relevance ------------------------------------------------------------------------------------


def test_relevance_names_the_features_that_tell_states_apart(tmp_path):
    agent = tgm.TGMAgent(maze(4, with_bit=True), seed=0)
    assert set(agent.relevance.values()) == {True}
    agent.learn(400)
    names = [f"observation[{k}]" for k in range(7)]
    expected = dict(zip(names, [True, True, False, False, False, False, True], strict=True))
    assert agent.relevance == expected
    agent.save(tmp_path / "agent.tgm")
    assert tgm.TGMAgent.load(tmp_path / "agent.tgm").relevance == expected


@pytest.mark.parametrize("config", [tgm.TGMConfig(bandwidth=0.5), tgm.TGMConfig.paper()])
def test_without_a_learned_scale_all_features_are_relevant(config):
    agent = tgm.TGMAgent(maze(1), config, seed=0)
    assert set(agent.relevance.values()) == {True}
    agent.learn(150)
    assert list(agent.relevance.values()) == [True] * 3


def test_names_of_the_environment_are_used_if_they_differ():
    env = gym.make("tgm/Maze-v0", maze="27")
    env.unwrapped.feature_names = ("x", "y")
    assert tgm.TGMAgent(env, seed=0).relevance == {"x": True, "y": True}
    env.unwrapped.feature_names = ("x", "x")
    assert len(tgm.TGMAgent(env, seed=0).relevance) == 2


def test_exact_features_are_relevant():
    agent = tgm.TGMAgent(gym.make("FrozenLake-v1"), seed=0).learn(50)
    assert agent.relevance == {"observation": True}
    assert agent.advice == ()


@pytest.mark.parametrize(
    "more",
    [
        lambda seen: seen,
        lambda seen: seen[:1],
        lambda seen: seen[:1] + seen[1:],
        lambda seen: 32.0 + 1.8 * seen[:1],
    ],
    ids=["both again", "one again", "their sum", "in another unit"],
)
def test_a_sensor_that_repeats_others_is_left_out(more):
    """With its noise: across it states would be infinitely narrow."""

    def look(seen):
        return np.concatenate([seen, more(seen)])

    env = gym.make("tgm/Maze-v0", maze="8")
    shape = look(np.zeros(2)).shape
    space = gym.spaces.Box(-np.inf, np.inf, shape, np.float64)
    agent = tgm.TGMAgent(gym.wrappers.TransformObservation(env, look, space), seed=0).learn(500)
    assert agent.n_states == 8
    assert list(agent.relevance.values()) == [True, True] + [False] * (shape[0] - 2)
