"""States of many features: one covariance for all, diagonal plus low rank."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2, multivariate_normal
from tests.oracles import random_covariance

from tgm.distributions.moments import Moments
from tgm.distributions.small import squared_radius
from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.perception.gaussian_states import NEAR
from tgm.perception.shared_states import SharedGaussianStates
from tgm.perception.state_slots import LEAST_WEIGHT, NO_DENSITY

N = 12
NO_STEP = np.zeros(N)
DENSITY = -4.0  # ln states per unit of volume


def filled(seed: int = 0, n_states: int = 4, n_points: int = 8) -> SharedGaussianStates:
    rng = np.random.default_rng(seed)
    covariance = random_covariance(rng, N)
    states = SharedGaussianStates(covariance, DENSITY, 3.0)
    for _ in range(n_states):
        slot, place = states.birth(), rng.normal(scale=5, size=N)
        for point in rng.multivariate_normal(place, covariance, size=n_points):
            states.add(slot, point, float(rng.uniform(0.5, 1)))
        states.refresh(slot)
    return states


@pytest.mark.parametrize("seed", range(3))
def test_the_density_is_that_of_a_normal_whose_mean_is_uncertain(seed):
    states, rng = filled(seed), np.random.default_rng(seed)
    points = states.mean[0] + rng.normal(size=(5, N))
    expected = np.array(
        [
            multivariate_normal(
                states.mean[slot], (1 + 1 / states.weight[slot]) * states.prior_covariance
            ).logpdf(points)
            for slot in range(4)
        ]
    ).T
    np.testing.assert_allclose(states.log_densities_of(points), expected, rtol=1e-9)
    for point, row in zip(points, expected, strict=True):
        np.testing.assert_allclose(states.log_densities(point), row, rtol=1e-9)
    at_mean = [states.log_densities(states.mean[slot])[slot] for slot in range(4)]
    np.testing.assert_allclose(states.peak[:4], at_mean, rtol=1e-9)


def test_a_state_without_points_has_no_density():
    states = filled()
    states.remove(1)
    for slot in (states.birth(), states.birth()):
        assert states.log_densities(np.zeros(N))[slot] == NO_DENSITY
        assert states.log_densities_of(np.ones((1, N)))[0, slot] == NO_DENSITY
        assert states.weight[slot] == 0.0
        states.add(slot, np.full(N, 2.0), 1.0)
        assert states.log_densities(np.full(N, 2.0))[slot] == pytest.approx(states.peak[slot])
        np.testing.assert_array_equal(states.mean[slot], 2.0)


def test_the_fit_of_a_point_is_the_tail_of_a_chi_square():
    states, rng = filled(), np.random.default_rng(9)
    slots = np.array([2, 0, 3])
    points = states.mean[slots] + rng.normal(size=(3, N))
    expected = []
    for point, slot in zip(points, slots, strict=True):
        off = point - states.mean[slot]
        square = off @ np.linalg.inv((1 + 1 / states.weight[slot]) * states.prior_covariance) @ off
        expected.append(chi2(N).sf(square))
    np.testing.assert_allclose(states.fit(points, slots), expected, rtol=1e-9)
    np.testing.assert_allclose(states.fit(states.mean[slots], slots), 1.0)


def test_a_state_is_surely_seen_with_its_second_point():
    assert 1.0 < filled().surely_seen < 2.0


def test_distances_are_in_deviations():
    covariance = np.diag(np.linspace(0.5, 4.0, N))
    states = SharedGaussianStates(covariance, DENSITY, 3.0)
    slot = states.birth()
    states.add(slot, np.ones(N), 1.0)
    off = np.arange(N) / N
    square = float((off**2 / np.diag(covariance)).sum())
    assert states.squared_distances([1.0 + off], slot) == pytest.approx([square])
    np.testing.assert_allclose(states.in_deviations(off), off / np.diag(covariance))
    np.testing.assert_allclose(states.covariances(np.array([slot, slot])), [covariance] * 2)
    assert states.covariance(slot) == pytest.approx(covariance.ravel().tolist())
    np.testing.assert_allclose(states.expected_scatter(3.0), 3.0 * covariance)


def test_the_log_odds_of_a_point_are_the_ratio_of_two_densities():
    states, rng = filled(), np.random.default_rng(3)
    first, second = states.moments(0), replace(states.moments(1), weight=np.array(0.4))
    point = 0.5 * (first.mean + second.mean) + rng.normal(size=N)
    one, other = (
        multivariate_normal(m.mean, (1 + 1 / m.weight) * states.prior_covariance).logpdf(point)
        for m in (first, second)
    )
    assert states.log_odds(first, second)(point) == pytest.approx(one - other)


@pytest.mark.parametrize(("factor", "is_near"), [(0.99, True), (1.01, False)])
def test_near_states_lie_within_as_many_deviations_as_five_in_the_plane(factor, is_near):
    covariance = np.diag(np.linspace(0.5, 4.0, N))
    states = SharedGaussianStates(covariance, DENSITY, 3.0)
    way = np.zeros(N)
    way[3] = factor * np.sqrt(squared_radius(N, NEAR) * covariance[3, 3])
    for place in (np.zeros(N), way, np.full(N, 99.0), np.zeros(N)):
        states.add(states.birth(), place, 1.0)
    states.remove(3)  # what is no more is not near
    assert states.near([0]) == ([(0, 1)] if is_near else [])
    assert states.near([1, 0]) == ([(1, 0), (0, 1)] if is_near else [])


@pytest.mark.parametrize("weight", [1.0, 16.0])
@pytest.mark.parametrize(("factor", "is_wide"), [(0.99, False), (1.01, True)])
def test_a_state_is_wide_beyond_four_deviations_of_a_mean_square(weight, factor, is_wide):
    variance = np.linspace(0.5, 4.0, N)
    states = SharedGaussianStates(np.diag(variance), DENSITY, 3.0)
    slot = states.birth()
    square = factor * (N + 4 * np.sqrt(2 * N / weight))  # the mean of chi squares has variance 2 N
    scatter = np.diag(variance * square * weight / N)
    states.set_moments(slot, Moments(np.array(weight), np.ones(N), scatter))
    assert states.is_wide(slot) == is_wide
    np.testing.assert_array_equal(states.spread[slot], np.diag(scatter))


def test_the_evidence_of_less_than_a_point_is_a_share_of_that_of_one():
    states = SharedGaussianStates(np.eye(N), DENSITY, 3.0)
    slot = states.birth()
    states.add(slot, np.ones(N), 0.25)
    assert states.log_evidence(slot) == pytest.approx(0.25 * DENSITY)
    states.add(slot, np.ones(N), 0.75)
    assert states.log_evidence(slot) == pytest.approx(DENSITY)


def test_a_state_of_which_all_is_taken_back_keeps_its_place():
    states = SharedGaussianStates(np.eye(N), DENSITY, 3.0)
    slot, point = states.birth(), np.full(N, 7.0)
    states.add(slot, point, 1.0)
    states.take_back(slot, point, 1.0)
    assert states.weight[slot] == LEAST_WEIGHT
    np.testing.assert_array_equal(states.spread[slot], 0.0)
    expected = multivariate_normal(point, (1 + 1 / LEAST_WEIGHT) * np.eye(N)).logpdf(point + 1)
    assert states.log_densities(point + 1)[slot] == pytest.approx(expected)


@pytest.mark.parametrize(("more", "is_new"), [(0.4, False), (0.6, True)])
def test_the_density_of_a_young_state_is_computed_again_after_half_a_point(more, is_new):
    states = SharedGaussianStates(np.eye(N), DENSITY, 3.0)
    slot = states.birth()
    states.add(slot, np.zeros(N), 1.0)
    before = states.peak[slot]
    states.add(slot, np.zeros(N), more)
    assert (states.peak[slot] != before) == is_new
    wide = 1 + 1 / (1 + more * is_new)
    assert states.peak[slot] == pytest.approx(-0.5 * N * np.log(2 * np.pi * wide))


def closed_evidence(points: np.ndarray, covariance: np.ndarray) -> float:
    """ln p(points | one mean, which may lie anywhere): the first anywhere, then one by one."""
    total = DENSITY
    for n in range(1, len(points)):
        mean = points[:n].mean(axis=0)
        total += multivariate_normal(mean, (1 + 1 / n) * covariance).logpdf(points[n])
    return float(total)


@pytest.mark.parametrize("distance", [0.0, 1.0, 4.0, 8.0])
def test_the_gain_of_a_merge_is_the_difference_of_the_evidences(distance):
    rng = np.random.default_rng(1)
    covariance = random_covariance(rng, N)
    states = SharedGaussianStates(covariance, DENSITY, 3.0)
    way = distance * np.linalg.cholesky(covariance)[:, 0]
    sets = [
        rng.multivariate_normal(place, covariance, size=n)
        for place, n in ((np.zeros(N), 7), (way, 4))
    ]
    for points in sets:
        slot = states.birth()
        for point in points:
            states.add(slot, point, 1.0)
    one = closed_evidence(np.concatenate(sets), covariance)
    two = sum(closed_evidence(points, covariance) for points in sets)
    expected = one - two - states.log_repulsion(states.mean[0], 1)
    assert states.merge_gain(0, 1) == pytest.approx(expected, abs=1e-8)
    moments = states.moments(0), states.moments(1)
    assert states.split_gain(*moments) == pytest.approx(-expected, abs=1e-8)


def test_the_evidence_of_a_state_is_that_of_its_points():
    rng = np.random.default_rng(2)
    covariance = np.diag(rng.uniform(0.5, 2.0, N))
    states = SharedGaussianStates(covariance, DENSITY, 3.0)
    slot, points = states.birth(), rng.normal(size=(9, N))
    for point in points:
        states.add(slot, point, 1.0)
    assert states.log_evidence(slot) == pytest.approx(closed_evidence(points, covariance))


def test_what_was_added_can_be_taken_back():
    states = filled()
    before, together = states.moments(1), states._together.copy()
    spread = states.spread[1].copy()
    point = states.mean[1] + 1.0
    states.add(1, point, 0.7)
    assert states.weight[1] > before.weight
    states.take_back(1, point, 0.7)
    assert states.weight[1] == pytest.approx(before.weight)
    np.testing.assert_allclose(states.mean[1], before.mean, atol=1e-9)
    np.testing.assert_allclose(states.spread[1], spread, atol=1e-9)
    np.testing.assert_allclose(states._together, together, atol=1e-9)


def test_what_goes_together_is_the_scatter_within_all_states():
    rng, states = np.random.default_rng(6), SharedGaussianStates(np.eye(N), DENSITY, 3.0)
    expected = np.zeros((N, N))
    for place in (0.0, 30.0):
        slot, points = states.birth(), place + rng.normal(size=(300, 1)) + rng.normal(size=(300, N))
        for point in points:
            states.add(slot, point, 1.0)
        expected += Moments.of_points(points).scatter
    np.testing.assert_allclose(states.scale_to_arrays()["together"], expected, atol=1e-6)
    states.learn_scale(np.eye(N), NO_STEP)
    correlation = states.prior_covariance / np.diag(states.prior_covariance)[0]
    # One number is part of all features: half of their variance.
    assert 0.3 < correlation[0, 1:].min() < correlation[0, 1:].max() < 0.7


def test_the_scale_is_learned_from_the_narrower_states():
    rng, true = np.random.default_rng(0), np.linspace(0.5, 1.2, N)
    first = np.eye(N)
    states = SharedGaussianStates(first, DENSITY, 3.0)
    for place in range(6):
        slot = states.birth()
        for point in 30.0 * place + true * rng.normal(size=(40, N)):
            states.add(slot, point, 1.0)
    wide = states.birth()  # two places that are one state must not widen the others
    for point in np.concatenate([rng.normal(size=(20, N)) - 9, rng.normal(size=(20, N)) + 9]):
        states.add(wide, point, 1.0)
    states.learn_scale(first, NO_STEP)
    learned = np.sqrt(np.diag(states.prior_covariance))
    np.testing.assert_allclose(learned, true, rtol=0.25)
    assert states.is_wide(wide)
    assert not states.is_wide(0)
    # And it is never much wider than the first guess, by the points of a state.
    states.learn_scale(first / 100, NO_STEP)
    most = 0.125 * np.sqrt(40 / 20)
    assert np.sqrt(np.diag(states.prior_covariance)).max() == pytest.approx(most)
    # But where a step leads so far that no neighbours are joined.
    states.learn_scale(first / 100, np.full(N, 4.0))
    np.testing.assert_allclose(np.sqrt(np.diag(states.prior_covariance)), true, rtol=0.25)


def test_a_state_can_be_cut_in_two():
    states = filled()
    rng = np.random.default_rng(4)
    points = np.concatenate([rng.normal(size=(6, N)) - 8, rng.normal(size=(9, N)) + 8])
    side = states.cut(points)
    assert (side == side[0]).tolist() == [True] * 6 + [False] * 9
    first, second = Moments.of_points(points[:6]), Moments.of_points(points[6:])
    assert states.split_gain(first, second) > 0
    assert states.log_odds(first, second)(points[0]) > 0 > states.log_odds(first, second)(points[7])


def test_a_cut_is_made_where_states_are_apart_in_deviations():
    wide = np.diag([1e4] + [1e-2] * (N - 1))
    states, rng = SharedGaussianStates(wide, DENSITY, 3.0), np.random.default_rng(5)
    points = rng.multivariate_normal(np.zeros(N), wide, size=20)
    points[10:, 1] += 1.0  # ten deviations, and nothing beside those of the first feature
    side = states.cut(points)
    assert (side == side[0]).tolist() == [True] * 10 + [False] * 10


def test_what_is_restored_is_the_same_to_the_bit():
    states = filled()
    states.learn_scale(np.eye(N), NO_STEP)
    states.add(0, states.mean[0] + 0.1, 0.3)  # densities lag behind
    states.remove(2)
    copy = SharedGaussianStates(np.eye(N), 0.0, 1.0)
    copy.restore_scale(ArrayReader(states.scale_to_arrays()))
    copy.restore(ArrayReader(states.to_arrays()))
    point = states.mean[1] + 0.3
    np.testing.assert_array_equal(copy.log_densities(point), states.log_densities(point))
    for one in (states, copy):
        one.add(1, point, 1.0)
        one.learn_scale(np.eye(N), NO_STEP)
    for name in ("to_arrays", "scale_to_arrays"):
        ours, theirs = getattr(states, name)(), getattr(copy, name)()
        assert ours.keys() == theirs.keys()
        for key, array in ours.items():
            np.testing.assert_array_equal(theirs[key], array, err_msg=key)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("covariance", lambda array: -array),
        ("together", lambda array: array[:3]),
        ("together", lambda array: array + np.triu(np.ones_like(array), 1)),
        ("radius", lambda array: 0.0 * array),
        ("radius", lambda array: 0.0 * array + 101.0),
        ("log_state_density", lambda array: np.nan * array),
        ("weight", lambda array: -array),
        ("weight", lambda array: 0.0 * array),
        ("mean", lambda array: array[:, :3]),
        ("mean", lambda array: np.inf * array),
        ("spread", lambda array: array - 1e9),
        ("theta", lambda array: array[:, 1:]),
        ("theta", lambda array: np.full_like(array, -1e300)),
        ("refresh_at", lambda array: array - 1e9),
    ],
)
def test_files_are_checked(name, change):
    states = filled()
    scale, arrays = states.scale_to_arrays(), states.to_arrays()
    changed = {name: change({**scale, **arrays}[name].copy())}
    copy = SharedGaussianStates(np.eye(N), 0.0, 1.0)

    def restore() -> None:
        copy.restore_scale(ArrayReader(scale | changed))
        copy.restore(ArrayReader(arrays | changed))

    with pytest.raises(DataError, match=name):
        restore()
