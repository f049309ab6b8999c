"""TemporalMixture on random hidden Markov models, beside hmmlearn that is told how many states.

    python -m benchmarks.sequences            # 4 models, about two minutes
    python -m benchmarks.sequences --all --out models.jsonl     # 100 models; can be interrupted

Each model has 3 to 20 states, 2 to 8 features and 5,000 steps. Means are normal, at least APART
apart; covariances have random axes and variances from 0.3 to 1.3; rows of transitions are half a
Dirichlet(0.5), half a chance to stay that is drawn evenly. Every state is visited. hmmlearn's
GaussianHMM gets the true number of states and keeps the best of ten starts. A path is as accurate
as the best matching of found and true states makes it.
"""

from __future__ import annotations

import argparse
import json
import logging
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment

from tgm import TemporalMixture

N_STEPS = 5_000
APART = 3.0
STARTS = 10
MISSING = 0.1
SAME_EVERY = 20  # of so many models one is fitted again with another random_state
TABLE = ("states", "found", "accuracy", "missing_found", "missing_accuracy")


def random_model(rng: np.random.Generator, apart: float) -> tuple[np.ndarray, np.ndarray]:
    """(n_steps, n_features) observations and (n_steps,) states of a random model."""
    n_states, n_features = int(rng.integers(3, 21)), int(rng.integers(2, 9))
    means, spread = np.empty((0, n_features)), 4.0
    while len(means) < n_states:
        mean = spread * rng.normal(size=n_features)
        if (np.linalg.norm(means - mean, axis=1) > apart).all():
            means = np.vstack([means, mean])
        else:
            spread *= 1.01
    axes = np.linalg.qr(rng.normal(size=(n_states, n_features, n_features)))[0]
    lower = axes * np.sqrt(rng.uniform(0.3, 1.3, size=(n_states, 1, n_features)))
    stay = rng.uniform(size=(n_states, 1)) * np.eye(n_states)
    transition = rng.dirichlet(np.full(n_states, 0.5), size=n_states) + stay
    rows = (transition / transition.sum(axis=1, keepdims=True)).cumsum(axis=1)
    states = np.zeros(N_STEPS, dtype=int)
    for step, draw in enumerate(rng.uniform(size=N_STEPS - 1), start=1):
        found = np.searchsorted(rows[states[step - 1]], draw)
        states[step] = min(int(found), n_states - 1)
    if len(np.unique(states)) < n_states:
        return random_model(rng, apart)
    noise = rng.normal(size=(N_STEPS, n_features))
    return means[states] + np.einsum("tij,tj->ti", lower[states], noise), states


def accuracy(truth: np.ndarray, found: np.ndarray) -> float:
    """Share of the rows in the right state, with the best matching of states."""
    table = np.zeros((truth.max() + 1, found.max() + 1))
    np.add.at(table, (truth, found), 1.0)
    return float(table[linear_sum_assignment(-table)].sum() / len(truth))


def told(points: np.ndarray, n_states: int) -> np.ndarray:
    """(n_steps,) the path of hmmlearn's model with the best likelihood of ten starts."""
    from hmmlearn.hmm import GaussianHMM

    logging.getLogger("hmmlearn").setLevel(logging.ERROR)
    best, best_score = None, -np.inf
    for start in range(STARTS):
        model = GaussianHMM(n_states, "full", n_iter=100, random_state=start)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            score = model.fit(points).score(points)
        if score > best_score:
            best, best_score = model, score
    assert best is not None
    return np.asarray(best.predict(points))


def trial(seed: int, apart: float, *, with_hmmlearn: bool) -> dict[str, float]:
    """Figures of one random model."""
    rng = np.random.default_rng(seed)
    points, states = random_model(rng, apart)
    began = time.perf_counter()
    model = TemporalMixture(random_state=0).fit(points)
    seconds = time.perf_counter() - began
    holed = np.where(rng.uniform(size=points.shape) < MISSING, np.nan, points)
    partly = TemporalMixture(random_state=1).fit(holed)
    ours = accuracy(states, model.decode(points))
    figures = {
        "states": len(np.unique(states)),
        "features": points.shape[1],
        "found": model.n_states_,
        "accuracy": ours,
        "missing_found": partly.n_states_,
        "missing_accuracy": accuracy(states, partly.decode(holed)),
        "seconds": seconds,
    }
    if seed % SAME_EVERY == 0:
        again = TemporalMixture(random_state=2).fit(points)
        figures["same"] = float(again.means_.tobytes() == model.means_.tobytes())
    if with_hmmlearn:
        began = time.perf_counter()
        figures["told_accuracy"] = accuracy(states, told(points, figures["states"]))
        figures["told_seconds"] = time.perf_counter() - began
    return figures


