"""Erratum 1: the count in place of the dimension makes components swallow their neighbours."""

import numpy as np

from tgm.experiments.dimension_erratum import compare, log_rho, random_walk
from tgm.perception.cluster_prior import prior_from_clusters
from tgm.perception.mean_shift import mean_shift


def test_with_the_dimension_the_printed_formula_is_the_librarys():
    points = random_walk("8", 100, seed=0)
    prior = prior_from_clusters(points, mean_shift(points, 0.5))
    np.testing.assert_allclose(log_rho(prior, points, 2), prior.log_joint(points), rtol=1e-10)


def test_with_the_count_maze_27_collapses_and_with_the_dimension_it_does_not():
    outcome = compare("27", n_points=2000, seed=0)
    assert outcome.left_with_dimension == 25
    assert outcome.left_with_count < 25
