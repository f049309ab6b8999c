"""One trial: its measures by hand, and the same result every time."""

import json
from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest

import tgm
from tgm.agent.info import EpisodeInfo
from tgm.envs import Maze, load_maze, random_maze
from tgm.errors import ConfigError, RunError
from tgm.experiments.evaluation import MazeWorld
from tgm.experiments.harness.agent import InPieces
from tgm.experiments.harness.plain import from_plain, to_plain
from tgm.experiments.harness.training import check_steps, train
from tgm.experiments.harness.trial import Trial, TrialResult, recent_reward, regret, run_trial

CORRIDOR = Maze("corridor", ("#####", "#S.G#", "#####"))  # right, right, eat: three steps, -1


def episodes(*returns):
    return [EpisodeInfo(n, n, reward, 1, True) for n, reward in enumerate(returns, start=1)]


def test_the_last_hundred_episodes():
    assert recent_reward([]) is None
    assert recent_reward(episodes(-3.0, -5.0)) == -4.0
    assert recent_reward(episodes(*[-50.0] * 30, *[-4.0] * 100)) == -4.0
    assert recent_reward(episodes(*[-50.0] * 30, *[-4.0] * 99)) == pytest.approx(-4.46)


def test_regret_by_hand():
    # In ten steps the best policy eats at steps 3, 6 and 9: 3 - 7 = -4.
    assert regret(CORRIDOR, 10, -4.0, limit=50) == 0.0
    assert regret(CORRIDOR, 10, -10.0, limit=50) == 6.0
    # With two steps to an episode nobody gets there.
    assert regret(CORRIDOR, 10, -10.0, limit=2) == 0.0
    island = Maze("island", ("####", "#S.#", "####", "#G##", "####"))
    assert regret(island, 10, -10.0, limit=50) is None


def test_the_oracle_loses_little_and_random_actions_much():
    maze = load_maze("25")
    lost = [run_trial(Trial(maze, agent, 0, 500)).regret for agent in ("oracle", "random")]
    assert 0.0 <= lost[0] <= 30.0  # it tries all 45 (cell, action) pairs once
    assert lost[1] > 150.0  # 200 in all for somebody who never eats


def test_checks_end_with_the_last_step():
    trial = Trial(CORRIDOR, "random", 0, 1050)
    assert trial.checks()[-3:] == [990, 1000, 1050]
    assert replace(trial, check_every=400).checks() == [400, 800, 1050]
    assert replace(trial, steps=3).checks() == [3]


def test_a_trial_is_the_run_of_an_agent_in_its_maze():
    """The recorder of episodes changes nothing of what the agent learns."""
    maze = load_maze("8")
    for seed in (0, 1):
        result = run_trial(Trial(maze, "tgm", seed, 150))
        agent = tgm.TGMAgent(gym.make("tgm/Maze-v0", maze=maze), seed=seed)
        run = train(InPieces(agent), MazeWorld(maze), seed, list(check_steps(150)))
        assert result.solved_at == run.solved_at
        assert result.n_states == agent.n_states
        assert tuple((check.step, check.greedy_return) for check in result.checks) == run.returns


def test_settings_and_units_reach_the_agent():
    trial = Trial(load_maze("8"), "tgm", 2, 150)
    far = replace(trial, settings=(("bandwidth", "auto"),), scale=1e3, shift=1e4)
    assert run_trial(far).is_exact  # judged in cells
    wide = run_trial(replace(trial, settings=(("bandwidth", 5.0),)))
    assert wide.n_states < run_trial(trial).n_states
    with pytest.raises(ConfigError, match="'oracle' takes no settings, but got bandwidth"):
        run_trial(replace(trial, agent="oracle", settings=(("bandwidth", 5.0),)))


@pytest.mark.parametrize("agent", ["tgm-paper", "dqn", "ppo-tuned", "oracle"])
def test_the_result_depends_on_the_trial_alone(agent):
    trial = Trial(load_maze("8"), agent, 7, 250, 50)
    first = run_trial(trial)
    np.random.seed(1)  # noqa: NPY002 (somebody else's seed must not matter)
    run_trial(replace(trial, seed=8))
    again = run_trial(trial)
    assert replace(again, seconds=0.0) == replace(first, seconds=0.0)
    assert [check.step for check in first.checks] == [50, 100, 150, 200, 250]
    assert first.final_return == first.checks[-1].greedy_return
    assert first.seconds > 0.0


def test_random_actions_do_not_solve_a_maze_whose_goal_is_beyond_the_limit():
    trial = Trial(random_maze("perfect", 20, 20, 3), "random", 0, 100, max_episode_steps=50)
    result = run_trial(trial)
    assert result.final_return == -50.0 == trial.best_return
    assert result.solved_at is None


def test_a_trial_is_lived_and_judged_with_its_noise_and_limit():
    # The oracle learns by the true cell, but acts by what it sees.
    trial = Trial(load_maze("25"), "oracle", 0, 300, noise=0.0, max_episode_steps=7)
    clear, blurred = run_trial(trial), run_trial(replace(trial, noise=0.6))
    assert clear.n_episodes >= 300 // 7
    assert min(check.greedy_return for check in clear.checks) == -7
    assert (clear.final_return, clear.solved_at is not None) == (-3, True)
    assert -7 <= blurred.final_return < -3.5
    assert blurred.solved_at is None


def test_a_result_as_plain_values_and_back():
    result = run_trial(Trial(CORRIDOR, "tgm", 0, 40))
    plain = json.loads(json.dumps(to_plain(result)))
    assert from_plain(TrialResult, plain) == result
    del plain["regret"]
    with pytest.raises(RunError, match="regret"):
        from_plain(TrialResult, plain)
