"""How long an episode lasts, and the best return that leaves."""

import copy

import gymnasium as gym
import numpy as np
import pytest

from tgm.envs import Maze, default_limit, load_maze, maze_names, random_maze

CORRIDOR = Maze("corridor", ("#####", "#S.G#", "#####"))  # right, right, eat: three steps, -1
ISLAND = Maze("island", ("####", "#S.#", "####", "#G##", "####"))
LARGE = random_maze("perfect", 20, 20, 3)
DOWN = 0


def length_of_an_episode(env):
    env.reset(seed=0)
    for length in range(1, 10_000):
        _, _, terminated, truncated, _ = env.step(DOWN)
        assert not terminated
        if truncated:
            return length
    return None


@pytest.mark.parametrize("name", maze_names())
def test_the_mazes_of_the_paper_keep_their_limit(name, tmp_path):
    copied = tmp_path / "copied.txt"
    copied.write_text(load_maze(name).to_text())
    for maze in (name, load_maze(name), copied):
        env = gym.make("tgm/Maze-v0", maze=maze)
        assert env.spec.max_episode_steps == 50
        assert length_of_an_episode(env) == 50


@pytest.mark.parametrize(
    ("maze", "limit"),
    [
        (CORRIDOR, 50),
        (ISLAND, 50),
        (LARGE, 4 * 282),
        (random_maze("open", 20, 20, 0), 4 * 39),
        (random_maze("open", 6, 6, 0), 50),
    ],
    ids=lambda value: value.name if isinstance(value, Maze) else str(value),
)
def test_other_mazes_have_four_times_the_shortest_way_and_never_below_fifty(maze, limit, tmp_path):
    assert default_limit(maze) == limit
    path = tmp_path / "own.txt"
    path.write_text(maze.to_text())
    given = [maze, str(path)] if maze is not ISLAND else [maze]
    for world in given:
        env = gym.make("tgm/Maze-v0", maze=world)
        assert type(env.spec.max_episode_steps) is int
        assert env.spec.max_episode_steps == limit
        assert length_of_an_episode(env) == limit


@pytest.mark.parametrize(("given", "length"), [(50, 50), (7, 7), (2000, 2000), (-1, None)])
def test_a_limit_that_is_given_counts(given, length):
    env = gym.make("tgm/Maze-v0", maze=LARGE, max_episode_steps=given)
    assert env.spec.max_episode_steps == length
    assert length_of_an_episode(env) == length


def test_a_schedule_has_the_longest_limit_of_its_mazes():
    wall = Maze("wall", ("#" * 42, f"#S{'.' * 38}G#", "#" * 42))
    room = Maze("room", ("#" * 42, f"#SG{'.' * 38}#", "#" * 42))
    env = gym.make("tgm/Maze-v0", maze=room, changes=[(100, wall), (200, room)])
    assert env.spec.max_episode_steps == 4 * 40


def test_an_environment_is_made_again_from_its_spec_or_as_a_vector():
    env = gym.make("tgm/Maze-v0", maze=LARGE)
    assert gym.make(env.spec).spec.max_episode_steps == 4 * 282
    assert isinstance(env, gym.wrappers.TimeLimit)
    assert not isinstance(env.env, gym.wrappers.TimeLimit)
    vector = gym.make_vec("tgm/Maze-v0", num_envs=2, maze=LARGE)
    vector.reset(seed=0)
    cut = [vector.step(np.array([DOWN, DOWN]))[3] for _ in range(4 * 282)]
    assert not np.any(cut[:-1])
    assert np.all(cut[-1])


def test_a_copy_of_a_maze_is_itself():
    assert copy.deepcopy({"maze": LARGE})["maze"] is LARGE


@pytest.mark.parametrize(
    ("maze", "limit", "best", "why"),
    [
        (CORRIDOR, None, -1, ""),
        (CORRIDOR, 3, -1, ""),
        (CORRIDOR, 2, -2, "the goal is 3 steps away and an episode has only 2"),
        (LARGE, 50, -50, "the goal is 282 steps away and an episode has only 50"),
        (LARGE, 281, -281, "the goal is 282 steps away and an episode has only 281"),
        (LARGE, 282, -280, ""),
        (ISLAND, 50, -50, "there is no way to the goal"),
        (ISLAND, None, -np.inf, "there is no way to the goal"),
    ],
)
def test_the_best_return_knows_the_limit(maze, limit, best, why):
    assert maze.best_return(limit) == best
    assert maze.can_be_solved(limit) is (not why)
    assert maze.why_unsolvable(limit).startswith(why)
    assert bool(maze.why_unsolvable(limit)) is bool(why)
    assert ("raise --max-episode-steps" in maze.why_unsolvable(limit)) is ("away" in why)
