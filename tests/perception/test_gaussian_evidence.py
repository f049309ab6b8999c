"""The common covariance of states; cuts of their points, and how wide they are."""

import numpy as np
import pytest
from tests.oracles import share_of_narrower_half

from tgm.perception.component_prior import ComponentPrior
from tgm.perception.gaussian_evidence import (
    chance_width,
    pooled_covariance,
    share_of_half,
    two_sides,
    widest,
    widest_spread,
)
from tgm.perception.gaussian_states import GaussianStates

FIRST = np.diag([0.04, 0.01])
DEVIATION = 0.15
PRIOR = ComponentPrior(DEVIATION**2 * np.eye(2), 22.0, -1.8, 3.0)


def learned_from(clouds: list[np.ndarray]) -> np.ndarray:
    states = GaussianStates(ComponentPrior(FIRST, 22.0, 0.0, 3.5))
    for points in clouds:
        slot = states.birth()
        for point in points:
            states.add(slot, point, 1.0)
    states.learn_scale(FIRST, np.zeros(2))
    return states.prior.covariance


def test_the_wider_half_has_no_say():
    rng = np.random.default_rng(0)
    narrow = [rng.normal(place, 0.1, size=(11, 2)) for place in (0, 5, 10)]
    wide = [np.array([[0.0, 20.0], [3.0, 20.0]] * 5), rng.normal(30, 2.0, size=(11, 2))]
    alone = np.array([[50.0, 50.0]])  # one point tells nothing of a width
    learned = learned_from([wide[0], *narrow, wide[1], alone])
    # 49 degrees of freedom in all: the three narrow ones, with 30, are the first half.
    scatter = sum(len(points) * np.cov(points.T, bias=True) for points in narrow)
    share = share_of_narrower_half([9.0, 10.0, 10.0, 10.0, 10.0], 2)
    expected = (10 * FIRST + scatter / share) / (10 + 30)
    np.testing.assert_allclose(learned, expected, rtol=1e-5)


@pytest.mark.parametrize("n_points", [2, 3, 5, 20])
def test_the_narrower_half_of_equally_wide_states_does_not_make_them_narrow(n_points):
    rng = np.random.default_rng(n_points)
    scatter = np.array([np.cov(p.T, bias=True) for p in rng.normal(size=(4000, n_points, 2))])
    prior = ComponentPrior(np.eye(2), 22.0, 0.0, 3.0)
    weight = np.full(4000, float(n_points))
    learned = pooled_covariance(prior, weight, n_points * scatter, np.eye(2), np.zeros(2))
    np.testing.assert_allclose(learned, np.eye(2), atol=0.1)


def test_states_without_points_to_spare_correct_nothing():
    assert share_of_half(np.zeros(0), 2) == 1.0


def test_the_first_guess_is_what_is_known_without_data():
    np.testing.assert_allclose(learned_from([np.zeros((1, 2)), np.ones((1, 2))]), FIRST)


def test_what_is_learned_may_be_wider_as_states_gather_points():
    first, no_step = np.array([1.0, 0.1]), np.zeros(2)
    for points in (np.zeros(0), np.array([1.0, 19.0]), np.full(3, 20.0)):
        np.testing.assert_allclose(widest(points, first, no_step), [1.25, 0.125])
    np.testing.assert_allclose(widest(np.array([10.0, 150.0]), first, no_step), [2.5, 0.25])


def test_a_width_at_which_no_neighbours_were_joined_is_learned_whatever_the_first_guess_was():
    few, first = np.ones(3), np.array([1.0, 0.1])
    np.testing.assert_allclose(widest(few, first, np.ones(2)), [1.25, 0.35])
    rng, prior = np.random.default_rng(0), ComponentPrior(1e-4 * np.eye(2), 22.0, 0.0, 3.0)
    points = 0.15 * rng.normal(size=(4000, 3, 2))
    scatter = np.array([3 * np.cov(p.T, bias=True) for p in points])
    weight, narrow = np.full(4000, 3.0), 0.1**2 * np.eye(2)
    capped = pooled_covariance(prior, weight, scatter, narrow, np.array([0.6, 0.2]))
    np.testing.assert_allclose(np.sqrt(np.diag(capped)), [0.15, 0.125], rtol=0.05)


