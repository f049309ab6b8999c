"""The data behind the figures is what it says."""

import numpy as np

from tgm.envs import load_maze
from tgm.experiments.figures import samples


def test_the_clouds_have_their_centres_and_spreads():
    many = np.concatenate([samples.three_clouds(seed) for seed in range(40)])
    assert many.shape == (40 * 300, 2)
    first = np.concatenate([samples.three_clouds(seed)[:100] for seed in range(40)])
    np.testing.assert_allclose(first.mean(axis=0), (0, 0), atol=0.05)
    lengths = np.sqrt(np.linalg.eigvalsh(np.cov(first.T)))
    np.testing.assert_allclose(lengths, (0.25, 0.6), rtol=0.05)


def test_a_walk_obeys_the_maze():
    maze = load_maze("25")
    walk = samples.random_walk("25", 300, seed=4)
    assert walk.points.shape == (300, 2)
    assert np.abs(walk.points - walk.cells).std() < 0.2
    for n in range(300):
        if walk.actions[n] < 0:
            assert tuple(walk.cells[n]) == maze.start
        else:
            there = maze.next_cell(tuple(walk.cells[n - 1].tolist()), int(walk.actions[n]))
            assert tuple(walk.cells[n]) == there
    assert walk.n_visited == len({tuple(cell) for cell in walk.cells.tolist()})
    assert len(np.unique(walk.labels)) == walk.n_visited


def test_pairs_are_consecutive_and_never_cross_an_episode():
    walk = samples.random_walk("8", 200, seed=1)
    starts = int((walk.actions < 0).sum())
    pairs = walk.pairs
    assert starts > 1
    assert len(pairs.actions) == 200 - starts
    n = int(np.flatnonzero(walk.actions >= 0)[7])
    np.testing.assert_array_equal(pairs.after[7], walk.points[n])
    np.testing.assert_array_equal(pairs.before[7], walk.points[n - 1])
    assert pairs.actions[7] == walk.actions[n]


def test_a_rough_prior_stands_on_points():
    points = samples.three_clouds(0)
    prior = samples.rough_prior(points, 7, np.random.default_rng(0))
    assert prior.n_components == 7
    for mean in prior.components.mean:
        assert (points == mean).all(axis=1).any()
    np.testing.assert_allclose(prior.covariances[0], 0.05 * np.cov(points.T))
