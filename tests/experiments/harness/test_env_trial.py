"""Trials in any environment: their measures, exact where the rules are open."""

import gymnasium as gym
import numpy as np
import pytest

from tgm.envs import facts_of_env
from tgm.envs.registry import registered_env
from tgm.experiments.evaluation import evaluate, evaluate_copies
from tgm.experiments.harness.env_trial import EnvTrial, run_env_trial, world_name


class Table:
    """A policy that is a function of the state."""

    def __init__(self, actions):
        self.actions = np.asarray(actions)

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        return self.actions[observation], state


def lake_trial(agent, **more):
    spec = registered_env("FrozenLake-v1", {"is_slippery": False})
    return EnvTrial.of(spec, agent, 0, 300, check_every=100, **more)


def test_a_lake_is_solved_and_its_structure_is_known():
    result = run_env_trial(lake_trial("tgm"))
    assert (result.optimal_return, result.solved_return, result.final_return) == (1.0, 0.7, 1.0)
    assert (result.n_states, result.true_states, result.is_exact) == (11, 11, True)
    assert (result.max_episode_steps, result.solved_at is not None) == (100, True)
    assert [check.step for check in result.checks] == [100, 200, 300]
    again = run_env_trial(lake_trial("tgm"))
    assert again.checks == result.checks


def test_the_user_may_say_what_is_solved():
    assert run_env_trial(lake_trial("rmax", solved_return=1.5)).solved_at is None
    assert run_env_trial(lake_trial("rmax", solved_return=1.0)).solved_at is not None


def test_an_environment_without_rules_has_no_optimum_and_no_structure():
    trial = EnvTrial.of(registered_env("CartPole-v1"), "random", 0, 60, check_every=60)
    result = run_env_trial(trial)
    assert (result.optimal_return, result.true_states, result.is_exact) == (None, None, None)
    assert (result.solved_return, result.max_episode_steps) == (475.0, 500)
    assert 9.0 <= result.final_return <= 60.0


def test_the_name_of_a_world_has_its_arguments():
    trial = EnvTrial.of(registered_env("FrozenLake-v1", {"map_name": "8x8"}), "tgm", 0, 10)
    assert trial.world == "FrozenLake-v1 map_name=8x8"
    assert trial.folder_name == "FrozenLake-v1_map_name_8x8-tgm-seed-0-steps-10"
    assert world_name("CartPole-v1", {}) == "CartPole-v1"


def test_copies_are_played_as_single_episodes_are():
    policy = Table(np.random.default_rng(0).integers(4, size=16))
    seeds = np.random.SeedSequence(5).spawn(12)
    side_by_side = evaluate_copies(policy, [gym.make("FrozenLake-v1") for _ in seeds], seeds)
    assert side_by_side == evaluate(policy, gym.make("FrozenLake-v1"), 12, 5)


@pytest.mark.parametrize(
    ("env_id", "options", "best", "solved"),
    [
        ("FrozenLake-v1", {"is_slippery": False}, 1.0, 0.7),
        ("CliffWalking-v1", {}, -13.0, -13.65),
        ("Taxi-v4", {}, 7.93, 0.95 * 7.93),  # its own threshold, 8, is beyond the best return
    ],
)
def test_the_optimum_of_open_rules(env_id, options, best, solved):
    facts = facts_of_env(gym.make(env_id, **options))
    assert facts.optimal_return == pytest.approx(best, abs=0.01)
    assert facts.solved_return == pytest.approx(solved, abs=0.01)


def test_the_optimum_of_a_lake_is_that_of_its_best_policy():
    """By value iteration here against the mean return of the policy that it gives, played."""
    facts = facts_of_env(gym.make("FrozenLake-v1"))
    best = Table(facts.table.action_values(100).argmax(axis=1))
    played = evaluate(best, gym.make("FrozenLake-v1"), 400, 0).returns
    error = np.std(played) / np.sqrt(400)
    assert abs(np.mean(played) - facts.optimal_return) < 4 * error


def test_rules_that_are_not_those_of_the_observations_are_not_used():
    env = gym.make("FrozenLake-v1")
    seen = gym.wrappers.TransformObservation(
        env, lambda x: np.eye(16)[x], gym.spaces.Box(0.0, 1.0, (16,), np.float64)
    )
    assert facts_of_env(seen).table is None
    assert facts_of_env(gym.make("Blackjack-v1")).table is None
