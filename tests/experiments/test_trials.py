"""The tools of the trials: checks, the oracle, and the figures they stand beside."""

import gymnasium as gym
import numpy as np
import pytest

import tgm
from tgm.envs import load_maze, maze_names, random_maze
from tgm.experiments.baselines import OracleAgent
from tgm.experiments.changing_world import CHANGES
from tgm.experiments.evaluation import MazeWorld, evaluate_side_by_side
from tgm.experiments.larger_worlds import oracle_steps
from tgm.experiments.noise import best_possible_error
from tgm.experiments.solving import Life, check_steps, live, run, summarise


def test_checks_are_every_ten_steps_and_then_every_hundred():
    steps = list(check_steps(1500))
    assert steps[:3] == [10, 20, 30]
    assert steps[99:102] == [1000, 1100, 1200]
    assert steps[-1] == 1500
    assert list(check_steps(30)) == [10, 20, 30]


class Moody:
    """Plays the shortest path of maze 25 only in the moods it is given."""

    def __init__(self, good_after):
        self.good_after, self.n_steps = good_after, 0

    def learn(self, n_steps):
        self.n_steps += n_steps

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        step = state or 0
        path = [3, 3, 1, 1, 4] if self.n_steps in self.good_after else [4]
        return np.full(len(observation), path[step % len(path)]), step + 1


def test_solved_means_at_every_later_check_too():
    world, checks = MazeWorld(load_maze("25")), [10, 20, 30, 40]
    assert live(Moody({20, 30, 40}), world, 0, checks)[0] == 20
    assert live(Moody({10, 30, 40}), world, 0, checks)[0] == 30
    assert live(Moody({10, 20, 30}), world, 0, checks)[0] is None


def test_a_table_row_says_never_if_one_run_never_solved():
    lives = [Life("8", s, 100, at, True, 8, 1.0) for s, at in enumerate((40, None, 60))]
    row = summarise(lives)
    assert (row["solved"], row["median"], row["worst"], row["exact"]) == (2, 50.0, None, 3)


@pytest.mark.parametrize("name", maze_names())
def test_the_oracle_finds_the_shortest_way(name):
    env = gym.make("tgm/Maze-v0", maze=name)
    maze = env.unwrapped.maze
    agent = OracleAgent(env, seed=0).learn(1500)
    assert agent.way_length == len(maze.shortest_path) - 1
    silent = MazeWorld(maze, noise=0.0)
    outcome = evaluate_side_by_side(agent, silent, 1, np.random.default_rng(0))
    assert outcome.mean_return == maze.optimal_return


def test_the_oracle_tries_the_nearest_untried_action_first():
    env = gym.make("tgm/Maze-v0", maze="27")
    agent = OracleAgent(env, seed=0).learn(5)
    # Five actions in reach of the start: none is repeated before it is used up.
    assert sum(len(tried) for tried in agent._known.values()) == 5


def test_the_steps_of_the_oracle_do_not_depend_on_how_they_are_counted():
    maze = random_maze("perfect", 5, 5, seed=1)
    way = len(maze.shortest_path) - 1
    env = gym.make("tgm/Maze-v0", maze=maze, max_episode_steps=4 * way)
    steps = oracle_steps(env, way, seed=3)
    again = OracleAgent(env, seed=3).learn(steps - 10)
    assert again.way_length != way
    assert again.learn(10).way_length == way


@pytest.mark.parametrize("noise", [0.15, 0.35])
def test_the_best_possible_error_is_that_of_the_nearest_cell(noise):
    maze = load_maze("26")
    cells = np.array(maze.cells, dtype=float)
    rng = np.random.default_rng(0)
    truth = rng.integers(len(cells), size=200_000)
    seen = cells[truth] + noise * rng.normal(size=(len(truth), 2))
    nearest = ((seen[:, None] - cells) ** 2).sum(axis=-1).argmin(axis=1)
    assert best_possible_error(maze, noise) == pytest.approx((nearest != truth).mean(), abs=2e-3)


def test_a_moved_gap_changes_the_way():
    for before, after in CHANGES.values():
        assert (before.width, before.height) == (after.width, after.height)
        assert before.shortest_path != after.shortest_path


@pytest.mark.parametrize("maze", ["8", "25"])
def test_the_default_agent_solves_small_mazes_in_a_hundred_steps_or_so(maze):
    lives = [run(maze, seed, 1500, tgm.TGMConfig()) for seed in range(3)]
    assert all(life.solved_at is not None and life.solved_at <= 300 for life in lives)
    assert all(life.exact for life in lives)


def test_a_moved_wall_is_noticed():
    before, after = CHANGES["gap moves from 1 to 5"]
    env = gym.make("tgm/Maze-v0", maze=before, changes=[(1000, after)])
    agent = tgm.TGMAgent(env, tgm.TGMConfig(), seed=0).learn(1000)
    moves = []
    agent.learn(500, callback=lambda info: moves.extend(m.kind for m in info.moves))
    assert "change" in moves
    outcome = evaluate_side_by_side(agent, MazeWorld(after), 20, np.random.default_rng(0))
    assert outcome.solves(after)
