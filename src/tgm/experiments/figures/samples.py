"""The data behind the figures: three clouds, and random walks through mazes."""

from __future__ import annotations

from dataclasses import dataclass

import gymnasium as gym
import numpy as np

from tgm.distributions import BoolArray, FloatArray, IntArray, NormalWishart
from tgm.envs.maze import N_ACTIONS
from tgm.experiments.joint_model import Pairs
from tgm.perception.mixture import Mixture

BANDWIDTH = 0.5

# Centre and angle of each cloud; each is long enough to give several clusters of radius 0.5.
CLOUDS = (((0.0, 0.0), 0.5), ((3.2, 0.4), -0.6), ((1.4, 3.0), 0.0))
CLOUD_SPREAD = (0.6, 0.25)
POINTS_PER_CLOUD = 100


def three_clouds(seed: int) -> FloatArray:
    """(300, 2) points of three long Gaussian clouds."""
    rng = np.random.default_rng(seed)
    parts = []
    for centre, angle in CLOUDS:
        along, across = np.cos(angle), np.sin(angle)
        rotation = np.array([[along, -across], [across, along]])
        points = rng.normal(size=(POINTS_PER_CLOUD, 2)) * CLOUD_SPREAD
        parts.append(np.array(centre) + points @ rotation.T)
    return np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class Walk:
    """Observations of a random walk through a maze.

    Attributes:
        points: (N, 2) observations.
        actions: (N,) the action that led to each; -1 at the start of an episode.
        cells: (N, 2) the true cells.
    """

    points: FloatArray
    actions: IntArray
    cells: IntArray

    @property
    def labels(self) -> IntArray:
        """(N,) the visited cells, numbered from 0."""
        return np.unique(self.cells, axis=0, return_inverse=True)[1].reshape(-1)

    @property
    def n_visited(self) -> int:
        """How many different cells were visited."""
        return len(np.unique(self.cells, axis=0))

    @property
    def has_previous(self) -> BoolArray:
        """(N,) whether the point before belongs to the same episode."""
        return self.actions >= 0

    @property
    def pairs(self) -> Pairs:
        """All consecutive observations, with the action between them."""
        after = np.flatnonzero(self.has_previous)
        return Pairs(self.points[after - 1], self.actions[after], self.points[after])


def random_walk(maze: str, n_points: int, seed: int) -> Walk:
    """The first `n_points` observations of a policy that acts at random."""
    env = gym.make("tgm/Maze-v0", maze=maze)
    rng = np.random.default_rng(seed)
    points, actions, cells = [], [], []
    over = True
    for _ in range(n_points):
        if over:
            action, over = -1, False
            observation, info = env.reset(seed=int(rng.integers(2**32)))
        else:
            action = int(rng.integers(N_ACTIONS))
            observation, _, terminated, truncated, info = env.step(action)
            over = terminated or truncated
        points.append(observation)
        actions.append(action)
        cells.append(info["cell"])
    return Walk(np.array(points, dtype=float), np.array(actions), np.array(cells))


def rough_prior(points: FloatArray, n_components: int, rng: np.random.Generator) -> Mixture:
    """A weak prior: components of medium size at randomly chosen points (N, O)."""
    n_features = points.shape[1]
    ones = np.ones(n_components)
    covariance = np.broadcast_to(0.05 * np.cov(points.T), (n_components, n_features, n_features))
    return Mixture(
        weight_concentration=ones,
        components=NormalWishart(
            mean=points[rng.choice(len(points), n_components, replace=False)],
            mean_precision=ones,
            dof=ones + n_features,
            inverse_scale=covariance * (n_features + 1.0),
        ),
    )
