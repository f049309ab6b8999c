"""VariationalMixture against its peers: the number found, time, batches, large files.

Run with OMP_NUM_THREADS=1: python benchmarks/estimators.py [--all] [--only right fast ...]
Seconds are those of the processor, not of the clock: other programs do not count. --all takes
about 20 minutes of an idle core, with --peers 200 half an hour more.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from sklearn import cluster, datasets
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import BayesianGaussianMixture
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from tgm import VariationalMixture
from tgm.distributions import FloatArray, IntArray

SEPARATION = 8.0  # of the means, in deviations of the wider cluster
FEW_PROBLEMS, ALL_PROBLEMS = 20, 200
SWEEPS = 20
MEAN_SHIFT_POINTS = 2000  # mean shift learns from so many; more take minutes
LARGE = {False: 2_000_000, True: 20_000_000}


def main() -> None:
    """Print the tables that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true", help="all problems and sizes")
    parser.add_argument("--only", nargs="*", choices=list(TABLES), help="some of the tables")
    parser.add_argument("--peers", type=int, default=4, help="problems that the peers get (4)")
    parser.add_argument("--large", help=argparse.SUPPRESS)  # the process that is measured
    asked = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    if asked.large:
        print(json.dumps(fit_large(asked.large)))
        return
    tables = TABLES | {"right": partial(right, n_peers=asked.peers)}
    for name in asked.only or tables:
        tables[name](asked.all)
        print(flush=True)


def problem(seed: int) -> tuple[FloatArray, IntArray]:
    """Points and labels: 2 to 50 clusters, 2 to 16 features, 1,000 to 20,000 points."""
    rng = np.random.default_rng(seed)
    n_clusters, n_features = int(rng.integers(2, 51)), int(rng.integers(2, 17))
    n_points = int(np.exp(rng.uniform(np.log(1000), np.log(20000))))
    means: list[FloatArray] = []
    shapes: list[tuple[FloatArray, FloatArray]] = []
    span = 1.2 * SEPARATION * max(1.0, n_clusters ** (1 / n_features))
    while len(means) < n_clusters:
        axes = np.linalg.qr(rng.normal(size=(n_features, n_features)))[0]
        deviation = rng.uniform(0.5, 1.5) * rng.uniform(0.5, 1.0, size=n_features)
        mean = rng.uniform(-span, span, size=n_features)
        widest = [max(deviation.max(), other.max()) for _, other in shapes]
        gaps = [np.linalg.norm(mean - other) for other in means]
        if all(gap > SEPARATION * width for gap, width in zip(gaps, widest, strict=True)):
            means.append(mean)
            shapes.append((axes, deviation))
        else:
            span *= 1.005
    share = rng.dirichlet(np.full(n_clusters, 10.0))
    drawn = rng.choice(n_clusters, size=n_points - 3 * n_clusters, p=share)
    labels = np.concatenate([np.repeat(np.arange(n_clusters), 3), drawn])
    points = np.empty((n_points, n_features))
    for k, (axes, deviation) in enumerate(shapes):
        own = labels == k
        normal = rng.normal(size=(np.count_nonzero(own), n_features))
        points[own] = means[k] + (normal * deviation) @ axes.T
    return points, labels


def _ours(points: FloatArray, n_clusters: int) -> IntArray:
    return VariationalMixture().fit(points).predict(points)


def _bayesian(points: FloatArray, n_clusters: int) -> IntArray:
    model = BayesianGaussianMixture(n_components=2 * n_clusters, random_state=0)
    return np.asarray(model.fit(points).predict(points))


def _hdbscan(points: FloatArray, n_clusters: int) -> IntArray:
    return np.asarray(cluster.HDBSCAN(copy=True).fit(points).labels_)


def _mean_shift(points: FloatArray, n_clusters: int) -> IntArray:
    some = np.random.default_rng(0).permutation(len(points))[:MEAN_SHIFT_POINTS]
    return np.asarray(cluster.MeanShift(bin_seeding=True).fit(points[some]).predict(points))


METHODS: dict[str, Callable[[FloatArray, int], IntArray]] = {
    "VariationalMixture": _ours,
    "BayesianGaussianMixture, 2x": _bayesian,
    "HDBSCAN": _hdbscan,
    "MeanShift": _mean_shift,
}


