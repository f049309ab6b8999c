"""What users of other libraries write either works or is answered in one line."""

import copy
import pickle
import re
import warnings
from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest

import tgm
from tgm.agent.arguments import MAY_CHANGE
from tgm.agent.callbacks import as_callbacks
from tgm.errors import ConfigError, DataError, RunError, SpaceError, TGMError

MAZE = {"maze": "8"}


def agent_in_maze(**settings):
    return tgm.TGMAgent("tgm/Maze-v0", seed=0, env_kwargs=MAZE, **settings)


def test_an_environment_by_its_id_is_the_same_as_made_before():
    by_id = agent_in_maze().learn(150)
    made = tgm.TGMAgent(gym.make("tgm/Maze-v0", maze="8"), seed=0).learn(150)
    assert (by_id.means == made.means).all()
    assert by_id.env.unwrapped.maze.name == "8"
    assert tgm.TGMAgent(gym.spec("FrozenLake-v1")).env.observation_space.n == 16


@pytest.mark.parametrize(
    ("arguments", "keywords", "message"),
    [
        (("Nowhere-v0",), {}, "environment 'Nowhere-v0' cannot be made"),
        (("FrozenLake-v1",), {"env_kwargs": {"size": 3}}, "unexpected keyword argument 'size'"),
        (("MlpPolicy", gym.make("CartPole-v1")), {}, "the order is TGMAgent"),
        (("CartPole-v1",), {"gama": 0.9}, "did you mean gamma"),
        (("CartPole-v1",), {"verbose": 1}, "leave it out"),
        (("CartPole-v1",), {"n_envs": 4}, "learns in one environment"),
        (("CartPole-v1",), {"random_state": 0}, "write seed=0"),
        (("CartPole-v1", {"gamma": 0.9}), {}, r"write \*\*config, or config="),
        ((replace(gym.spec("CartPole-v1"), id="A-v0", entry_point="no:A"),), {}, "'A-v0' cannot"),
        (("CartPole-v1",), {"gamma": 0.9, "discount": 0.9}, "one setting"),
        (("CartPole-v1",), {"discount": 2.0}, "gamma is 2.0"),
        ((gym.make("CartPole-v1"),), {"env_kwargs": {"a": 1}}, "given by its id"),
    ],
)
def test_a_wrong_argument_is_answered_in_one_line(arguments, keywords, message):
    with pytest.raises(ConfigError, match=message) as caught:
        tgm.TGMAgent(*arguments, **keywords)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "written"), [("num_timesteps", "agent.n_steps"), ("fit", "agent.learn(n_steps)")]
)
def test_an_attribute_of_other_libraries_is_answered_with_its_name_here(name, written):
    agent = agent_in_maze()
    with pytest.raises(AttributeError, match=re.escape(f"'{name}'; write {written}")):
        getattr(agent, name)
    with pytest.raises(AttributeError, match=r"no attribute 'nothing'$"):
        agent.nothing  # noqa: B018


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"log_interval": 4}, "log_interval is no argument of learn: leave it out, write progress"),
        ({"reset_num_timesteps": False}, "learn always goes on"),
        ({"calback": print}, "did you mean callback?"),
        ({"xyz": 1}, "there are n_steps, callback, progress_bar, run_dir, total_timesteps, fea"),
    ],
)
def test_an_argument_of_learn_of_other_libraries_is_answered_in_one_line(keywords, message):
    agent = agent_in_maze()
    with pytest.raises(ConfigError, match=re.escape(message)) as caught:
        agent.learn(10, **keywords)
    assert "\n" not in str(caught.value)
    assert "others" not in str(caught.value)
    assert agent.n_steps == 0


def test_a_setting_of_mean_shift_says_that_the_default_has_no_use_for_it():
    with pytest.warns(tgm.TGMWarning, match="learning_rate: used with structure='mean_shift' only"):
        agent_in_maze(learning_rate=0.001)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agent_in_maze(config=tgm.TGMConfig.paper(), learning_rate=0.001)


