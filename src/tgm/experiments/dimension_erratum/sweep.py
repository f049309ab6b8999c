"""Random walks in one maze, each fitted with both readings of K."""

from __future__ import annotations

from dataclasses import dataclass

import gymnasium as gym
import numpy as np
from scipy.special import digamma, softmax

from tgm.distributions import FloatArray, Moments
from tgm.experiments.harness.study import Sweep
from tgm.perception.cluster_prior import prior_from_clusters
from tgm.perception.mean_shift import mean_shift
from tgm.perception.mixture import Mixture
from tgm.perception.variational import fit

BANDWIDTH = 0.5
ITERATIONS = 200
LEAST_POINTS = 0.5  # a component responsible for less is gone


@dataclass(frozen=True)
class FitTrial:
    """One random walk."""

    maze: str
    n_points: int
    seed: int

    @property
    def name(self) -> str:
        """For people."""
        return f"maze {self.maze}, {self.n_points} points, seed {self.seed}"


@dataclass(frozen=True)
class Outcome:
    """Components left after fits of the same data by the two readings of K."""

    proposed: int
    left_with_count: int
    left_with_dimension: int


@dataclass(frozen=True, kw_only=True)
class FitSweep(Sweep[FitTrial]):
    """Random walks in one maze, each fitted with both readings of K."""

    maze: str = "27"
    """A maze: a name from `tgm mazes`, or a maze file."""

    points: int = 2000
    """Observations of each random walk."""

    seeds: int = 20
    """Number of random walks."""

    def trials(self) -> list[FitTrial]:
        """Every seed."""
        return [FitTrial(self.maze, self.points, seed) for seed in range(self.seeds)]


def random_walk(maze: str, n_points: int, seed: int) -> FloatArray:
    """(n_points, 2) observations of a random policy."""
    env = gym.make("tgm/Maze-v0", maze=maze)
    rng = np.random.default_rng(seed)
    points: list[FloatArray] = []
    over = True
    while len(points) < n_points:
        if over:
            observation, _ = env.reset(seed=int(rng.integers(2**32)))
            over = False
        else:
            observation, _, terminated, truncated, _ = env.step(int(rng.integers(5)))
            over = terminated or truncated
        points.append(observation)
    return np.array(points)


def log_rho(mixture: Mixture, points: FloatArray, dimension: int) -> FloatArray:
    """ln rho as printed, (n_points, n_components), with `dimension` where the print says K."""
    components = mixture.components
    half = (components.dof[:, None] + 1 - np.arange(1, dimension + 1)) / 2
    log_det = dimension * np.log(2) - components.factor.log_det + digamma(half).sum(axis=1)
    difference = points[:, None] - components.mean
    distance = np.einsum("nki,kij,nkj->nk", difference, components.scale, difference)
    return np.asarray(
        mixture.expected_log_weights
        - dimension / 2 * np.log(2 * np.pi)
        + log_det / 2
        - (dimension / components.mean_precision + components.dof * distance) / 2
    )


def components_left(prior: Mixture, points: FloatArray, dimension: int) -> int:
    """Components still responsible for something after the printed updates."""
    posterior = prior
    for _ in range(ITERATIONS):
        resp = softmax(log_rho(posterior, points, dimension), axis=1)
        posterior = prior.update(Moments.of_points(points, resp))
    return int((resp.sum(axis=0) > LEAST_POINTS).sum())


def compare(maze: str, n_points: int, seed: int) -> Outcome:
    """Fit one random walk with K and with O where the print says K."""
    points = random_walk(maze, n_points, seed)
    prior = prior_from_clusters(points, mean_shift(points, BANDWIDTH))
    return Outcome(
        prior.n_components,
        components_left(prior, points, dimension=prior.n_components),
        int(fit(prior, points).active.sum()),
    )


def run(trial: FitTrial) -> Outcome:
    """One random walk."""
    return compare(trial.maze, trial.n_points, trial.seed)
