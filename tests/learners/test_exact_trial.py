"""Bits of noise beside what matters: they are left out, and nothing else is."""

import gymnasium as gym
import numpy as np
import pytest
from tests.finite_worlds import DeepSea, mean_return

import tgm
from tgm.agent.model_file import read_model, write_model
from tgm.errors import RunError
from tgm.learners.coded import CodedLearner
from tgm.learners.events import Event
from tgm.learners.exact_trial import EXACT_AT, RECALL_AT, ExactTrial
from tgm.learners.flow import FlowLearner

N_BITS = 8


class LakeWithBits(gym.Wrapper):
    """A frozen lake that is not slippery: its cell, and bits that are drawn at each step.

    With `turns` the first bit turns the next action round.
    """

    def __init__(
        self, space: str = "categories", n_bits: int = N_BITS, *, turns: bool = False
    ) -> None:
        super().__init__(gym.make("FrozenLake-v1", is_slippery=False))
        self._n_bits, self._turns, self._bits = n_bits, turns, np.zeros(n_bits, dtype=int)
        if space == "categories":
            self.observation_space = gym.spaces.MultiDiscrete([16] + n_bits * [2])
        else:
            self.observation_space = gym.spaces.Box(0.0, 15.0, (1 + n_bits,), np.float64)

    def _seen(self, cell):
        self._bits = self.unwrapped.np_random.integers(0, 2, self._n_bits)
        return np.array([cell, *self._bits], dtype=self.observation_space.dtype)

    def reset(self, **options):
        cell, info = self.env.reset(**options)
        return self._seen(cell), info

    def step(self, action):
        is_turned = self._turns and self._bits[0]
        cell, *outcome = self.env.step((action + 2) % 4 if is_turned else action)
        return self._seen(cell), *outcome


class Bandit(gym.Env):
    """Twelve bits are drawn at each step; the fifth says which arm pays."""

    observation_space = gym.spaces.MultiBinary(12)
    action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.bits = self.np_random.integers(0, 2, 12).astype(np.int8)
        return self.bits, {}

    def step(self, action):
        reward = float(action == self.bits[4])
        self.bits = self.np_random.integers(0, 2, 12).astype(np.int8)
        return self.bits, reward, bool(self.np_random.random() < 0.2), False, {}


def kept(agent) -> list[int]:
    return [place for place, matters in enumerate(agent.relevance.values()) if matters]


def test_it_is_judged_when_the_observations_have_doubled():
    assert EXACT_AT + RECALL_AT == (64, 128, 256, 512, 1024)


@pytest.mark.parametrize(("is_left_out", "last"), [(False, 256), (True, 1024)])
def test_events_are_kept_longer_while_a_feature_is_left_out(is_left_out, last, monkeypatch):
    trial, looks = ExactTrial(2, 3), []

    def judged(self, is_exact, before):
        looks.append(len(self.events))
        return np.array([False, is_left_out])

    monkeypatch.setattr(ExactTrial, "_judged", judged)
    event, is_exact = Event(np.zeros(2), None, 0.0, False), np.ones(2, dtype=bool)
    while not trial.is_over:
        assert trial.add(event, is_exact, None) == (is_left_out and len(trial.events) == 64)
    assert len(trial.events) == last
    assert looks == [64, 128, 256] + [512, 1024] * is_left_out


@pytest.mark.parametrize("space", ["categories", "box"])
def test_a_lake_with_bits_has_as_many_states_as_cells(space):
    agent = tgm.TGMAgent(LakeWithBits(space), seed=0).learn(600)
    assert kept(agent) == [0]
    assert agent.n_states == 11  # neither holes nor the goal: there nothing is done
    assert mean_return(agent, LakeWithBits(space), 5) == 1.0


@pytest.mark.parametrize("n_bits", [2, 3])
def test_few_bits_are_left_out_too_although_symbols_are_seen_again(n_bits):
    agent = tgm.TGMAgent(LakeWithBits(n_bits=n_bits), seed=1).learn(300)
    assert kept(agent) == [0]
    assert agent.n_states == 11


def test_one_of_few_bits_that_turns_actions_round_is_kept():
    agent = tgm.TGMAgent(LakeWithBits(n_bits=3, turns=True), seed=1).learn(300)
    assert kept(agent) == [0, 1]


def test_few_bits_that_are_all_there_is_are_kept():
    """What depends on them may be seen late; four states cost little until then."""

    class Dull(Bandit):
        observation_space = gym.spaces.MultiBinary(2)

        def step(self, action):
            bits, _, *others = super().step(action)
            return bits[:2], 0.0, *others

        def reset(self, **options):
            bits, info = super().reset(**options)
            return bits[:2], info

    agent = tgm.TGMAgent(Dull(), seed=0).learn(300)
    assert kept(agent) == [0, 1]
    assert agent.n_states == 4


