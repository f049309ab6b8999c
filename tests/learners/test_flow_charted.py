"""The agent where features are cosine, sine, speed and a clock; and a life that is settled."""

import gymnasium as gym
import numpy as np
import pytest

import tgm
from tgm.learners.flow import FEW_PLANS, FlowLearner
from tgm.planning.imagination import IMAGINED

LIMIT = 120


class Balance(gym.Env):
    """A pole to be balanced; an episode ends when it falls, or when its time is over."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (4,), np.float64)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state, self.time = self.np_random.uniform(-0.05, 0.05, size=2), 0
        return self._seen(), {}

    def step(self, action):
        angle, speed = self.state
        speed += 0.1 * np.sin(angle) + (0.05 if action else -0.05)
        self.state, self.time = np.array([angle + 0.1 * speed, speed]), self.time + 1
        ended = abs(self.state[0]) > 0.4 or self.time == LIMIT
        return self._seen(), float(abs(self.state[0]) <= 0.4), ended, False, {}

    def _seen(self):
        angle, speed = self.state
        return np.array([np.cos(angle), np.sin(angle), speed, 0.01 * self.time])


@pytest.fixture(scope="module")
def agent():
    agent = tgm.TGMAgent(Balance(), seed=2).learn(FEW_PLANS + 1500)
    while not agent.is_between_episodes:
        agent.learn(1)
    return agent


def flow(agent):
    learner = agent.learner
    return getattr(learner, "inner", learner)


def test_the_clock_is_not_relevant_and_a_pair_is_one_coordinate(agent):
    assert isinstance(flow(agent), FlowLearner)
    assert list(agent.relevance.values()) == [True, True, True, False]
    assert flow(agent).best.support.points.shape[1] == 2
    means = agent.learner.means
    np.testing.assert_allclose(np.square(means[:, :2]).sum(axis=1), 1.0)
    assert np.linalg.eigvalsh(agent.learner.covariances).min() > 0.0
    forecast = agent.learner.forecast(means[:5])
    assert forecast.expected.shape == (5, 2, 4)
    assert np.isfinite(forecast.deviation).all()


def test_an_end_of_the_time_is_no_bad_step_and_life_is_settled(agent):
    learner = flow(agent)
    assert learner._time_limit == pytest.approx(0.01 * LIMIT)
    assert learner._lived_well > LIMIT  # over the ends of episodes
    assert learner._lived_well >= IMAGINED
    assert learner._is_settled


def test_while_life_is_settled_steps_are_not_kept(agent, tmp_path):
    agent.save(tmp_path / "agent.tgm")
    copy = tgm.TGMAgent.load(tmp_path / "agent.tgm", Balance())
    before, n_kept = flow(copy).to_arrays(), flow(copy).n_kept - flow(copy).memory.n_new
    copy.learn(20 * LIMIT)
    learner = flow(copy)
    assert learner.n_kept - learner.memory.n_new == n_kept
    after = learner.to_arrays()
    for name in ("best.greedy", "model.law.linear", "sums.inputs"):
        np.testing.assert_array_equal(after[name], before[name], err_msg=name)
    assert learner._habit.table is not None
    # A step that is worse ends it.
    learner._live(0.0, terminated=True)
    assert not learner._is_settled


def test_saved_it_goes_on_to_the_bit(agent, tmp_path):
    assert flow(agent)._habit.table is not None
    agent.save(tmp_path / "agent.tgm")
    copies = [tgm.TGMAgent.load(tmp_path / "agent.tgm", Balance()) for _ in range(2)]
    first, second = (flow(copy.learn(300)).to_arrays() for copy in copies)
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name], err_msg=name)
    seen = np.array([[np.cos(0.1), np.sin(0.1), 0.2, 0.5]])
    np.testing.assert_array_equal(
        copies[0].predict(seen, deterministic=True)[0],
        copies[1].predict(seen, deterministic=True)[0],
    )