def right(everything: bool, n_peers: int = 4) -> None:
    """The number of clusters and the adjusted Rand index on problems with separate clusters."""
    n_ours = ALL_PROBLEMS if everything else FEW_PROBLEMS
    print(f"{'separate clusters':<30}{'problems':>9}{'exact':>8}{'ARI':>7}{'seconds':>9}")
    for name, method in METHODS.items():
        rows = []
        for seed in range(n_ours if method is _ours else n_peers):
            points, labels = problem(seed)
            start = process_time()
            found = method(points, int(labels.max()) + 1)
            seconds = process_time() - start
            exact = len(np.unique(found[found >= 0])) == labels.max() + 1
            rows.append((exact, adjusted_rand_score(labels, found), seconds))
        for count in sorted({min(n_peers, len(rows)), len(rows)}):
            exact, index, seconds = np.array(rows[:count]).T
            print(
                f"{name:<30}{count:>9}{exact.mean():>8.1%}{np.median(index):>7.3f}"
                f"{seconds.mean():>9.2f}",
                flush=True,
            )


def real(everything: bool) -> None:
    """Data sets that ship with scikit-learn; classes are not always clusters."""
    digits, classes = datasets.load_digits(return_X_y=True)
    sets = {
        "iris": datasets.load_iris(return_X_y=True),
        "wine": datasets.load_wine(return_X_y=True),
        "breast cancer": datasets.load_breast_cancer(return_X_y=True),
        "digits, 8 components": (PCA(8, random_state=0).fit_transform(digits), classes),
    }
    print(
        f"{'real data':<22}{'classes':>8} | {'found':>6}{'ARI':>7}{'held out':>10}"
        f" | {'BGM 2x':>7}{'ARI':>7}{'held out':>10} | {'HDBSCAN':>8}{'ARI':>7}"
        f" | {'MeanShift':>9}{'ARI':>7}"
    )
    for name, (points, labels) in sets.items():
        n_classes = len(np.unique(labels))
        train, test = train_test_split(points, test_size=0.3, random_state=0)
        # The peers depend on units: they get standardised features, densities in the first units.
        scaler = StandardScaler().fit(train)
        units = float(np.log(scaler.scale_).sum())
        ours = VariationalMixture().fit(points)
        found = ours.predict(points)
        held_out = VariationalMixture().fit(train).score(test)
        peer = BayesianGaussianMixture(n_components=2 * n_classes, random_state=0, max_iter=1000)
        scaled = scaler.transform(points)
        theirs = peer.fit(scaled).predict(scaled)
        peer_held_out = peer.fit(scaler.transform(train)).score(scaler.transform(test)) - units
        density, shifted = _hdbscan(scaled, n_classes), _mean_shift(scaled, n_classes)
        print(
            f"{name:<22}{n_classes:>8} | {ours.n_components_:>6}"
            f"{adjusted_rand_score(labels, found):>7.2f}{held_out:>10.2f}"
            f" | {len(np.unique(theirs)):>7}{adjusted_rand_score(labels, theirs):>7.2f}"
            f"{peer_held_out:>10.2f} | {len(np.unique(density[density >= 0])):>8}"
            f"{adjusted_rand_score(labels, density):>7.2f}"
            f" | {len(np.unique(shifted)):>9}{adjusted_rand_score(labels, shifted):>7.2f}"
        )


def fast(everything: bool) -> None:
    """Time at equal iterations and an equal bound of components, and held-out likelihood."""
    n_points = 100_000 if everything else 40_000
    print(
        f"{SWEEPS} sweeps, {n_points:,} points{'':<6}{'ms a sweep':>22}{'':>7}{'s, whole fit':>17}"
        f"{'':>7}{'held out':>18}\n"
        f"{'features, components':<28}{'tgm':>11}{'sklearn':>11}{'ratio':>7}"
        f"{'tgm':>8}{'sklearn':>9}{'ratio':>7}{'tgm':>9}{'sklearn':>9}"
    )
    for n_features, n_components in ((2, 10), (2, 25), (4, 25), (4, 50), (16, 20)):
        rng = np.random.default_rng(0)
        centres = rng.uniform(-5, 5, size=(n_components, n_features))
        points = centres[rng.integers(n_components, size=n_points + 10_000)]
        points = points + rng.normal(scale=0.5, size=points.shape)
        train, test = points[:n_points], points[n_points:]
        ours = _timed(lambda n, k=n_components: VariationalMixture(k, tol=-1e9, max_iter=n), train)
        peer = _timed(
            lambda n, k=n_components: BayesianGaussianMixture(
                n_components=k, tol=0, max_iter=n, random_state=0
            ),
            train,
        )
        print(
            f"{n_features:>8},{n_components:>11}{'':<8}{1e3 * ours[1]:>11.1f}{1e3 * peer[1]:>11.1f}"
            f"{peer[1] / ours[1]:>7.1f}{ours[2]:>8.2f}{peer[2]:>9.2f}{peer[2] / ours[2]:>7.1f}"
            f"{ours[0].score(test):>9.3f}{peer[0].score(test):>9.3f}",
            flush=True,
        )