def test_two_sides_by_hand():
    points = np.array([[0.0, 0], [0.1, 0], [5, 0], [5.1, 0.1], [5.2, 0]])
    side = two_sides(points)
    assert (side == side[0]).tolist() == [True, True, False, False, False]
    # The first cut, at the mean, is wrong here: the second heap has outliers on the other side.
    uneven = np.array([[0.0], [0.1], [0.2], [0.3], [4.0], [20.0]])
    side = two_sides(uneven)
    assert (side == side[0]).tolist() == [True] * 5 + [False]
    uneven = np.array([[0.0], [5.0], [6.0], [7.0], [8.0]])
    side = two_sides(uneven)
    assert (side == side[0]).tolist() == [True] + [False] * 4
    # Along the longest axis, whichever that is.
    upright = two_sides(points[:, ::-1])
    assert (upright == upright[0]).tolist() == [True, True, False, False, False]
    # A cut across the shorter axis would stand as well, once made; it is not the best one.
    side = two_sides(np.array([[-2.0, -1], [-2, 1], [2, -1], [2, 1]]))
    assert (side == side[0]).tolist() == [True, True, False, False]


def test_there_are_no_two_sides_to_one_place():
    assert two_sides(np.ones((4, 2))) is None
    assert two_sides(np.ones((1, 2))) is None


def test_the_spread_of_a_component_by_hand():
    scatter = np.diag([4.0, 1.0]) * DEVIATION**2 * 10
    assert widest_spread(PRIOR.precision, scatter) == pytest.approx(40)
    oblique = np.array([[1.0, 1.0], [1.0, 1.0]]) * DEVIATION**2 * 10  # along the diagonal: 2
    assert widest_spread(PRIOR.precision, oblique) == pytest.approx(20)


@pytest.mark.parametrize("weight", [3.0, 10.0, 1000.0])
def test_the_width_by_chance_is_measured_against_the_plane(weight):
    assert chance_width(2, weight) == pytest.approx(1.0)
    assert chance_width(1, weight) < 1.0 < chance_width(3, weight) < chance_width(9, weight)


@pytest.mark.parametrize(("n_features", "n_points"), [(6, 30), (12, 30), (12, 100)])
def test_the_width_by_chance_is_that_of_random_points(n_features, n_points):
    rng = np.random.default_rng(0)

    def widest(n: int) -> float:
        points = rng.normal(size=(200, n_points, n))
        return float(np.mean(np.linalg.eigvalsh(np.swapaxes(points, 1, 2) @ points)[:, -1]))

    ratio = widest(n_features) / widest(2)
    assert chance_width(n_features, n_points) == pytest.approx(ratio, rel=0.15)


@pytest.mark.parametrize("seed", range(5))
def test_the_spread_of_two_features_is_the_largest_eigenvalue(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(6, 2)) * (1.0, 10.0**seed)
    scatter = points.T @ points
    product = PRIOR.precision @ scatter
    widest = np.linalg.eigvals(product).real.max()
    assert widest_spread(PRIOR.precision, scatter) == pytest.approx(widest)
    total = float(np.trace(product))
    assert widest_spread(PRIOR.precision, scatter, 0.99 * total) == pytest.approx(widest)
    assert widest_spread(PRIOR.precision, scatter, 1.01 * total) == 0.0


def test_the_spread_of_more_features_is_found_in_the_same_way():
    points = np.random.default_rng(0).normal(size=(9, 3)) * (1.0, 2.0, 3.0)
    precision, scatter = np.diag([1.0, 4.0, 0.5]), points.T @ points
    product = precision @ scatter
    widest, total = np.linalg.eigvals(product).real.max(), float(np.trace(product))
    assert widest_spread(precision, scatter, 0.99 * total) == pytest.approx(widest)
    assert widest_spread(precision, scatter, 1.01 * total) == 0.0