def test_what_reset_returns_is_no_observation():
    agent = agent_in_maze().learn(20)
    with pytest.raises(DataError, match="what reset or step of an environment returned"):
        agent.predict(agent.env.reset(seed=0))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda agent: pickle.loads(pickle.dumps(agent))])
@pytest.mark.parametrize("world", ["FrozenLake-v1", "tgm/Maze-v0"])
def test_a_copy_goes_on_as_the_agent_does_and_shares_nothing_with_it(world, copied):
    agent = tgm.TGMAgent(world, seed=0).learn(150)
    before = agent.transition_counts.copy()
    other = copied(agent).learn(100)
    assert np.array_equal(agent.transition_counts, before)
    assert np.array_equal(agent.learn(100).transition_counts, other.transition_counts)


def test_settings_are_keywords_too():
    assert agent_in_maze(gamma=0.9, bandwidth=0.5).config == tgm.TGMConfig(gamma=0.9, bandwidth=0.5)
    assert agent_in_maze(discount=0.9).config.gamma == 0.9
    both = agent_in_maze(config=tgm.TGMConfig(bandwidth=0.5), gamma=0.9)
    assert both.config == tgm.TGMConfig(gamma=0.9, bandwidth=0.5)


def test_vectors_of_environments_are_refused_with_their_number():
    for vector in (gym.make_vec("CartPole-v1", num_envs=3), type("VecEnv", (), {"num_envs": 3})()):
        with pytest.raises(SpaceError, match="a vector of 3; an agent learns in one"):
            tgm.TGMAgent(vector)
    with pytest.raises(SpaceError, match="wanted one of Gymnasium"):
        tgm.TGMAgent(None)


def test_numbers_of_numpy_are_settings(tmp_path):
    given = tgm.TGMConfig(gamma=np.float64(0.9), learn_every=np.int64(2), moves=np.bool_(False))
    assert given == tgm.TGMConfig(gamma=0.9, learn_every=2, moves=False)
    assert type(given.gamma) is float
    assert type(given.learn_every) is int
    assert given.moves is False
    agent = tgm.TGMAgent("FrozenLake-v1", given, seed=np.int32(3)).learn(np.int64(20))
    agent.save(tmp_path / "model")
    assert tgm.TGMAgent.load(tmp_path / "model").config == given
    with pytest.raises(ConfigError, match="gamma is"):
        tgm.TGMConfig(gamma=np.array([0.9]))


def test_what_they_print_as():
    assert repr(tgm.TGMConfig()) == "TGMConfig()"
    paper = tgm.TGMConfig.paper(gamma=0.5)
    assert eval(repr(paper), {"TGMConfig": tgm.TGMConfig}) == paper
    agent = tgm.TGMAgent("FrozenLake-v1", gamma=0.9, seed=0)
    assert repr(agent) == (
        "<TGMAgent in FrozenLake-v1: 0 states after 0 steps, 0 episodes; TGMConfig(gamma=0.9)>"
    )


def test_steps_by_the_name_of_other_libraries():
    agent = tgm.TGMAgent("FrozenLake-v1", seed=0).learn(total_timesteps=30)
    assert agent.learn(1e1).n_steps == 40
    for wrong in ({}, {"n_steps": 5, "total_timesteps": 5}, {"total_timesteps": 0}):
        with pytest.raises(ConfigError, match="steps"):
            agent.learn(**wrong)


def test_another_environment_of_the_same_spaces():
    agent = tgm.TGMAgent("FrozenLake-v1", seed=0, env_kwargs={"is_slippery": False}).learn(55)
    slippery = gym.make("FrozenLake-v1")
    assert agent.set_env(slippery).env is slippery
    assert agent.is_between_episodes
    agent.learn(50)
    with pytest.raises(SpaceError, match="of another environment"):
        agent.set_env("CartPole-v1")
    assert agent.env is slippery