def test_bits_that_were_left_out_change_no_belief_and_have_one_density():
    agent = tgm.TGMAgent(LakeWithBits(), seed=0).learn(300)
    learner = agent.learner
    cells = np.repeat(agent.means[:, :1], 2, axis=1).T.reshape(-1, 1)
    bits = np.random.default_rng(0).integers(0, 2, (len(cells), N_BITS))
    belief = learner.belief(np.column_stack([cells, bits]).astype(float))
    np.testing.assert_array_equal(belief, np.tile(np.eye(agent.n_states), (2, 1)))
    assert np.abs(agent.means[:, 1:] - 0.5).max() < 0.2
    assert (np.ptp(agent.means[:, 1:], axis=0) == 0.0).all()
    variances = np.diagonal(agent.covariances, axis1=1, axis2=2)
    assert not variances[:, 0].any()
    assert np.abs(variances[:, 1:] - 0.25).max() < 0.05


def test_a_context_that_is_noise_but_decides_the_reward_is_kept():
    agent = tgm.TGMAgent(Bandit(), seed=0).learn(400)
    assert kept(agent) == [4]
    assert agent.n_states == 2


def test_an_umbrella_among_distractors():
    chain = pytest.importorskip("bsuite.environments.umbrella_chain")
    from tgm.experiments.behaviour_suite.adapter import FromDMEnv

    env = FromDMEnv(chain.UmbrellaChain(chain_length=10, n_distractor=20, seed=0))
    agent = tgm.TGMAgent(env, seed=0).learn(600)
    assert kept(agent) == [0, 1, 2]
    assert agent.n_states <= 40  # need, umbrella and time
    for _ in range(5):
        observation, _ = env.reset()
        has_ended = False
        while not has_ended:
            observation, reward, has_ended, _, _ = env.step(agent.predict(observation)[0])
        assert reward == 1.0


@pytest.mark.parametrize("size", [10, 20])
def test_pictures_lose_no_pixel(size):
    """Of 20 x 20 pixels nearly every picture of the first 64 is new."""
    agent, plain = tgm.TGMAgent(DeepSea(size), seed=0), tgm.TGMAgent(DeepSea(size), seed=0)
    plain.learner._exact_trial = None
    agent.learn(280)
    plain.learn(280)
    assert all(agent.relevance.values())
    np.testing.assert_array_equal(agent.transition_counts, plain.transition_counts)


@pytest.mark.parametrize("steps", [40, 200])
def test_it_goes_on_to_the_bit_after_a_file(steps, tmp_path):
    agent = tgm.TGMAgent(LakeWithBits(), seed=1).learn(steps)
    while not agent.is_between_episodes:
        agent.learn(1)
    agent.save(tmp_path / "agent.tgm")
    copy = tgm.TGMAgent.load(tmp_path / "agent.tgm", LakeWithBits())
    assert copy.relevance == agent.relevance
    # The wrapped lake is seeded by the first episode after loading, so both see the same bits.
    copy.env.reset(seed=5)
    agent.env.reset(seed=5)
    agent.learn(150)
    copy.learn(150)
    ours, theirs = agent.learner.to_arrays(), copy.learner.to_arrays()
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        np.testing.assert_array_equal(array, theirs[name], err_msg=name)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("kind.use.relevant", np.ones(3, dtype=bool)),
        ("kind.use.common_mean", np.full(1 + N_BITS, np.nan)),
        ("exact.action", lambda array: np.maximum(array, 0)),
        ("exact.point", lambda array: array[:, :2]),
    ],
)
def test_files_are_checked(name, change, tmp_path):
    path = tmp_path / "agent.tgm"
    agent = tgm.TGMAgent(LakeWithBits(), seed=1).learn(130)
    assert isinstance(agent.learner.inner, CodedLearner)
    agent.save(path)
    arrays, facts = read_model(path)
    arrays[name] = change(arrays[name]) if callable(change) else change
    write_model(path, arrays, facts)
    with pytest.raises(RunError):
        tgm.TGMAgent.load(path)


CLOCKS = {
    "counted": {},
    "in_a_dict": {"flatten": False},
    "normalized": {"normalize_time": True},
}


def timed(env_id="tgm/Maze-v0", clock="counted", **options):
    return gym.wrappers.TimeAwareObservation(gym.make(env_id, **options), **CLOCKS[clock])


def hidden(agent) -> list[str]:
    return [name for name, matters in agent.relevance.items() if not matters]


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize(("noise", "n_states"), [(0.15, 9), (0.0, 9)])
def test_a_maze_with_a_clock_has_as_many_states_as_cells(clock, noise, n_states):
    agent = tgm.TGMAgent(timed(clock=clock, maze="20", noise=noise), seed=700).learn(300)
    assert agent.n_states == n_states
    assert len(hidden(agent)) == 1
    assert mean_return(agent, timed(clock=clock, maze="20", noise=noise), 5) == -5.0