def measured(asked: argparse.Namespace) -> Iterator[dict[str, float]]:
    """The figures of each model; those that the file has are not measured again."""
    known: dict[int, dict[str, float]] = {}
    if asked.out is not None and asked.out.exists():
        rows = [json.loads(line) for line in asked.out.read_text().splitlines()]
        known = {int(row["seed"]): row for row in rows if row["apart"] == asked.apart}
    n_models = asked.models or (100 if asked.all else 4)
    n_told = n_models if asked.hmmlearn is None else asked.hmmlearn
    for seed in range(asked.first, asked.first + n_models):
        is_told = seed < asked.first + n_told
        row = known.get(seed)
        if row is None or (is_told and "told_accuracy" not in row):
            row = trial(seed, asked.apart, with_hmmlearn=is_told)
            row |= {"seed": seed, "apart": asked.apart}
            if asked.out is not None:
                with asked.out.open("a") as file:
                    file.write(json.dumps(row) + "\n")
        yield row


def main() -> None:
    """Print a line for each model, then the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="100 models instead of 4")
    parser.add_argument("--models", type=int, help="another number of models")
    parser.add_argument("--first", type=int, default=0, help="seed of the first model")
    parser.add_argument("--apart", type=float, default=APART, help="least distance of two means")
    parser.add_argument("--hmmlearn", type=int, help="how many of them hmmlearn gets too; all")
    parser.add_argument("--out", type=Path, help="file to keep the figures in, and to go on from")
    rows = []
    print("seed states features  found  accuracy  hmmlearn  10% missing: found accuracy  seconds")
    for row in measured(parser.parse_args()):
        rows.append(row)
        print(
            f"{row['seed']:4.0f} {row['states']:6.0f} {row['features']:8.0f} {row['found']:6.0f} "
            f"{row['accuracy']:9.4f} {row.get('told_accuracy', np.nan):9.4f} "
            f"{row['missing_found']:19.0f} {row['missing_accuracy']:8.4f} {row['seconds']:8.1f}",
            flush=True,
        )
    summary(rows)


def summary(rows: list[dict[str, float]]) -> None:
    """Print what is wanted beside what was measured."""
    column = {name: np.array([row[name] for row in rows]) for name in TABLE}
    exact = (column["found"] == column["states"]).mean()
    holed = (column["missing_found"] == column["states"]).mean()
    lost = (column["accuracy"] - column["missing_accuracy"]) * 100
    print(f"\n{len(rows)} models")
    print(f"number of states exact          {100 * exact:6.1f} %   wanted 90")
    told_rows = [row for row in rows if "told_accuracy" in row]
    if told_rows:
        behind = np.array([100 * (row["told_accuracy"] - row["accuracy"]) for row in told_rows])
        ratio = np.median([row["told_seconds"] / row["seconds"] for row in told_rows])
        print(f"path behind hmmlearn, mean      {behind.mean():6.2f} %   wanted below 1")
        print(f"  at most, of {len(behind):3d} models       {behind.max():6.2f} %")
        print(f"  within 1 % or better          {100 * (behind < 1).mean():6.1f} % of the models")
        print(f"  time of its ten starts        {ratio:6.1f} times ours, median")
    print(f"10 % missing costs, mean        {lost.mean():6.2f} %   wanted below 2")
    print(f"  number of states exact        {100 * holed:6.1f} %")
    same = [row["same"] for row in rows if "same" in row]
    if same:
        print(f"same bits with another seed     {sum(same):4.0f} of {len(same)} that were tried")


if __name__ == "__main__":
    main()
