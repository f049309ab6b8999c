"""A world whose questions ask for one bit of many that were seen first."""

import gymnasium as gym
import numpy as np
import pytest

import tgm
from tgm.inspector.payload import summary
from tgm.learners.coded import CodedLearner
from tgm.learners.cued import CuedLearner
from tgm.runs import Run, RunRecorder, resume

N_BITS = 6


class Questions(gym.Env):
    """Bits, a corridor, and a question for one of them."""

    observation_space = gym.spaces.Box(-1.0, 9.0, (2 + N_BITS,), np.float64)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.bits, self.time = self.np_random.integers(2, size=N_BITS), 0
        self.query = int(self.np_random.integers(N_BITS))
        return self._seen(), {}

    def _seen(self):
        seen = np.zeros(2 + N_BITS)
        seen[0] = self.time
        if self.time == 0:
            seen[2:] = 2.0 * self.bits - 1.0
        if self.time == 2:
            seen[1] = self.query + 1
        return seen

    def step(self, action):
        self.time += 1
        reward = 0.0 if self.time < 3 else 1.0 if action == self.bits[self.query] else -1.0
        return self._seen(), reward, self.time == 3, False, {}


@pytest.fixture(scope="module")
def agent():
    return tgm.TGMAgent(Questions(), seed=0).learn(1500)


def greedy_return(agent, n=60):
    env, rewards = Questions(), []
    for seed in range(n):
        (observation, _), state, ended = env.reset(seed=1000 + seed), None, False
        while not ended:
            action, state = agent.predict(observation, state, deterministic=True)
            observation, reward, ended, _, _ = env.step(int(action))
            rewards.append(reward)
    return sum(rewards) / n


def test_every_question_is_answered(agent):
    assert isinstance(agent.learner.inner, CuedLearner)
    assert greedy_return(agent) == 1.0


def test_states_are_few(agent):
    """The first look, the corridor, and two for each question."""
    assert agent.n_states == 2 + 2 * N_BITS
    assert agent.means.shape == (agent.n_states, 2 + N_BITS)
    assert agent.covariances.shape == (agent.n_states, 2 + N_BITS, 2 + N_BITS)


def test_a_belief_remembers_the_first_look(agent):
    env = Questions()
    first, _ = env.reset(seed=5)
    _, state = agent.predict(first, deterministic=True)
    corridor = env.step(0)[0]
    _, state = agent.predict(corridor, state, deterministic=True)
    question = env.step(0)[0]
    belief = agent.belief(question, state)
    assert belief.max() == pytest.approx(1.0)
    values = agent.q_values(question, state)
    assert values.argmax() == env.bits[env.query]
    # Another first look, the same question: the other answer.
    first[2 + env.query] *= -1.0
    _, state = agent.predict(first, deterministic=True)
    _, state = agent.predict(corridor, state, deterministic=True)
    assert agent.q_values(question, state).argmax() != env.bits[env.query]
    assert agent.belief(first).max() == pytest.approx(1.0)
    assert "I believe" in str(agent.explain(question, state))


def test_saved_it_goes_on_to_the_bit(agent, tmp_path):
    agent.save(tmp_path / "agent.tgm")
    copies = [tgm.TGMAgent.load(tmp_path / "agent.tgm", Questions()) for _ in range(2)]
    assert greedy_return(copies[0]) == 1.0
    first, second = (copy.learn(300).learner.to_arrays() for copy in copies)
    assert first.keys() == second.keys()
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name], err_msg=name)


def test_a_run_is_recorded_and_resumed_to_the_bit(tmp_path):
    whole = tgm.TGMAgent(Questions(), seed=0).learn(900, run_dir=tmp_path / "whole")
    assert isinstance(whole.learner.inner, CuedLearner)
    frame = Run.open(tmp_path / "whole").frame_at(900)
    assert sorted(frame.ids) == sorted(whole.state_ids.tolist())
    assert summary(Run.open(tmp_path / "whole"))["health"]
    half = tgm.TGMAgent(Questions(), seed=0)
    half.learn(600, run_dir=RunRecorder.begin(half, tmp_path / "half", 900))
    assert isinstance(half.learner.inner, CuedLearner)
    again, _ = resume(tmp_path / "half", Questions())
    again.learn(900 - again.n_steps, run_dir=tmp_path / "half")
    ours, theirs = whole.learner.to_arrays(), again.learner.to_arrays()
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        np.testing.assert_array_equal(array, theirs[name], err_msg=name)


def test_what_looks_ask_for_is_found_again(monkeypatch):
    agent = tgm.TGMAgent(Questions(), seed=1)
    while not isinstance(agent.learner.inner, CuedLearner):
        agent.learn(3)
    learner = agent.learner.inner
    before = learner.cue
    agent.learn(1200)
    assert agent.learner.inner is learner
    asked = [(int(look[1]), int(one)) for look, one in zip(*learner.cue, strict=True)]
    assert sorted(asked) == [(query, 1 + query) for query in range(1, N_BITS + 1)]
    assert learner.cue is not before or len(before.features) == N_BITS


class Places(Questions):
    """The first looks are many, and nothing later depends on them."""

    def step(self, action):
        observation, reward, ended, truncated, info = super().step(action)
        if ended:
            reward = 1.0 if action == self.np_random.integers(2) else -1.0
        return observation, reward, ended, truncated, info


def test_without_evidence_nothing_is_remembered():
    agent = tgm.TGMAgent(Places(), seed=0).learn(900)
    assert isinstance(agent.learner.inner, CodedLearner)
