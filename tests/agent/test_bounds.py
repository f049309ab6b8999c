"""Bounded by default: states and features have a limit, and the user is told."""

import warnings

import gymnasium as gym
import numpy as np
import pytest
from campaigns.bounds import live
from campaigns.common.worlds import Stream

import tgm
from tgm.errors import SpaceError
from tgm.learners.limits import most_states
from tgm.planning.flow_support import MOST_POINTS


@pytest.fixture
def few(monkeypatch):
    """A default bound of 40 states, so that a test reaches it."""
    monkeypatch.setattr("tgm.learners.limits.MOST_STATES", 40)


@pytest.mark.parametrize("kind", ["uniform", "walk"])
@pytest.mark.parametrize("bandwidth", [0.5, "auto"])
def test_noise_stops_making_states_at_the_bound_with_a_warning(few, kind, bandwidth):
    agent = tgm.TGMAgent(Stream(2, kind, 100.0), tgm.TGMConfig(bandwidth=bandwidth), seed=0)
    if bandwidth == "auto":
        agent.learn(600)  # a learned scale may do with fewer, and a walk may be taken for a flow
        assert agent.n_states <= (40 if kind == "uniform" else MOST_POINTS)
        return
    with pytest.warns(tgm.TGMWarning, match=r"40 states.*max_states"):
        agent.learn(200)
    assert agent.n_states == 40
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agent.learn(200)  # once is enough
    assert agent.n_states <= 40
    assert agent.n_steps == 400


def test_a_limit_that_the_user_has_chosen_is_not_warned_of():
    agent = tgm.TGMAgent(Stream(2, "uniform"), tgm.TGMConfig(bandwidth=0.5, max_states=30), seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agent.learn(300)
    assert agent.n_states <= 30


def test_a_chosen_limit_may_be_above_the_default_bound(few):
    agent = tgm.TGMAgent(Stream(2, "uniform"), tgm.TGMConfig(bandwidth=0.5, max_states=100), seed=0)
    agent.learn(120)
    assert 40 < agent.n_states <= 100


def test_a_warning_that_is_an_error_costs_nothing(few):
    agent = tgm.TGMAgent(Stream(2, "uniform"), tgm.TGMConfig(bandwidth=0.5), seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(tgm.TGMWarning):
            agent.learn(300)
    before = agent.n_steps
    agent.learn(50)
    assert agent.n_steps == before + 50


def test_the_bound_leaves_room_for_the_larger_worlds_and_keeps_to_memory():
    assert most_states(2) >= 1500
    for n_features in (1, 2, 8, 64, 200, 1000):
        n_numbers = 1 + n_features + n_features * (n_features + 1) // 2
        assert most_states(n_features) >= 2
        assert most_states(n_features) * n_numbers * 8 <= 120e6


def test_more_features_than_work_are_warned_of_and_far_more_are_refused():
    def world(n):
        return Stream(n, "normal")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tgm.TGMAgent(world(64), seed=0).learn(1)
        agent = tgm.TGMAgent(world(65), seed=0)
    with pytest.warns(tgm.TGMWarning, match=r"more features than I can weigh: 65.*64") as told:
        agent.learn(1)
    assert told[0].filename == __file__
    with pytest.warns(tgm.TGMWarning, match=r"more features than I can weigh: 65") as told:
        tgm.TGMAgent(Bounded(), seed=0)  # surely no bits
    assert told[0].filename == __file__
    with pytest.raises(SpaceError, match=r"12288 features.*5000"):
        tgm.TGMAgent(world(12_288), seed=0)


def test_the_paper_preset_refuses_too_many_features_as_well():
    env = Stream(2_000, "normal")
    with pytest.raises(SpaceError, match="2000 features"):
        tgm.TGMAgent(env, tgm.TGMConfig.paper(), seed=0)


def test_a_box_of_bytes_is_not_flattened_into_a_frozen_machine():
    env = gym.wrappers.FlattenObservation(Picture())
    with pytest.raises(SpaceError, match="12288 features"):
        tgm.TGMAgent(env)


def test_a_picture_of_bits_without_bounds_is_not_warned_of():
    """bsuite's deep sea is one: each pixel is 0 or 1, and its space does not say so."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agent = tgm.TGMAgent(Lights(), seed=0).learn(450)
    assert agent.n_states == 100


class Lights(gym.Env):
    """One of a hundred lights is on; the actions pass it on, or not."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (10, 10), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._at = 0
        return self._seen(), {}

    def step(self, action):
        self._at = (self._at + int(action)) % 100
        return self._seen(), 0.0, False, False, {}

    def _seen(self):
        return (np.arange(100) == self._at).astype(np.float32).reshape(10, 10)


class Bounded(gym.Env):
    """A space that says how large its numbers are."""

    observation_space = gym.spaces.Box(-5, 5, (65,))
    action_space = gym.spaces.Discrete(2)


class Picture(gym.Env):
    """64 x 64 pixels in colour."""

    observation_space = gym.spaces.Box(0, 255, (64, 64, 3), np.uint8)
    action_space = gym.spaces.Discrete(2)


def test_the_campaign_sees_what_is_bounded_and_what_is_not():
    found = live("uniform on [0, 100]^2, a bandwidth of 0.5", 400)
    assert 100 < found["states"] <= found["bound"]
    assert not found["told"]
    assert found["megabytes"] > 10