@pytest.mark.parametrize("env_id", ["FrozenLake-v1", "CliffWalking"])
def test_a_one_hot_world_with_a_clock_has_as_many_states_as_cells(env_id):
    options = {"is_slippery": False} if "Lake" in env_id else {"max_episode_steps": 200}
    agent = tgm.TGMAgent(timed(env_id, **options), seed=700).learn(600)
    assert len(hidden(agent)) == 1
    assert agent.n_states == (11 if "Lake" in env_id else 37)


@pytest.mark.parametrize("noise", [0.15, 0.0])
def test_of_stacked_frames_the_newest_is_enough(noise):
    def frames():
        maze = gym.make("tgm/Maze-v0", maze="8", noise=noise)
        return gym.wrappers.FrameStackObservation(maze, 3)

    agent = tgm.TGMAgent(frames(), seed=700).learn(400)
    assert agent.n_states == 8
    assert list(agent.relevance.values()) == [False] * 4 + [True] * 2
    assert mean_return(agent, frames(), 5) == -5.0


def test_an_older_frame_that_decides_comes_back():
    class Twice(gym.Env):
        """A colour is drawn at each step; the one before the newest says which arm pays."""

        observation_space = gym.spaces.MultiDiscrete([3, 3])
        action_space = gym.spaces.Discrete(3)

        def _seen(self):
            self.seen = np.array([self.seen[1], self.np_random.integers(3)])
            return self.seen

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.seen = np.zeros(2, dtype=int)
            return self._seen(), {}

        def step(self, action):
            reward = float(action == self.seen[0])
            return self._seen(), reward, bool(self.np_random.random() < 0.05), False, {}

    agent = tgm.TGMAgent(Twice(), seed=700)
    assert hidden(agent.learn(30)) == ["observation[0]"]
    agent.learn(570)
    assert agent.relevance["observation[0]"]


def test_laws_do_without_a_whole_clock():
    agent = tgm.TGMAgent(timed("CartPole-v1"), seed=700).learn(400)
    assert isinstance(agent.learner.inner, FlowLearner)
    assert hidden(agent) == ["observation[4]"]


class Shift(gym.Wrapper):
    """Later than ten steps every action is another one."""

    def reset(self, **options):
        self.time = 0
        return self.env.reset(**options)

    def step(self, action):
        self.time += 1
        return self.env.step((action + 1) % self.action_space.n if self.time > 10 else action)


@pytest.mark.parametrize("noise", [0.0, 0.15])
def test_a_clock_that_tells_what_actions_do_comes_back(noise):
    shift = Shift(gym.make("tgm/Maze-v0", maze="8", noise=noise, max_episode_steps=20))
    agent = tgm.TGMAgent(gym.wrappers.TimeAwareObservation(shift), seed=700)
    assert hidden(agent.learn(30)) == ["observation[2]"]
    assert hidden(agent.learn(270)) == []


def test_a_ball_that_falls_is_a_clock_that_decides():
    class Catch(gym.Env):
        observation_space = gym.spaces.MultiDiscrete([5, 10, 5])
        action_space = gym.spaces.Discrete(3)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.at = np.array([self.np_random.integers(5), 0, 2])
            return self.at.copy(), {}

        def step(self, action):
            self.at += [0, 1, 0]
            self.at[2] = np.clip(self.at[2] + action - 1, 0, 4)
            has_ended = bool(self.at[1] == 9)
            reward = 2.0 * (self.at[0] == self.at[2]) - 1.0 if has_ended else 0.0
            return self.at.copy(), reward, has_ended, False, {}

    agent = tgm.TGMAgent(Catch(), seed=700).learn(2000)
    assert hidden(agent) == []
    assert mean_return(agent, Catch(), 20) == 1.0


def test_a_clock_that_is_all_there_is_is_kept():
    class Count(gym.Env):
        observation_space = gym.spaces.Box(0.0, 99.0, (2,))
        action_space = gym.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            self.time = 0
            return np.zeros(2, np.float32), {}

        def step(self, action):
            self.time += 1
            return np.array([self.time, 0.0], np.float32), float(action), False, self.time == 9, {}

    agent = tgm.TGMAgent(Count(), seed=700).learn(100)
    assert agent.relevance["observation[0]"]


def test_a_maze_without_its_clock_goes_on_to_the_bit_after_a_file(tmp_path):
    agent = tgm.TGMAgent(timed(clock="normalized", maze="20"), seed=700).learn(200)
    while not agent.is_between_episodes:
        agent.learn(1)
    agent.save(tmp_path / "agent.tgm")
    copy = tgm.TGMAgent.load(tmp_path / "agent.tgm", timed(clock="normalized", maze="20"))
    assert hidden(copy) == hidden(agent) == ["observation[2]"]
    ours, theirs = agent.learner.to_arrays(), copy.learner.to_arrays()
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        np.testing.assert_array_equal(array, theirs[name], err_msg=name)
    copy.learn(100)
    assert copy.n_states == 9
