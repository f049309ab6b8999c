"""Mean shift against scikit-learn's, on 2,000 noisy points of a five by five maze.

Run: python benchmarks/mean_shift.py
"""

from time import perf_counter

import numpy as np
from sklearn.cluster import MeanShift

from tgm.perception import mean_shift

BANDWIDTH = 0.5
REPEATS = 5


def main() -> None:
    """Print both times, their ratio, and whether the clusters are the same."""
    rng = np.random.default_rng(0)
    points = rng.integers(5, size=(2000, 2)) + rng.normal(scale=0.15, size=(2000, 2))
    ours = []
    for _ in range(REPEATS):
        start = perf_counter()
        clusters = mean_shift(points, BANDWIDTH)
        ours.append(perf_counter() - start)
    start = perf_counter()
    peer = MeanShift(bandwidth=BANDWIDTH).fit(points)
    theirs = perf_counter() - start
    same = np.array_equal(peer.labels_, clusters.labels)
    print(
        f"mean shift, 2,000 points: tgm {np.median(ours):.3f} s, scikit-learn {theirs:.3f} s, "
        f"ratio {theirs / np.median(ours):.0f}, same clusters: {same}"
    )


if __name__ == "__main__":
    main()
