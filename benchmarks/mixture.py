"""One sweep of the mixture against one of scikit-learn's BayesianGaussianMixture.

Run with OMP_NUM_THREADS=1 for one core: python benchmarks/mixture.py
"""

import warnings
from collections.abc import Callable
from time import perf_counter

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import BayesianGaussianMixture

from tgm.distributions import FloatArray, NormalWishart
from tgm.perception import Mixture, fit

SIZES = ((100_000, 25, 2), (100_000, 50, 4))
SHORT, LONG = 2, 8
REPEATS = 3


def main() -> None:
    """Print the time of a sweep in both libraries and the ratio, for each size."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    for n_samples, n_components, n_features in SIZES:
        rng = np.random.default_rng(0)
        centres = rng.uniform(-5, 5, size=(n_components, n_features))
        points = centres[rng.integers(n_components, size=n_samples)]
        points = points + rng.normal(scale=0.5, size=points.shape)
        prior = _prior(centres)
        ours = _seconds_per_sweep(lambda n, p=points, q=prior: _ours(q, p, n))
        theirs = _seconds_per_sweep(lambda n, p=points, k=n_components: _theirs(k, p, n))
        print(
            f"mixture, {n_samples:,} points, {n_components} components, {n_features} features: "
            f"tgm {1e3 * ours:.1f} ms, scikit-learn {1e3 * theirs:.1f} ms per sweep, "
            f"ratio {theirs / ours:.1f}"
        )


def _prior(centres: FloatArray) -> Mixture:
    n_components, n_features = centres.shape
    components = NormalWishart(
        mean=centres,
        mean_precision=np.ones(n_components),
        dof=np.full(n_components, float(n_features)),
        inverse_scale=np.tile(np.eye(n_features), (n_components, 1, 1)),
    )
    return Mixture(weight_concentration=np.ones(n_components), components=components)


def _ours(prior: Mixture, points: FloatArray, n_sweeps: int) -> None:
    fit(prior, points, tolerance=-np.inf, max_iterations=n_sweeps)


def _theirs(n_components: int, points: FloatArray, n_sweeps: int) -> None:
    model = BayesianGaussianMixture(
        n_components=n_components,
        weight_concentration_prior_type="dirichlet_distribution",
        init_params="random_from_data",
        random_state=0,
        tol=0,
        max_iter=n_sweeps,
    )
    model.fit(points)


def _seconds_per_sweep(run: Callable[[int], None]) -> float:
    """The difference between a long and a short run: what starting up costs drops out."""
    seconds = []
    for _ in range(REPEATS):
        marks = [perf_counter()]
        for n_sweeps in (SHORT, LONG):
            run(n_sweeps)
            marks.append(perf_counter())
        short, long = np.diff(marks)
        seconds.append((long - short) / (LONG - SHORT))
    return float(np.median(seconds))


if __name__ == "__main__":
    main()
