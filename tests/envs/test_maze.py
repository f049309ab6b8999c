"""The maze as a value: the paper's table, the rules of moving, shortest paths by another way."""

import dataclasses
import math

import numpy as np
import pytest

from tgm.envs import Maze, load_maze, maze_names, random_maze
from tgm.errors import ConfigError, MazeError

DOWN, UP, LEFT, RIGHT, EAT = range(5)

CORRIDOR = Maze("corridor", ("#####", "#S.G#", "#####"))
ISLAND = Maze("island", ("#####", "#S#G#", "#####"))


@pytest.mark.parametrize(
    ("name", "n_cells", "best"),
    [("8", 8, -5), ("10", 29, -27), ("20", 9, -5), ("25", 9, -3), ("26", 16, -5), ("27", 25, -7)],
)
def test_table_of_the_paper(name, n_cells, best):
    maze = load_maze(name)
    assert len(maze.cells) == n_cells
    assert maze.optimal_return == best


def test_cells_of_maze_8_are_those_of_the_drawing():
    maze = load_maze("8")
    assert (maze.width, maze.height) == (6, 6)
    assert maze.start == (1, 1)
    assert maze.goal == (3, 3)
    assert maze.cells == ((1, 1), (2, 1), (3, 1), (4, 1), (4, 2), (3, 3), (4, 3), (4, 4))
    assert maze.shortest_path == ((1, 1), (2, 1), (3, 1), (4, 1), (4, 2), (4, 3), (3, 3))


@pytest.mark.parametrize(
    ("cell", "action", "after"),
    [
        ((1, 1), RIGHT, (2, 1)),
        ((2, 1), LEFT, (1, 1)),
        ((4, 1), UP, (4, 2)),
        ((4, 2), DOWN, (4, 1)),
        ((1, 1), UP, (1, 1)),
        ((1, 1), DOWN, (1, 1)),
        ((1, 1), LEFT, (1, 1)),
        ((4, 4), RIGHT, (4, 4)),
        ((3, 3), EAT, (3, 3)),
    ],
)
def test_next_cell_in_maze_8(cell, action, after):
    assert load_maze("8").next_cell(cell, action) == after


def test_next_cell_refuses_walls_and_unknown_actions():
    with pytest.raises(ConfigError, match=r"cell \(0, 0\) is not floor"):
        CORRIDOR.next_cell((0, 0), UP)
    for action in (-1, 5):
        with pytest.raises(ConfigError, match=f"action {action} is not one of 0 to 4"):
            CORRIDOR.next_cell((1, 1), action)


def test_unreachable_goal_has_no_path_and_no_best_return():
    assert ISLAND.cells == ((1, 1),)
    assert ISLAND.shortest_path == ()
    assert ISLAND.optimal_return == -math.inf


def _distance_by_relaxation(maze):
    """Moves from start to goal, by sweeping all cells until nothing changes any more."""
    top = maze.height - 1
    floor = {
        (x, top - line)
        for line, row in enumerate(maze.grid)
        for x, glyph in enumerate(row)
        if glyph in ".SG"
    }
    distance = dict.fromkeys(floor, math.inf)
    distance[maze.start] = 0
    changed = True
    while changed:
        changed = False
        for x, y in floor:
            around = ((x, y - 1), (x, y + 1), (x - 1, y), (x + 1, y))
            best = 1 + min((distance[cell] for cell in around if cell in floor), default=math.inf)
            if best < distance[x, y]:
                distance[x, y] = best
                changed = True
    return distance


@pytest.mark.parametrize("seed", range(30))
def test_shortest_paths_agree_with_another_algorithm(seed):
    rng = np.random.default_rng(seed)
    # Random clutter: loops, pockets without entrance, and at times no way to the goal.
    inner = rng.choice(["#", "."], p=[0.35, 0.65], size=(rng.integers(3, 9), rng.integers(3, 9)))
    inner[-1, 0], inner[0, -1] = "S", "G"
    framed = np.pad(inner, 1, constant_values="#")
    maze = Maze("clutter", tuple("".join(row) for row in framed))
    distance = _distance_by_relaxation(maze)
    assert set(maze.cells) == {cell for cell, moves in distance.items() if moves < math.inf}
    assert maze.optimal_return == 1 - distance[maze.goal]
    for here, there in zip(maze.shortest_path, maze.shortest_path[1:], strict=False):
        assert there in [maze.next_cell(here, action) for action in range(4)]
        assert here != there


def test_text_comes_back_as_it_was():
    for name in maze_names():
        maze = load_maze(name)
        assert (
            Maze(name, tuple(row.ljust(maze.width) for row in maze.to_text().split("\n")[:-1]))
            == maze
        )


def test_mazes_are_values():
    assert Maze("corridor", CORRIDOR.grid) == CORRIDOR
    assert hash(Maze("corridor", CORRIDOR.grid)) == hash(CORRIDOR)
    with pytest.raises(dataclasses.FrozenInstanceError):
        CORRIDOR.name = "other"


@pytest.mark.parametrize(
    "grid", [(), ("",), ("###", "#S", "###"), ("SG",), ("####", "#SG ", "####")]
)
def test_no_unsound_maze_can_be_made(grid):
    with pytest.raises(MazeError, match=r"^unsound:\d+:\d+: "):
        Maze("unsound", grid)


def test_large_maze_is_solved_without_recursion():
    maze = random_maze("perfect", 100, 100, seed=0)
    assert len(maze.shortest_path) > 1000
