"""Greedy episodes with policies whose returns are known."""

import gymnasium as gym
import numpy as np
import pytest

from tgm.envs import load_maze, random_maze
from tgm.experiments.evaluation import Evaluation, MazeWorld, evaluate, evaluate_side_by_side


class Scripted:
    """Plays the same actions in every episode; `state` counts the steps."""

    def __init__(self, actions):
        self.actions = actions

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        assert deterministic
        step = state or 0
        return self.actions[step % len(self.actions)], step + 1


def actions_along(maze):
    """The moves of the shortest way, and eating."""
    steps = zip(maze.shortest_path, maze.shortest_path[1:], strict=False)
    return [*(maze.moves[here].index(there) for here, there in steps), 4]


def test_the_shortest_path_solves_maze_25():
    path = Scripted([3, 3, 1, 1, 4])
    outcome = evaluate(path, gym.make("tgm/Maze-v0", maze="25"), n_episodes=3, seed=0)
    assert outcome.returns == (-3, -3, -3)
    assert outcome.lengths == (5, 5, 5)
    assert outcome.terminated == (True, True, True)
    assert outcome.solves(load_maze("25"))


def test_standing_still_does_not():
    outcome = evaluate(Scripted([4]), gym.make("tgm/Maze-v0", maze="25"), n_episodes=2, seed=0)
    assert outcome.returns == (-50, -50)
    assert outcome.terminated == (False, False)
    assert not outcome.solves(load_maze("25"))


@pytest.mark.parametrize(("mean", "solved"), [(-3.5, True), (-3.6, False)])
def test_solved_is_within_half_a_step_of_the_best(mean, solved):
    assert Evaluation((mean,), (5,), (True,)).solves(load_maze("25")) is solved


@pytest.mark.parametrize("limit", [1, 50, 281])
def test_nothing_solves_a_maze_whose_goal_is_beyond_the_limit(limit):
    maze = random_maze("perfect", 20, 20, 3)
    env = gym.make("tgm/Maze-v0", maze=maze, max_episode_steps=limit)
    for outcome in (
        evaluate(Scripted(actions_along(maze)), env, n_episodes=2, seed=0),
        evaluate_side_by_side(
            Scripted(actions_along(maze)),
            MazeWorld(maze, limit=limit),
            2,
            np.random.default_rng(0),
        ),
    ):
        assert outcome.mean_return == -limit == maze.best_return(limit)
        assert not outcome.solves(maze)


def test_the_shortest_way_solves_it_within_the_default_limit():
    maze = random_maze("perfect", 20, 20, 3)
    way = Scripted(actions_along(maze))
    for outcome in (
        evaluate(way, gym.make("tgm/Maze-v0", maze=maze), n_episodes=2, seed=0),
        evaluate_side_by_side(way, MazeWorld(maze), 2, np.random.default_rng(0)),
    ):
        assert outcome.mean_return == -280
        assert outcome.solves(maze)


def test_an_episode_that_is_cut_off_just_before_the_goal_counts_as_not_solved():
    # 19 perfect episodes and one that the limit cuts off one step too soon: the mean is near.
    almost = Evaluation((-3.0,) * 19 + (-5.0,), (5,) * 20, (True,) * 19 + (False,))
    assert almost.mean_return >= -3.5
    assert not almost.solves(load_maze("25"))