def test_a_loaded_agent_takes_the_settings_that_may_change(tmp_path):
    agent = agent_in_maze().learn(150)
    agent.save(tmp_path / "model")
    changed = tgm.TGMAgent.load(tmp_path / "model", agent.env, exploration="greedy", moves=False)
    assert changed.config == tgm.TGMConfig(exploration="greedy", moves=False)
    assert changed.learn(50).n_steps == 200
    same = tgm.TGMAgent.load(tmp_path / "model", config=tgm.TGMConfig(temperature=0.5))
    assert same.config.temperature == 0.5
    assert (same.means == agent.means).all()
    for refused in ({"gamma": 0.5}, {"config": tgm.TGMConfig(bandwidth=0.5)}, {"max_states": 3}):
        with pytest.raises(RunError, match=r"which stay: (gamma|bandwidth|max_states)"):
            tgm.TGMAgent.load(tmp_path / "model", **refused)
    with pytest.raises(RunError, match=r"write \*\*config, or config="):
        tgm.TGMAgent.load(tmp_path / "model", config={"exploration": "greedy"})
    changed.save(tmp_path / "model")
    with pytest.raises(RunError, match="the agent began with 'greedy'"):
        tgm.TGMAgent.load(tmp_path / "model", exploration="optimism")


def test_every_setting_that_may_change_is_one():
    assert set(MAY_CHANGE) <= set(tgm.TGMConfig().to_dict())


def test_callbacks_of_other_libraries_are_answered_in_one_line():
    class EvalCallback:
        def on_step(self):
            return True

    for wrong in (EvalCallback(), [EvalCallback()]):
        with pytest.raises(ConfigError, match="EvalCallback of another library; here it is a func"):
            as_callbacks(wrong)
    for wrong in (lambda local, glob: True, [print, lambda: None], 3, [3]):
        with pytest.raises(ConfigError, match="it must be a function"):
            as_callbacks(wrong)
    assert len(as_callbacks([print, lambda info: None, dict])) == 3


class OldWorld(gym.Env):
    """Answers like an environment of Gym, before Gymnasium."""

    observation_space = gym.spaces.Box(0.0, 1.0, (2,))
    action_space = gym.spaces.Discrete(2)

    def __init__(self, *, is_old_reset=False):
        self.is_old_reset = is_old_reset

    def reset(self, *, seed=None, options=None):
        return np.zeros(2) if self.is_old_reset else (np.zeros(2), {})

    def step(self, action):
        return np.ones(2), 0.0, False, {}


@pytest.mark.parametrize(
    ("is_old_reset", "message"),
    [(True, r"episode 1: .* wanted \(observation, info\)"), (False, "step 1: .* 4 things")],
)
def test_an_answer_of_another_form_is_refused_with_the_form_that_is_wanted(is_old_reset, message):
    agent = tgm.TGMAgent(OldWorld(is_old_reset=is_old_reset), seed=0)
    with pytest.raises(DataError, match=message):
        agent.learn(5)
    assert agent.n_steps == 0


def test_an_environment_without_spaces_is_refused():
    with pytest.raises(SpaceError, match="no observation_space"):
        tgm.TGMAgent(gym.Env())


def test_a_run_dir_that_is_no_path_is_refused():
    with pytest.raises(ConfigError, match="run_dir is 5"):
        agent_in_maze().learn(5, run_dir=5)


def test_a_wrong_key_is_called_one():
    with pytest.raises(ConfigError, match="KeyError: '9x9'"):
        tgm.TGMAgent("FrozenLake-v1", env_kwargs={"map_name": "9x9"})


def test_load_takes_the_arguments_of_an_environment(tmp_path):
    agent_in_maze().learn(20).save(tmp_path / "a.tgm")
    again = tgm.TGMAgent.load(
        tmp_path / "a.tgm", "tgm/Maze-v0", env_kwargs=MAZE, exploration="greedy"
    )
    assert again.env.unwrapped.maze.name == "8"
    with pytest.raises(TGMError, match="env_kwargs belong to"):
        tgm.TGMAgent.load(tmp_path / "a.tgm", env_kwargs=MAZE)
