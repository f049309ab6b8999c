"""The common covariance of states, learned from the narrower half of their data."""

import numpy as np

from tgm.perception.component_prior import ComponentPrior
from tgm.perception.gaussian_states import GaussianStates
from tgm.structure.scale import FIRST_WEIGHT, pooled_covariance

FIRST = np.diag([0.04, 0.01])


def components_of(clouds: list[np.ndarray]) -> GaussianStates:
    components = GaussianStates(ComponentPrior(FIRST, 22.0, 0.0, 3.5))
    for points in clouds:
        slot = components.birth()
        for point in points:
            components.add(slot, point, 1.0)
    return components


def test_the_wider_half_has_no_say():
    rng = np.random.default_rng(0)
    narrow = [rng.normal(place, 0.1, size=(11, 2)) for place in (0, 5, 10)]
    wide = [np.array([[0.0, 20.0], [3.0, 20.0]] * 5), rng.normal(30, 2.0, size=(11, 2))]
    alone = np.array([[50.0, 50.0]])  # one point tells nothing of a width
    learned = pooled_covariance(components_of([wide[0], *narrow, wide[1], alone]), FIRST)
    # 49 degrees of freedom in all: the three narrow ones, with 30, are the first half.
    scatter = sum(len(points) * np.cov(points.T, bias=True) for points in narrow)
    expected = (FIRST_WEIGHT * FIRST + scatter) / (FIRST_WEIGHT + 30)
    np.testing.assert_allclose(learned, expected, rtol=1e-9)


def test_the_first_guess_is_what_is_known_without_data():
    alone = components_of([np.zeros((1, 2)), np.ones((1, 2))])
    np.testing.assert_allclose(pooled_covariance(alone, FIRST), FIRST)