def _timed(make: Callable[[int], Any], points: FloatArray) -> tuple[Any, float, float]:
    """The fitted model, seconds per sweep, and seconds of the whole fit."""
    marks = [process_time()]
    for n_sweeps in (1, 1 + SWEEPS):
        model = make(n_sweeps).fit(points)
        marks.append(process_time())
    short, long = np.diff(marks)
    return model, max(long - short, 1e-9) / SWEEPS, long


def online(everything: bool) -> None:
    """1,000 batches against one fit of all points."""
    sizes = ((2, 10), (4, 20), (8, 10)) if everything else ((2, 10), (4, 20))
    print(
        f"{'1,000 batches of 100':<24}{'found':>6}{'of fit':>7}{'held out':>10}{'of fit':>9}"
        f"{'loss':>8}   ms a batch in each quarter (median; mean with searches)"
    )
    for n_features, n_components in sizes:
        rng = np.random.default_rng(1)
        centres = rng.uniform(-5, 5, size=(n_components, n_features))
        points = centres[rng.integers(n_components, size=110_000)]
        points = points + rng.normal(scale=0.7, size=points.shape)
        train, test = points[:100_000], points[100_000:]
        whole, model, seconds = VariationalMixture().fit(train), VariationalMixture(), []
        for batch in np.split(train, 1000):
            start = process_time()
            model.partial_fit(batch)
            seconds.append(process_time() - start)
        quarters = 1e3 * np.array(seconds).reshape(4, -1)
        loss = (whole.score(test) - model.score(test)) / abs(whole.score(test))
        print(
            f"{n_features:>8} features{'':<7}{model.n_components_:>6}{whole.n_components_:>7}"
            f"{model.score(test):>10.4f}{whole.score(test):>9.4f}{loss:>8.3%}  "
            + ", ".join(f"{np.median(q):.2f} ({q.mean():.2f})" for q in quarters),
            flush=True,
        )


def large(everything: bool) -> None:
    """A Parquet file, in a process of its own so that its memory can be measured."""
    import pyarrow
    from pyarrow import parquet

    n_points, part = LARGE[everything], 500_000
    rng = np.random.default_rng(0)
    centres = np.stack(np.divmod(np.arange(10), 5), axis=1) * 6.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "points.parquet"
        schema = pyarrow.schema([("x", pyarrow.float64()), ("y", pyarrow.float64())])
        with parquet.ParquetWriter(path, schema) as writer:
            for _ in range(n_points // part):
                points = centres[rng.integers(10, size=part)] + rng.normal(size=(part, 2))
                writer.write_table(pyarrow.table(list(points.T), schema=schema))
        command = [sys.executable, __file__, "--large", str(path)]
        result = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    speed = n_points * result["passes"] / result["seconds"] / 1e6
    print(
        f"Parquet, {n_points:,} points of 2 features: {result['found']} components of 10, "
        f"{result['passes']} passes, {result['seconds']:.1f} s of one core, "
        f"{speed:.1f} million points per second, core and pass, "
        f"{result['megabytes']:.0f} MB at most"
    )


def fit_large(path: str) -> dict[str, float]:
    """What the process measures that fits the file."""
    start = process_time()
    model = VariationalMixture().fit(path)
    return {
        "found": model.n_components_,
        "passes": model.n_iter_ + 1,  # the first look, then sweeps
        "seconds": process_time() - start,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


TABLES: dict[str, Callable[[bool], None]] = {
    "right": right,
    "real": real,
    "fast": fast,
    "online": online,
    "large": large,
}


if __name__ == "__main__":
    main()
