"""Statistics that are added and taken back, and the densities that follow from them."""

import numpy as np
import pytest
from scipy.stats import chi2, multivariate_normal
from tests.oracles import moments_by_definition, random_covariance

from tgm.distributions.moments import Moments
from tgm.distributions.small import second_order
from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.perception.component_prior import ComponentPrior
from tgm.perception.gaussian_states import GaussianStates


def make(n_features: int, seed: int = 0) -> GaussianStates:
    rng = np.random.default_rng(seed)
    return GaussianStates(
        ComponentPrior(random_covariance(rng, n_features), n_features + 8.0, -1.0, 3.0)
    )


def with_points(n_features: int, n_components: int, seed: int = 0):
    rng = np.random.default_rng((seed, n_features))
    components = make(n_features, seed)
    for _ in range(n_components):
        slot = components.birth()
        for point in rng.normal(size=(rng.integers(1, 12), n_features)) + rng.normal(scale=4):
            components.add(slot, point, 1.0)
    return components, rng


def parts(moments):
    return moments.weight, moments.mean, moments.scatter


def assert_moments(actual, expected, tolerance=1e-9):
    for one, other in zip(parts(actual), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("n_features", [1, 2, 4])
def test_what_is_added_are_the_moments_and_taking_back_is_the_inverse(n_features):
    rng = np.random.default_rng(n_features)
    components = make(n_features)
    slot = components.birth()
    points = rng.normal(loc=3, size=(30, n_features))
    weights = rng.uniform(0.05, 1, size=30)
    for point, weight in zip(points, weights, strict=True):
        components.add(slot, point, weight)
    assert_moments(components.moments(slot), moments_by_definition(points, weights))
    for index in rng.permutation(30)[:20]:
        components.take_back(slot, points[index], weights[index])
        points[index], weights[index] = 0.0, 0.0
        assert_moments(components.moments(slot), moments_by_definition(points, weights))


@pytest.mark.parametrize("n_features", [1, 2, 3])
def test_the_features_of_the_means_follow_what_is_added_and_taken_back(n_features):
    components, rng = with_points(n_features, 3)
    for _ in range(3):
        slot, point = int(rng.integers(3)), rng.normal(size=n_features)
        components.add(slot, point, 0.6)
        components.add(1, point, 0.3)
        components.take_back(slot, point, 0.2)
        expected = [second_order(mean) for mean in components.mean[:3]]
        np.testing.assert_array_equal(components.mean_features, expected)


def test_a_hundredth_of_a_point_is_not_forgotten():
    components = make(2)
    slot = components.birth()
    first, far, other = np.array([0.0, 0.0]), np.array([1.0, 0.5]), np.array([0.2, -0.3])
    components.add(slot, first, 1.0)
    components.add(slot, far, 0.01)
    components.take_back(slot, first, 1.0)
    assert_moments(components.moments(slot), (0.01, far, np.zeros((2, 2))))
    components.add(slot, other, 1.0)
    components.add(slot, first, 0.5)
    components.take_back(slot, far, 0.01)
    expected = moments_by_definition(np.array([other, first]), np.array([1.0, 0.5]))
    assert_moments(components.moments(slot), expected)


def test_a_component_that_is_left_with_nothing_keeps_its_place():
    components = make(2)
    slot = components.birth()
    point = np.array([2.0, 3.0])
    components.add(slot, point, 1.0)
    components.take_back(slot, point, 1.0)
    weight, mean, scatter = parts(components.moments(slot))
    assert weight == 0.05
    assert mean.tolist() == point.tolist()
    assert not scatter.any()
    assert components.is_alive[slot]


@pytest.mark.parametrize("n_features", [1, 2, 3])
def test_log_densities_are_gaussians_with_the_predictive_covariance(n_features):
    components, rng = with_points(n_features, 5)
    for slot in components.alive:
        components.refresh(slot)
    for point in rng.normal(scale=4, size=(10, n_features)):
        expected = []
        for slot in components.alive:
            weight, mean, scatter = parts(components.moments(slot))
            covariance = components.prior.predictive_covariance(weight, scatter)
            expected.append(multivariate_normal(mean, covariance).logpdf(point))
        np.testing.assert_allclose(components.log_densities(point), expected, rtol=1e-8, atol=1e-8)
    for slot in components.alive:
        at_mean = components.log_densities(components.mean[slot])[slot]
        assert components.peak[slot] == pytest.approx(at_mean)


@pytest.mark.parametrize("n_features", [1, 2, 3])
def test_the_densities_of_many_points_are_those_of_each(n_features):
    components, rng = with_points(n_features, 4, seed=1)
    points = rng.normal(scale=4, size=(9, n_features))
    many = components.log_densities_of(points)
    assert many.shape == (9, 4)
    for row, point in zip(many, points, strict=True):
        np.testing.assert_allclose(row, components.log_densities(point), rtol=1e-10, atol=1e-10)


def test_densities_are_at_most_a_twentieth_of_the_points_behind():
    lazy, exact = make(2), make(2)
    slot, probe = lazy.birth(), np.array([2.0, -1.0])
    exact.birth()
    densities = [np.nan]  # after each number of points
    for n, point in enumerate(np.random.default_rng(0).normal(size=(200, 2)), start=1):
        lazy.add(slot, point, 1.0)
        exact.add(slot, point, 1.0)
        exact.refresh(slot)
        densities.append(exact.log_densities(probe)[slot])
        # Of up to ten points, each is seen at once.
        recent = densities[-1:] if n <= 10 else densities[int(n / 1.05) :]
        assert np.isclose(recent, lazy.log_densities(probe)[slot], rtol=0, atol=1e-9).any()


def test_slots_are_used_again_and_ids_never():
    components, _ = with_points(2, 3)
    assert components.alive.tolist() == [0, 1, 2]
    components.remove(1)
    assert components.alive.tolist() == [0, 2]
    assert components.n_alive == 2
    assert components.ids[[0, 2]].tolist() == [0, 2]
    assert components.birth() == 1
    assert components.ids[:3].tolist() == [0, 3, 2]
    assert components.birth() == 3
    assert components.n_slots == 4
    assert components.ids[3] == 4


def test_a_used_slot_starts_with_nothing():
    components, _ = with_points(2, 2)
    components.remove(0)
    assert components.birth() == 0
    components.add(0, np.array([9.0, 9.0]), 1.0)
    assert_moments(components.moments(0), (1.0, np.array([9.0, 9.0]), np.zeros((2, 2))))


def test_removed_slots_have_no_density():
    components, rng = with_points(2, 3)
    components.remove(1)
    points = rng.normal(scale=100, size=(5, 2))
    assert (components.log_densities_of(points)[:, 1] < -1e200).all()
    assert (components.log_densities_of(points)[:, [0, 2]] > -1e9).all()
    components.birth()  # without points it has none either
    assert (components.log_densities_of(points)[:, 1] < -1e200).all()


@pytest.mark.parametrize("n_components", [16, 17, 40])
def test_there_is_room_for_any_number(n_components):
    components, _ = with_points(2, n_components)
    assert components.n_slots == components.n_alive == n_components
    assert components.ids[:n_components].tolist() == list(range(n_components))
    for slot in components.alive:
        components.refresh(slot)
        weight, mean, scatter = parts(components.moments(slot))
        covariance = components.prior.predictive_covariance(weight, scatter)
        expected = multivariate_normal(mean, covariance).logpdf(mean)
        assert components.log_densities(mean)[slot] == pytest.approx(expected)
    # What was not born yet is nowhere, also beyond the first sixteen.
    assert not components.is_alive[n_components:].any()
    assert (components.ids[n_components:] == -1).all()
    slot = components.birth()
    assert components.log_densities(np.zeros(2))[slot] < -1e200


def test_another_prior_is_seen_at_once():
    components, rng = with_points(2, 2)
    wide = ComponentPrior(components.prior.covariance * 100, 10.0, 0.0, 3.0)
    components.set_prior(wide)
    weight, mean, scatter = parts(components.moments(1))
    expected = multivariate_normal(mean, wide.predictive_covariance(weight, scatter))
    point = rng.normal(size=2)
    assert components.log_densities(point)[1] == pytest.approx(expected.logpdf(point))


def test_covariances_by_hand():
    components = GaussianStates(ComponentPrior(np.eye(2), 11.0, 0.0, 3.0))
    slot = components.birth()
    for x in (-1.0, 1.0):
        components.add(slot, np.array([x, 0.0]), 1.0)
    # (11 - 1) I + diag(2, 0), over 11 + 2 - 2.
    np.testing.assert_allclose(components.covariances(np.array([slot]))[0], np.diag([12, 10]) / 11)


def plain_states() -> GaussianStates:
    return GaussianStates(ComponentPrior(0.25 * np.eye(2), 20.0, -1.0, 3.0))


@pytest.mark.parametrize(("deviations", "is_near"), [(4.6, True), (4.8, False)])
def test_states_are_compared_up_to_a_distance(deviations, is_near):
    states = plain_states()
    for place in (0.0, 0.5 * deviations):
        states.add(states.birth(), np.array([place, 0.0]), 1.0)
    assert states.near([0]) == ([(0, 1)] if is_near else [])
    assert states.near([1, 0]) == ([(1, 0), (0, 1)] if is_near else [])


@pytest.mark.parametrize(("variance", "is_wide"), [(2.4, False), (2.6, True)])
def test_a_state_may_be_two_if_its_variance_is_two_and_a_half_times_what_is_believed(
    variance, is_wide
):
    states = plain_states()
    slot = states.birth()
    scatter = 20.0 * 0.25 * np.diag([variance, 0.8])
    states.set_moments(slot, Moments(20.0, np.zeros(2), scatter))
    assert states.is_wide(slot) == is_wide


@pytest.mark.parametrize(("n_points", "is_wide"), [(10, False), (40, False), (100, True)])
def test_a_state_of_many_points_need_not_be_so_wide(n_points, is_wide):
    # Twice the believed variance along one axis; (1 + 2 sqrt(2 / n))^2 is 2.09 at 40, 1.64 at 100.
    prior = ComponentPrior(np.eye(2), 22.0, -1.8, 3.0)
    states = GaussianStates(prior)
    slot = states.birth()
    scatter = n_points * np.diag([2.0, 1.0])
    states.set_moments(slot, Moments(float(n_points), np.zeros(2), scatter))
    assert states.is_wide(slot) == is_wide


def test_a_scatter_that_is_none_is_repaired_once():
    states = plain_states()
    slot = states.birth()
    less_than_nothing = np.array([[-30.0, 0.0], [0.0, 2.0]])
    states.set_moments(slot, Moments(3.0, np.ones(2), less_than_nothing))
    repaired, peak = states.scatter[slot].copy(), float(states.peak[slot])
    assert np.linalg.eigvalsh(states.prior.inverse_scale + repaired).min() > 0.0
    assert repaired[1, 1] == pytest.approx(2.0)  # the sound feature keeps what it has
    states.refresh(slot)
    np.testing.assert_allclose(states.scatter[slot], repaired)
    assert states.peak[slot] == pytest.approx(peak)


def test_two_points_make_a_state_more_than_an_outlier():
    assert 1.0 < plain_states().surely_seen < 2.0


def test_the_fit_of_a_point_is_the_tail_of_a_chi_square():
    states, rng = with_points(3, 2)[0], np.random.default_rng(5)
    slots = np.array([1, 0])
    points = states.mean[slots] + rng.normal(size=(2, 3))
    expected = []
    for point, slot in zip(points, slots, strict=True):
        off = point - states.mean[slot]
        square = off @ states.prior.precision @ off / (1 + 1 / states.weight[slot])
        expected.append(chi2(3).sf(square))
    np.testing.assert_allclose(states.fit(points, slots), expected, rtol=1e-9)


def test_what_is_believed_of_a_state_before_it_was_seen():
    states = plain_states()
    n_features = states.n_features
    np.testing.assert_array_equal(states.prior_covariance, states.prior.covariance)
    assert states.prior_dof == states.prior.dof - n_features
    np.testing.assert_allclose(states.expected_scatter(3.0), 3.0 * states.prior.covariance)


def test_taking_back_points_that_were_never_there_leaves_a_sound_scatter():
    states = plain_states()
    slot = states.birth()
    for _ in range(3):
        states.add(slot, np.zeros(states.n_features), 1.0)
    states.take_back(slot, np.full(states.n_features, 9.0), 1.0)
    covariance = states.prior.inverse_scale + states.scatter[slot]
    assert np.linalg.eigvalsh(covariance).min() > 0
    assert np.isfinite(states.log_densities(states.mean[slot])).all()


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("weight", lambda array: 0.0 * array, "holds 0"),
        ("weight", lambda array: -array, "weight"),
        ("theta", lambda array: np.where(np.arange(array.shape[1]) == 0, -1e300, array), "density"),
        ("theta", lambda array: array[:, 1:], "theta"),
        ("mean", lambda array: array[:, 1:], "mean"),
        ("scatter", lambda array: array - 1e9, "scatter"),
        ("refresh_at", lambda array: -array, "refresh_at"),
        ("peak", lambda array: np.nan * array, "peak"),
        ("ids", lambda array: np.zeros_like(array), "an id twice"),
        ("ids", lambda array: array + 1, "in use or was"),
        ("ids", lambda array: np.where(array == 1, -1, array), "slots without a state"),
        ("free", lambda array: np.array([0]), "slots without a state"),
        ("free", lambda array: np.array([7]), "free"),
        ("next_id", lambda array: array - 1, "in use or was"),
    ],
)
def test_files_are_checked(name, change, reason):
    states = with_points(2, 3)[0]
    arrays = states.to_arrays()
    copy = make(2)
    copy.restore(ArrayReader(arrays))
    np.testing.assert_array_equal(copy.mean[:3], states.mean[:3])
    arrays[name] = change(arrays[name].copy())
    with pytest.raises(DataError, match=reason):
        make(2).restore(ArrayReader(arrays))
