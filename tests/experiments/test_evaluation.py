"""Greedy episodes with policies whose returns are known."""

import gymnasium as gym
import pytest

from tgm.envs import load_maze
from tgm.experiments.evaluation import Evaluation, evaluate


class Scripted:
    """Plays the same actions in every episode; `state` counts the steps."""

    def __init__(self, actions):
        self.actions = actions

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        assert deterministic
        step = state or 0
        return self.actions[step % len(self.actions)], step + 1


def test_the_shortest_path_solves_maze_25():
    path = Scripted([3, 3, 1, 1, 4])
    outcome = evaluate(path, gym.make("tgm/Maze-v0", maze="25"), n_episodes=3, seed=0)
    assert outcome.returns == (-3, -3, -3)
    assert outcome.lengths == (5, 5, 5)
    assert outcome.solves(load_maze("25"))


def test_standing_still_does_not():
    outcome = evaluate(Scripted([4]), gym.make("tgm/Maze-v0", maze="25"), n_episodes=2, seed=0)
    assert outcome.returns == (-50, -50)
    assert not outcome.solves(load_maze("25"))


@pytest.mark.parametrize(("mean", "solved"), [(-3.5, True), (-3.6, False)])
def test_solved_is_within_half_a_step_of_the_best(mean, solved):
    assert Evaluation((mean,), (5,)).solves(load_maze("25")) is solved
