"""The free energy never rises: random problems, from well-behaved to degenerate.

Run from the root of the repository: python -m campaigns.free_energy [problems]
"""

import sys

import numpy as np

from tgm.distributions import FloatArray, NormalWishart
from tgm.perception import Clusters, Fit, Mixture, fit, prior_from_clusters

LIMIT = 1e-9
N_SWEEPS = 20


def main() -> None:
    """Print the largest rise; fail if one is above LIMIT max(1, |F|)."""
    n_problems = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    rises = np.array([largest_rise(fit_problem(seed)) for seed in range(n_problems)])
    n_above = int(np.sum(rises > LIMIT))
    print(
        f"{n_problems:,} problems of {N_SWEEPS} sweeps: largest rise {rises.max():.1e} "
        f"max(1, |F|) at seed {rises.argmax()}, {n_above} above {LIMIT:.0e}"
    )
    sys.exit(int(n_above > 0))


def fit_problem(seed: int) -> Fit:
    """A random problem, swept a fixed number of times, with some points forgotten."""
    rng = np.random.default_rng(seed)
    n_samples, n_components = int(rng.integers(1, 60)), int(rng.integers(1, 8))
    points = random_points(rng, n_samples, int(rng.integers(1, 5)))
    prior = random_prior(rng, points, n_components)
    start = rng.dirichlet(np.full(n_components, 0.3), size=n_samples)
    return fit(
        prior,
        points,
        forget=rng.random(n_samples) < rng.choice([0.0, 0.3, 1.0]),
        initial_responsibilities=start if rng.random() < 0.5 else None,
        tolerance=-np.inf,
        max_iterations=N_SWEEPS,
    )


def largest_rise(result: Fit) -> float:
    """The largest rise from one sweep to the next, relative to max(1, |F|)."""
    energies = result.free_energies
    return float(np.max(np.diff(energies) / np.maximum(1, np.abs(energies[:-1]))))


def random_points(rng: np.random.Generator, n_samples: int, n_features: int) -> FloatArray:
    """Blobs, heavy tails, few distinct points or a line, in any units and far from the origin."""
    kind = rng.integers(4)
    blobs = rng.normal(scale=4, size=(3, n_features))[rng.integers(3, size=n_samples)]
    points = blobs + rng.normal(scale=0.3, size=(n_samples, n_features))
    if kind == 1:
        points = rng.standard_t(2, size=(n_samples, n_features))
    elif kind == 2:
        points = rng.integers(2, size=(n_samples, n_features)).astype(np.float64)
    elif kind == 3:
        points = rng.normal(size=(n_samples, 1)) * np.arange(1, n_features + 1)
    unit = 10.0 ** rng.choice([-8, -3, 0, 0, 0, 3, 8])
    return np.asarray(unit * (points + rng.choice([0.0, 0.0, 10.0, 1e4])))


def random_prior(rng: np.random.Generator, points: FloatArray, n_components: int) -> Mixture:
    """The published prior from arbitrary clusters, or one that fits the data's units loosely."""
    centres = points[rng.integers(len(points), size=n_components)]
    if rng.random() < 0.5:
        labels = rng.integers(n_components, size=len(points))
        return prior_from_clusters(points, Clusters(labels=labels, centres=centres))
    n_features = points.shape[1]
    spread = np.ptp(points, axis=0) + np.abs(points).max() * 1e-3 + 1e-12
    units = 10.0 ** rng.uniform(-2, 1, size=(n_components, 1)) * spread
    components = NormalWishart(
        mean=centres + rng.normal(size=centres.shape) * units,
        mean_precision=10.0 ** rng.uniform(-3, 2, size=n_components),
        dof=n_features - 1 + 10.0 ** rng.uniform(-1, 2, size=n_components),
        inverse_scale=np.eye(n_features) * units[:, :, None] ** 2,
    )
    return Mixture(10.0 ** rng.uniform(-3, 2, size=n_components), components)


if __name__ == "__main__":
    main()
