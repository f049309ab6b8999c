"""Laws of displacement feature by feature, against those with whole covariances."""

import math

import numpy as np
import pytest
from scipy.stats import multivariate_t, norm

from tgm.distributions.small import second_order
from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.transition.diagonal_displacements import DiagonalDisplacements
from tgm.transition.displacements import Displacements, prior_weight

BROAD_DOF, FLOOR, OWN_SHARE, SETTLED = 3.0, 1e-3, 0.9, 300.0  # the numbers themselves

SQUARE, STATE = np.diag([2.0, 1.0, 0.5]), np.diag([0.02, 0.05, 0.1])


def both() -> tuple[DiagonalDisplacements, Displacements]:
    """Laws of displacements whose features are uncorrelated to the last digit.

    Each is seen with all signs of its features.
    """
    laws = DiagonalDisplacements(2, SQUARE, STATE), Displacements(2, SQUARE, STATE)
    signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, -1).T
    for sign in signs:
        for law in laws:
            law.add(1, sign * [0.3, 0.2, 0.1], 1.0)
    laws[1].refresh()
    return laws


def test_where_the_covariance_is_diagonal_the_laws_are_the_same():
    diagonal, whole = both()
    rng = np.random.default_rng(0)
    assert diagonal.log_state_density == pytest.approx(whole.log_state_density)
    np.testing.assert_allclose(diagonal.typical_step, whole.typical_step)
    for way in rng.normal(size=(6, 3)):
        assert diagonal.log_broad_density(way) == pytest.approx(whole.log_broad_density(way))
        for action in (0, 1):
            expected = whole.log_density(way, action)
            assert diagonal.log_density(way, action) == pytest.approx(expected, abs=1e-9)
    assert [diagonal.knows(action) for action in (0, 1)] == [False, True]
    origin, points = rng.normal(size=3), rng.normal(size=(5, 3))
    among = np.array([0, 2, 3])
    ours = diagonal.densities_from(origin, 1, points, among)
    theirs = whole.densities_from(
        origin, 1, np.array([second_order(point) for point in points]), among
    )
    assert ours[among].max() == 1.0
    np.testing.assert_allclose(ours[among] / ours[2], theirs[among] / theirs[2])


def test_no_density_is_above_the_largest_that_counts():
    diagonal, _ = both()
    there = diagonal.densities_from(np.zeros(3), 1, np.array([[0.0] * 3, [2.0] * 3]), np.array([1]))
    assert there.tolist() == [1.0, 1.0]  # the nearer point is that of a state that is gone


def test_the_laws_by_hand():
    rng = np.random.default_rng(1)
    law = DiagonalDisplacements(1, SQUARE, STATE)
    points, weights = rng.normal([1.0, 0.0, 0.0], 0.3, size=(9, 3)), rng.uniform(0.5, 1, 9)
    for point, weight in zip(points, weights, strict=True):
        law.add(0, point, weight)
    mean = np.average(points, axis=0, weights=weights)
    scatter = (weights[:, None] * (points - mean) ** 2).sum(axis=0)
    n = weights.sum()
    broad = (np.diag(SQUARE) + scatter + n * mean**2) / (1 + n)
    total = prior_weight(3) + n
    variance = (prior_weight(3) * broad + scatter) / total * (1 + 1 / total)
    variance += FLOOR * np.diag(STATE)
    way = np.array([0.8, 0.1, -0.2])
    own = np.prod(norm(mean, np.sqrt(variance)).pdf(way))
    student = multivariate_t(np.zeros(3), np.diag(broad), df=BROAD_DOF).pdf(way)
    assert law.log_density(way, 0) == pytest.approx(
        math.log(OWN_SHARE * own + (1 - OWN_SHARE) * student)
    )


def test_one_absurd_displacement_does_not_spoil_the_law_and_enough_is_enough():
    law = DiagonalDisplacements(1, SQUARE, STATE)
    law.add(0, np.full(3, 1e30), 1.0)
    assert np.abs(law.mean).max() < 100
    law.weight[0] = SETTLED
    before = law.mean.copy()
    law.add(0, np.ones(3), 1.0)
    np.testing.assert_array_equal(law.mean, before)


def test_what_is_restored_is_the_same_to_the_bit_and_checked():
    law = both()[0]
    arrays = law.to_arrays()
    copy = DiagonalDisplacements(2, np.eye(3), np.eye(3))
    copy.restore(ArrayReader(arrays))
    way = np.array([0.1, -0.2, 0.3])
    assert copy.log_density(way, 1) == law.log_density(way, 1)
    assert copy.log_state_density == law.log_state_density
    for name, wrong in {
        "weight": -np.ones(2),
        "mean": np.full((2, 3), np.nan),
        "spread": -np.ones((2, 3)),
        "typical_square": np.zeros(3),
        "floor": np.zeros(3),
    }.items():
        with pytest.raises(DataError, match=name):
            copy.restore(ArrayReader(arrays | {name: wrong}))
        with pytest.raises(DataError, match=name):
            copy.restore(ArrayReader(arrays | {name: arrays[name][:1]}))
