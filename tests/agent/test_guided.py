"""Somebody else chooses the actions: the agent learns exactly as from its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import tgm
from tgm.errors import ConfigError, DataError, SpaceError
from tgm.runs import Run


class Listener(gym.Wrapper[Any, Any, Any, Any]):
    """Writes down what the agent did, as arguments of `start_episode` and `observe`."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self.heard: list[tuple[Any, ...]] = []

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(**options)
        self.heard.append((observation.copy() if hasattr(observation, "copy") else observation,))
        return observation, info

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.heard.append((action, reward, observation, terminated, truncated))
        return observation, reward, terminated, truncated, info


def tell(agent: tgm.TGMAgent, heard: list[tuple[Any, ...]]) -> None:
    for what in heard:
        if len(what) == 1:
            agent.start_episode(*what)
        else:
            agent.observe(*what)


WORLDS = [
    ("tgm/Maze-v0", {"maze": "8"}, 150),
    ("FrozenLake-v1", {}, 120),
    ("CartPole-v1", {}, 70),
]


@pytest.mark.parametrize(("name", "options", "n_steps"), WORLDS)
def test_observing_is_learning_to_the_bit(
    name: str, options: dict[str, Any], n_steps: int, tmp_path: Path
) -> None:
    env = Listener(gym.make(name, **options))
    own = tgm.TGMAgent(env, seed=3).learn(n_steps)
    guided = tgm.TGMAgent.from_spaces(env.observation_space, env.action_space, seed=3)
    tell(guided, env.heard)
    assert (guided.n_steps, guided.n_episodes) == (own.n_steps, own.n_episodes)
    ours, theirs = own.learner.to_arrays(), guided.learner.to_arrays()
    assert ours.keys() == theirs.keys()
    for key, values in ours.items():
        assert np.asarray(values).tobytes() == np.asarray(theirs[key]).tobytes(), key
    # Whatever is random goes on alike: the next steps of both are the same ones.
    own.save(tmp_path / "own")
    guided.save(tmp_path / "guided")
    again, other = (tgm.TGMAgent.load(tmp_path / file, env) for file in ("own", "guided"))
    again.learn(20), other.learn(20)
    assert again.q_values(env.heard[0][0]).tobytes() == other.q_values(env.heard[0][0]).tobytes()


def maze_agent() -> tuple[tgm.TGMAgent, gym.Env[Any, Any]]:
    env = gym.make("tgm/Maze-v0", maze="8")
    return tgm.TGMAgent.from_spaces(env.observation_space, env.action_space, seed=0), env


def test_bad_arguments_are_named_and_cost_nothing() -> None:
    agent, env = maze_agent()
    observation, _ = env.reset(seed=0)
    with pytest.raises(ConfigError, match="step 1: no episode is under way; call start_episode"):
        agent.observe(0, 0.0, observation, False, False)
    with pytest.raises(ConfigError, match="has no environment"):
        agent.learn(1)
    agent.start_episode(observation)
    for bad, message in [
        ((9, 0.0, observation), "step 1: the action is 9; it must be a whole number: 0 to 4"),
        ((0.5, 0.0, observation), "the action is 0.5"),
        ((None, 0.0, observation), "the action is None"),
        ((0, np.nan, observation), "the reward is nan"),
        ((0, 0.0, [np.nan, 1.0]), r"observation\[0\] is nan"),
        ((0, 0.0, [1.0]), r"shape \(1,\), not \(2,\)"),
        ((0, 0.0, observation, "yes"), "terminated is 'yes'; it must be True or False"),
        ((0, 0.0, observation, False, 2), "truncated is 2; it must be True or False"),
    ]:
        with pytest.raises(DataError, match=message):
            agent.observe(*bad)
        assert not agent.is_between_episodes
        assert agent.n_steps == 0
    assert agent.observe(np.int64(0), 0, observation).n_steps == 1


def test_an_episode_that_is_under_way_is_broken_off() -> None:
    agent, env = maze_agent()
    observation, _ = env.reset(seed=0)
    agent.start_episode(observation).observe(0, 0.0, observation)
    agent.start_episode(observation)
    assert agent.n_episodes == 2
    agent.observe(0, 1.0, observation, terminated=True)
    assert agent.is_between_episodes
    # An environment of its own is elsewhere: learning begins an episode there.
    own = tgm.TGMAgent(env, seed=0).start_episode(observation).learn(3)
    assert own.n_episodes == 2


def test_actions_are_those_of_the_environment() -> None:
    box = gym.spaces.Box(-1.0, 1.0, (1,))
    agent = tgm.TGMAgent.from_spaces(box, gym.spaces.Discrete(2, start=5), seed=0)
    agent.start_episode([0.0]).observe(6, 0.0, [0.1]).observe(np.array([5]), 0.0, [0.2])
    with pytest.raises(DataError, match="whole number: 5 to 6"):
        agent.observe(0, 0.0, [0.1])
    pair = tgm.TGMAgent.from_spaces(box, gym.spaces.MultiDiscrete([2, 3]), seed=0)
    pair.start_episode([0.0]).observe([1, 2], 0.0, [0.1])
    with pytest.raises(DataError, match="array of whole numbers: 0 to 1, 0 to 2"):
        pair.observe([2, 0], 0.0, [0.1])


def test_what_is_observed_can_be_recorded(tmp_path: Path) -> None:
    env = Listener(gym.make("tgm/Maze-v0", maze="8"))
    tgm.TGMAgent(env, seed=1).learn(60)
    agent = tgm.TGMAgent.from_spaces(env.observation_space, env.action_space, seed=1)
    with agent.recording(tmp_path / "run", n_steps=60):
        with pytest.raises(ConfigError, match="recorded already"), agent.recording(tmp_path / "b"):
            pass
        tell(agent, env.heard)
    run = Run.open(tmp_path / "run")
    assert run.status().state == "finished"
    assert run.agent().n_steps == 60


@pytest.mark.parametrize(
    "names",
    [{"action_names": ["a"]}, {"action_names": ["a", "a"]}, {"feature_names": ["x", "y"]}],
)
def test_names_that_do_not_fit_the_spaces_are_refused(names: dict[str, list[str]]) -> None:
    spaces = gym.spaces.Box(-1, 1, (1,)), gym.spaces.Discrete(2)
    with pytest.raises(SpaceError, match="different names, one for each"):
        tgm.TGMAgent.from_spaces(*spaces, seed=0, **names)
    agent = tgm.TGMAgent.from_spaces(*spaces, seed=0, action_names=["up", "down"])
    assert agent.interface.action_names == ("up", "down")
