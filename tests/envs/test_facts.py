"""Facts about environments: optimum, what counts as solved, names."""

import pytest

from tgm.envs import EnvSpec, Maze, facts_of, load_maze
from tgm.envs.registry import registered_env


def test_a_maze_has_its_optimum_cells_and_names():
    facts = facts_of(EnvSpec.of_maze(load_maze("27")))
    assert (facts.optimal_return, facts.solved_return) == (-7, -7.5)
    assert facts.maze.cells == load_maze("27").cells
    assert facts.action_names == ("down", "up", "left", "right", "eat")
    assert facts.feature_names == ("x", "y")


@pytest.mark.parametrize(
    ("mean_return", "terminated", "solved"),
    [
        (-7.5, (True, True), True),
        (-7.51, (True, True), False),
        (-7.0, (True, False), False),  # the time limit ended one episode
    ],
)
def test_a_maze_is_solved_within_half_a_reward_at_the_goal(mean_return, terminated, solved):
    facts = facts_of(EnvSpec.of_maze(load_maze("27")))
    assert facts.is_solved(mean_return, terminated) is solved


def test_no_return_solves_a_goal_beyond_the_limit():
    facts = facts_of(EnvSpec.of_maze(load_maze("27"), max_episode_steps=5))
    assert facts.optimal_return == -5
    assert "an episode has only 5" in facts.why_unsolvable
    assert facts.is_solved(-5, (False,)) is False


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("limit", "best"), [(-1, None), (50, -50)])
def test_a_maze_without_a_way_to_the_goal(limit, best):
    maze = Maze("walled", ("#####", "#S#G#", "#####"))
    facts = facts_of(EnvSpec.of_maze(maze, max_episode_steps=limit))
    assert facts.optimal_return == best
    assert facts.is_solved(0.0, (True,)) is False


def test_an_environment_is_solved_from_its_registered_threshold():
    facts = facts_of(registered_env("CartPole-v1"))
    assert (facts.maze, facts.optimal_return, facts.solved_return) == (None, None, 475)
    assert facts.is_solved(475.0, (False, False)) is True  # the time limit is the aim
    assert facts.is_solved(474.9, (True, True)) is False


@pytest.mark.parametrize("env_id", ["Pendulum-v1", "NotRegistered-v0", ""])
def test_without_a_threshold_nothing_is_called_solved(env_id):
    assert facts_of(EnvSpec(env_id)).is_solved(1e9, (True,)) is None
