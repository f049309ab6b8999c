"""Random mazes: sized, connected, reproducible, and of the kind that was asked for."""

import pytest

from tgm.envs import load_maze, parse_maze, random_maze
from tgm.errors import ConfigError

KINDS = ("perfect", "open", "rooms")


def _n_passages(maze):
    """Pairs of neighbouring cells."""
    return sum(maze.next_cell(cell, action) != cell for cell in maze.cells for action in (1, 3))


def _n_floor(maze):
    return sum(glyph in ".SG" for row in maze.grid for glyph in row)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("rows", "columns"), [(6, 6), (1, 9), (9, 1), (7, 20), (31, 12)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_all_floor_is_connected_and_start_is_at_the_bottom_left(kind, rows, columns, seed):
    maze = random_maze(kind, rows, columns, seed)
    assert len(maze.cells) == _n_floor(maze)
    assert maze.start == (1, 1)
    assert maze.shortest_path[-1] == maze.goal


@pytest.mark.parametrize("seed", range(5))
def test_perfect_maze_is_a_tree(seed):
    maze = random_maze("perfect", 8, 11, seed)
    assert len(maze.cells) == 8 * 11
    assert _n_passages(maze) == len(maze.cells) - 1


@pytest.mark.parametrize(("rows", "columns"), [(1, 2), (2, 1), (2, 2), (3, 3), (10, 10), (1, 50)])
def test_perfect_mazes_of_every_size_have_rows_times_columns_cells(rows, columns):
    for seed in range(5):
        maze = random_maze("perfect", rows, columns, seed)
        assert len(maze.cells) == rows * columns
        assert _n_passages(maze) == rows * columns - 1


def test_open_maze_is_one_room():
    maze = random_maze("open", 4, 6, 0)
    assert (maze.width, maze.height) == (8, 6)
    assert len(maze.cells) == 24
    assert maze.goal == (6, 4)
    assert random_maze("open", 5, 5, 0).grid == load_maze("27").grid


@pytest.mark.parametrize("seed", range(5))
def test_rooms_are_several_and_small(seed):
    maze = random_maze("rooms", 20, 30, seed)
    assert (maze.width, maze.height) == (32, 22)
    # No room is six cells wide and high; the widest square of floor tells.
    floor = set(maze.cells)
    squares = [
        (x, y)
        for x, y in floor
        if all((x + dx, y + dy) in floor for dx in range(6) for dy in range(6))
    ]
    assert squares == []
    assert _n_passages(maze) > len(floor) - 1


@pytest.mark.parametrize("kind", ["perfect", "rooms"])
def test_goal_is_as_far_as_can_be(kind):
    maze = random_maze(kind, 9, 13, 4)
    frontier, seen = {maze.start}, {maze.start}
    n_moves = 0
    while frontier := {maze.next_cell(cell, a) for cell in frontier for a in range(4)} - seen:
        seen |= frontier
        n_moves += 1
    assert len(maze.shortest_path) - 1 == n_moves


@pytest.mark.parametrize("kind", ["perfect", "rooms"])
def test_seed_decides(kind):
    first = random_maze(kind, 12, 12, 7)
    assert random_maze(kind, 12, 12, 7) == first
    assert len({random_maze(kind, 12, 12, seed).grid for seed in range(20)}) == 20


@pytest.mark.parametrize("kind", KINDS)
def test_hundred_by_hundred(kind):
    maze = random_maze(kind, 100, 100, 0)
    assert maze.shortest_path[0] == maze.start
    assert len(maze.cells) == (10_000 if kind != "rooms" else _n_floor(maze))


@pytest.mark.parametrize("kind", KINDS)
def test_text_is_a_sound_maze_file(kind):
    maze = random_maze(kind, 7, 9, 5)
    assert parse_maze(maze.to_text().encode(), name=maze.name, source="generated") == maze


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("spiral", 5, 5, 0), "'spiral' is not one of perfect, open, rooms"),
        (("open", 0, 5, 0), "rows is 0"),
        (("open", 5, -1, 0), "columns is -1"),
        (("open", 2.5, 5, 0), "rows is 2.5"),
        (("open", 1, 1, 0), "1 x 1"),
        (("rooms", 5, 5, 0), "single room"),
        (("perfect", 705, 5, 0), "keep to 704 a side"),
        (("open", 5, 999, 0), "keep to 998 a side"),
        (("open", 5, 5, -1), "seed is -1"),
        (("open", 5, 5, None), "seed is None"),
        (("open", 5, 5, 0.0), "seed is 0.0"),
        (("open", 5, 5, True), "seed is True"),
    ],
)
def test_bad_arguments_are_named(arguments, words):
    with pytest.raises(ConfigError, match=words):
        random_maze(*arguments)
