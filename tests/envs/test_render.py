"""Drawings: text to the letter, and pictures by what must be where."""

import gymnasium as gym
import numpy as np
import pytest

from tgm.envs import load_maze, random_maze
from tgm.envs.render import draw_picture, draw_text


def test_text_shows_walls_mouse_cheese_and_trace():
    drawn = draw_text(load_maze("8"), (3, 1), [(1, 1), (2, 1), (3, 1)])
    assert drawn == (
        "      ██████\n    ████  ██\n    ██◆   ██\n████████  ██\n██· · M   ██\n████████████\n"
    )


def test_mouse_on_the_cheese_hides_it_and_a_trace_does_not():
    maze = load_maze("25")
    assert "◆" not in draw_text(maze, maze.goal)
    assert "◆" in draw_text(maze, (1, 1), [maze.goal, (1, 1)])


def test_environment_draws_its_own_episode():
    env = gym.make("tgm/Maze-v0", maze="25", render_mode="ansi")
    env.reset(seed=0)
    for action in (3, 1, 1, 0):
        env.step(action)
    assert env.render() == ("██████████\n██  · ◆ ██\n██  M   ██\n██· ·   ██\n██████████\n")
    env.reset()
    assert "·" not in env.render()


def _middle(picture, maze, cell, size=48):
    x, y = cell
    return picture[(maze.height - 1 - y) * size + size // 2, x * size + size // 2].astype(int)


def test_picture_shows_walls_mouse_cheese_and_trace():
    maze = load_maze("27")
    bare = draw_picture(maze)
    full = draw_picture(maze, (3, 2), [(1, 1), (2, 1), (3, 1), (3, 2)])
    assert bare.shape == (7 * 48, 7 * 48, 3)
    assert bare.dtype == np.uint8
    wall, floor = _middle(bare, maze, (0, 3)), _middle(bare, maze, (2, 2))
    assert floor.sum() - wall.sum() > 200
    cheese = _middle(bare, maze, maze.goal)
    assert cheese[0] - cheese[2] > 80, "cheese is yellow"
    changed = (
        np.abs(full.astype(int) - bare).sum(axis=2).reshape(7, 48, 7, 48).max(axis=(1, 3)) > 60
    )
    assert {(int(x), 6 - int(row)) for row, x in np.argwhere(changed)} == {
        (1, 1),
        (2, 1),
        (3, 1),
        (3, 2),
    }


def test_outside_is_paper():
    maze = load_maze("8")
    picture = draw_picture(maze)
    assert _middle(picture, maze, (0, 5)).tolist() == [255, 255, 255]


@pytest.mark.parametrize(("side", "size"), [(18, 48), (98, 10), (398, 2)])
def test_large_mazes_get_smaller_cells(side, size):
    maze = random_maze("open", side, side, 0)
    picture = draw_picture(maze, maze.start, maze.shortest_path)
    assert picture.shape == (maze.height * size, maze.width * size, 3)
    colours = {
        tuple(_middle(picture, maze, cell, size)) for cell in (maze.start, maze.goal, (9, 9))
    }
    assert len(colours) == 3, "mouse, cheese and floor can be told apart"
