"""The training loop of all studies: when an agent is evaluated, and when a maze is solved."""

import numpy as np

from tgm.envs import load_maze
from tgm.experiments.evaluation import MazeWorld
from tgm.experiments.harness.agent import InPieces
from tgm.experiments.harness.training import check_steps, train


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
    assert train(InPieces(Moody({20, 30, 40})), world, 0, checks).solved_at == 20
    assert train(InPieces(Moody({10, 30, 40})), world, 0, checks).solved_at == 30
    assert train(InPieces(Moody({10, 20, 30})), world, 0, checks).solved_at is None
