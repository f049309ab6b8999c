"""The best expected return with slips, against hand and simulation."""

import math

import pytest

from tgm.envs import Maze, load_maze
from tgm.envs.optimum import best_mean_return

CORRIDOR = Maze("corridor", ("####", "#SG#", "####"))


def test_without_slip_it_is_the_best_return():
    maze = load_maze("27")
    assert best_mean_return(maze, 50, 0.0) == maze.best_return(50) == -7.0
    assert best_mean_return(maze, 5, 0.0) == -5.0


def test_a_corridor_of_two_cells_by_hand():
    # At the goal: eats with 1 - s; else slips, of which one move in four leads back.
    slip = 0.4
    # v_goal = (1-s) + s (-1 + 3/4 v_goal + 1/4 v_start); v_start = -1 + right v_goal + ...
    right = 1 - slip + slip / 4
    # v_start (1 - (1 - right)) = -1 + right v_goal
    # v_goal (1 - 3 s / 4) = 1 - 2 s + s / 4 v_start
    a, b = 1 - 0.75 * slip, slip / 4
    v_goal = (1 - 2 * slip - b / right) / (a - b)
    assert best_mean_return(CORRIDOR, None, slip) == pytest.approx(v_goal - 1 / right)


def test_a_time_limit_costs():
    assert best_mean_return(CORRIDOR, 1, 0.4) == -1.0
    two = -1 + 0.7 * (0.6 * 1 - 0.4) + 0.3 * -1
    assert best_mean_return(CORRIDOR, 2, 0.4) == pytest.approx(two)


def test_lava_is_avoided_the_more_the_mouse_slips():
    maze = Maze("bridge", ("######", "#S..G#", "#LLLL#", "######"))
    values = [best_mean_return(maze, 50, slip) for slip in (0.0, 0.1, 0.3)]
    assert values[0] == -2.0
    assert values == sorted(values, reverse=True)
    assert values[2] > -12


@pytest.mark.filterwarnings("ignore")
def test_without_a_way_there_is_no_best():
    walled = Maze("walled", ("#####", "#S#G#", "#####"))
    assert best_mean_return(walled, None, 0.2) == -math.inf
    assert best_mean_return(walled, 50, 0.2) == -50
