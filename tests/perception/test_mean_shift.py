"""Mean shift against scikit-learn's, and by hand."""

import numpy as np
import pytest
from sklearn.cluster import MeanShift

from tgm.errors import ConfigError, DataError
from tgm.perception import mean_shift


def blobs(rng, n_samples, n_features):
    centres = rng.normal(scale=3, size=(4, n_features))[rng.integers(4, size=n_samples)]
    return centres + rng.normal(scale=0.3, size=(n_samples, n_features))


def uniform(rng, n_samples, n_features):
    return rng.uniform(0, 4, size=(n_samples, n_features))


def maze(rng, n_samples, n_features):
    cells = rng.integers(5, size=(n_samples, n_features))
    return cells + rng.normal(scale=0.15, size=(n_samples, n_features))


def repeated(rng, n_samples, n_features):
    return uniform(rng, 6, n_features)[rng.integers(6, size=n_samples)]


@pytest.mark.parametrize("make", [blobs, uniform, maze, repeated])
@pytest.mark.parametrize("seed", range(12))
def test_clusters_are_those_of_scikit_learn(make, seed):
    rng = np.random.default_rng(seed)
    points = make(rng, int(rng.integers(2, 120)), int(rng.integers(1, 4)))
    bandwidth = float(rng.choice([0.3, 0.5, 1.0, 1.7]))
    peer = MeanShift(bandwidth=bandwidth).fit(points)
    clusters = mean_shift(points, bandwidth)
    np.testing.assert_allclose(clusters.centres, peer.cluster_centers_, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(clusters.labels, peer.labels_)


def test_two_groups_by_hand():
    points = np.array([[0.0], [0.2], [0.4], [5.0], [5.2]])
    clusters = mean_shift(points, 0.5)
    np.testing.assert_allclose(clusters.centres, [[0.2], [5.1]])
    assert clusters.labels.tolist() == [0, 0, 0, 1, 1]
    assert clusters.n_clusters == 2


def test_a_point_on_the_rim_of_the_window_is_inside():
    assert mean_shift([[0.0], [1.0]], 1.0).n_clusters == 1
    assert mean_shift([[0.0], [1.0]], 0.999).n_clusters == 2


def test_blocks_of_windows_give_the_same_clusters(monkeypatch):
    points = maze(np.random.default_rng(0), 200, 2)
    whole = mean_shift(points, 0.5)
    # The package exports the function under the name of its module.
    monkeypatch.setitem(mean_shift.__globals__, "PAIRS_PER_BLOCK", 100)
    parts = mean_shift(points, 0.5)
    np.testing.assert_array_equal(parts.labels, whole.labels)
    np.testing.assert_array_equal(parts.centres, whole.centres)


def test_windows_that_still_move_after_the_last_iteration_are_kept(monkeypatch):
    monkeypatch.setitem(mean_shift.__globals__, "MAX_ITERATIONS", 0)
    # One move each: to 0.45 (of 2 points), 0.9 (of 3), 1.8 (of 3) and 2.25 (of 2). Of those that
    # are within 1 of each other, the one with more points is kept.
    clusters = mean_shift([[0.0], [0.9], [1.8], [2.7]], 1.0)
    np.testing.assert_allclose(clusters.centres, [[1.8], [0.45]])
    assert clusters.labels.tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize("points", [[[3.0, 4.0]], [[1.0, 2.0]] * 5, [[1e16, 0.0], [1e16 + 4, 0.0]]])
def test_degenerate_points_have_clusters(points):
    clusters = mean_shift(points, 0.5)
    assert clusters.n_clusters == len({tuple(point) for point in points})
    assert len(clusters.labels) == len(points)


@pytest.mark.parametrize("bandwidth", [0.0, -1.0, np.nan, np.inf])
def test_impossible_bandwidths_are_refused(bandwidth):
    with pytest.raises(ConfigError, match="bandwidth is"):
        mean_shift([[0.0]], bandwidth)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([[0.0, 1.0], [2.0, np.nan]], "row 1, column 1 is nan"),
        ([[np.inf, 1.0]], "row 0, column 0 is inf"),
        ([1.0, 2.0], r"shape \(2,\)"),
        (np.zeros((0, 2)), r"shape \(0, 2\)"),
        ([[1.0], [1.0, 2.0]], "rectangle"),
        ([["a"]], "not numbers"),
    ],
)
def test_impossible_points_are_named(points, message):
    with pytest.raises(DataError, match=message):
        mean_shift(points, 0.5)
