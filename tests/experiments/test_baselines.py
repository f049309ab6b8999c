"""The agents of a comparison: same world, same seeds, and what each may know."""

import builtins

import gymnasium as gym
import numpy as np
import pytest

from tgm.envs import load_maze, maze_names
from tgm.errors import ConfigError
from tgm.experiments.baselines import AGENTS, OracleAgent, check_extras, make_agent
from tgm.experiments.baselines.deep import DEEP_CONFIGS
from tgm.experiments.baselines.random_agent import RandomAgent
from tgm.experiments.baselines.recording import EpisodeRecorder, TimeLimitAsEnd
from tgm.experiments.evaluation import MazeWorld, evaluate_side_by_side
from tgm.experiments.harness.agent import InPieces

DOWN, UP, LEFT, RIGHT, EAT = range(5)
PATH_25 = [RIGHT, RIGHT, UP, UP, EAT]


def maze_env(name="25", seed=0) -> EpisodeRecorder:
    return EpisodeRecorder(gym.make("tgm/Maze-v0", maze=name), seed)


def play(env, actions):
    """The outcomes of some actions after a reset, without the observations."""
    env.reset()
    return [env.step(action)[1:4] for action in actions]


def test_the_recorder_writes_down_episodes_and_their_ends():
    env = maze_env()
    play(env, PATH_25)
    play(env, [EAT] * 50)
    first, second = env.episodes
    assert (first.episode, first.step, first.total_reward, first.length) == (1, 5, -3.0, 5)
    assert (second.episode, second.step, second.total_reward, second.length) == (2, 55, -50.0, 50)
    assert first.terminated
    assert not second.terminated
    assert (env.n_steps, env.total_reward) == (55, -53.0)


def test_an_episode_has_the_same_noise_whoever_lives_it():
    import tgm

    seen = []

    class Spy(gym.ObservationWrapper):
        def observation(self, observation):
            seen.append(observation)
            return observation

    tgm.TGMAgent(Spy(gym.make("tgm/Maze-v0", maze="25")), seed=3).learn(120)
    own = seen.copy()
    seen.clear()
    tgm.TGMAgent(Spy(maze_env(seed=3)), seed=3).learn(120)
    np.testing.assert_array_equal(seen, own)  # the recorder asks for what TGMAgent asks for
    first = own[0]
    np.testing.assert_array_equal(maze_env(seed=3).reset(seed=99)[0], first)
    assert not np.array_equal(maze_env(seed=4).reset()[0], first)


def test_the_paper_saw_a_time_limit_as_the_end():
    env = TimeLimitAsEnd(maze_env())
    outcomes = play(env, [EAT] * 50)
    assert outcomes[48] == (-1.0, False, False)
    assert outcomes[49] == (-1.0, True, False)
    assert not env.env.episodes[0].terminated  # the record tells the truth


@pytest.mark.parametrize(("name", "is_told"), [("dqn", False), ("dqn-tuned", True)])
def test_dqn_looks_behind_a_time_limit_only_if_it_is_told_of_it(name, is_told):
    # In maze 10 no random walk of 50 steps reaches the goal: every episode is cut off.
    env = maze_env("10")
    learner = make_agent(name, env, seed=0)
    learner.learn(152)
    assert [episode.terminated for episode in env.episodes] == [False] * 3
    buffer = learner.model.replay_buffer
    assert buffer.dones[[49, 99, 149], 0].tolist() == [1.0, 1.0, 1.0]
    # What sample() multiplies the next value with: 1 - dones * (1 - timeouts).
    assert buffer.timeouts[[49, 99, 149], 0].tolist() == [float(is_told)] * 3


@pytest.mark.parametrize("name", ["a2c", "ppo", "a2c-tuned", "ppo-tuned"])
def test_the_reward_at_a_time_limit_holds_the_value_behind_it_only_if_tuned(name):
    learner = make_agent(name, maze_env("10"), seed=0)
    buffer, rewards = learner.model.rollout_buffer, []
    add = buffer.add

    def spy(observation, action, reward, *rest):
        rewards.append(reward.item())
        add(observation, action, reward, *rest)

    buffer.add = spy
    learner.learn(60)
    assert set(rewards[:49] + rewards[50:]) == {-1.0}
    assert (rewards[49] == -1.0) is DEEP_CONFIGS[name].time_limit_ends


