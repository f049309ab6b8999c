"""Laws where points have a key."""

import numpy as np

from tgm.distributions.small import second_order
from tgm.transition.displacement_laws import KeyedDisplacements
from tgm.transition.displacements import Displacements


def test_the_law_of_keyed_points_is_that_of_what_follows_the_key():
    square, covariance = np.eye(2), 0.1 * np.eye(2)
    plain, keyed = Displacements(2, square, covariance), KeyedDisplacements(2, square, covariance)
    rng = np.random.default_rng(0)
    for way in rng.normal([1.0, 0.0], 0.1, size=(10, 2)):
        plain.add(1, way, 1.0)
        keyed.add(1, np.array([rng.integers(9), *way]), 1.0)
    way, origin = np.array([0.9, 0.1]), np.array([0.3, 0.2])
    assert keyed.log_density(np.array([5.0, *way]), 1) == plain.log_density(way, 1)
    assert keyed.log_broad_density(np.array([5.0, *way])) == plain.log_broad_density(way)
    features = np.array([second_order(point) for point in rng.normal(size=(4, 2))])
    np.testing.assert_array_equal(
        keyed.densities_from(np.array([7.0, *origin]), 1, features, np.arange(4)),
        plain.densities_from(origin, 1, features, np.arange(4)),
    )