def test_the_settings_of_the_paper():
    dqn = make_agent("dqn", maze_env(), seed=0).model
    assert (dqn.learning_rate, dqn.learning_starts) == (0.01, 0)
    assert (dqn.target_update_interval, dqn.exploration_fraction) == (100, 0.7)
    assert (dqn.gamma, dqn.batch_size, dqn.buffer_size) == (0.99, 32, 1_000_000)
    a2c = make_agent("a2c", maze_env(), seed=0).model
    assert (a2c.learning_rate, a2c.n_steps, a2c.gamma) == (1e-4, 5, 0.99)


@pytest.mark.parametrize("name", AGENTS)
def test_looks_come_when_asked_for_and_change_nothing(name):
    quiet, watched = maze_env("8", seed=2), maze_env("8", seed=2)
    make_agent(name, quiet, seed=2).learn(130)
    learner = make_agent(name, watched, seed=2)
    steps = []

    def look(step):
        steps.append((step, watched.n_steps))
        learner.predict(np.ones((4, 2)), deterministic=True)

    learner.learn(130, look, [10, 25, 130])
    assert steps == [(10, 10), (25, 25), (130, 130)]
    assert watched.n_steps == quiet.n_steps == 130
    assert watched.episodes == quiet.episodes
    assert watched.total_reward == quiet.total_reward


@pytest.mark.parametrize("name", ["dqn", "a2c-tuned", "ppo-tuned", "random"])
def test_the_same_seed_gives_the_same_agent(name):
    answers = []
    for seed in (5, 5, 6):
        env = maze_env("27", seed)
        learner = make_agent(name, env, seed)
        learner.learn(300)
        points = np.random.default_rng(0).uniform(0, 7, size=(200, 2))
        answers.append((env.total_reward, learner.predict(points)[0].tolist()))
    assert answers[0] == answers[1]
    assert answers[0] != answers[2]


def test_one_observation_and_a_batch_get_the_same_answer():
    point = np.array([1.1, 0.9])
    for name in ("tgm", "dqn", "dqn-tuned", "oracle"):
        learner = make_agent(name, maze_env(), seed=0)
        learner.learn(60)
        one, _ = learner.predict(point, deterministic=True)
        batch, _ = learner.predict(point[None], deterministic=True)
        assert batch.shape == (1,)
        assert int(one) == batch[0]


def test_a_random_agent_draws_evenly():
    agent = RandomAgent(maze_env(), seed=0)
    drawn, _ = agent.predict(np.zeros((10_000, 2)))
    shares = np.bincount(drawn, minlength=5) / 10_000
    np.testing.assert_allclose(shares, 0.2, atol=0.02)


def test_states_are_counted_where_there_are_any():
    assert make_agent("dqn", maze_env(), 0).n_states is None
    assert make_agent("random", maze_env(), 0).n_states is None
    learner = InPieces(agent := OracleAgent(maze_env(), seed=0), lambda: agent.n_states)
    learner.learn(100)
    assert learner.n_states == len(load_maze("25").cells)


def test_an_unknown_agent_gets_a_hint():
    with pytest.raises(ConfigError, match="unknown agent 'dnq'; did you mean 'dqn'"):
        make_agent("dnq", maze_env(), 0)


def test_a_missing_extra_is_named(monkeypatch):
    real_import = builtins.__import__

    def without(name, *rest, **named):
        if name.startswith("stable_baselines3"):
            raise ImportError("gone", name="stable_baselines3")
        return real_import(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ConfigError, match=r"stable_baselines3; pip install .*\[baselines\]"):
        make_agent("dqn", maze_env(), 0)


def test_a_missing_extra_is_named_before_anything_runs(monkeypatch):
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    check_extras(["tgm", "random"])
    with pytest.raises(ConfigError, match=r"a2c needs .*\[baselines\]"):
        check_extras(["tgm", "a2c"])


@pytest.mark.parametrize("name", maze_names())
def test_the_oracle_finds_the_shortest_way(name):
    env = gym.make("tgm/Maze-v0", maze=name)
    maze = env.unwrapped.maze
    agent = OracleAgent(env, seed=0).learn(1500)
    assert agent.way_length == len(maze.shortest_path) - 1
    silent = MazeWorld(maze, noise=0.0)
    outcome = evaluate_side_by_side(agent, silent, 1, np.random.default_rng(0))
    assert outcome.mean_return == maze.optimal_return


def test_the_oracle_tries_the_nearest_untried_action_first():
    env = gym.make("tgm/Maze-v0", maze="27")
    agent = OracleAgent(env, seed=0).learn(5)
    # Five actions in reach of the start: none is repeated before it is used up.
    assert sum(len(tried) for tried in agent._known.values()) == 5
