"""States with a key: those of the inner model for points of their key, nothing for others."""

from dataclasses import replace

import numpy as np
import pytest

from tgm.distributions.moments import Moments
from tgm.files.arrays import ArrayReader
from tgm.perception.component_prior import ComponentPrior
from tgm.perception.gaussian_states import GaussianStates
from tgm.perception.keyed_states import KeyedStates

PRIOR = ComponentPrior(np.array([[0.5, 0.1], [0.1, 0.3]]), 22.0, -1.8, 3.0)
KEYS = [4.0, 4.0, 7.0]  # of three states
CENTRES = [[0.0, 0.0], [1.0, 0.5], [0.0, 0.0]]


def keyed(key: float, numbers) -> np.ndarray:
    return np.concatenate([[key], numbers])


def both() -> tuple[KeyedStates, GaussianStates]:
    """States with keys, and the inner model alone that was told the numbers."""
    rng = np.random.default_rng(0)
    states, inner = KeyedStates(GaussianStates(PRIOR)), GaussianStates(PRIOR)
    for key, centre in zip(KEYS, CENTRES, strict=True):
        slot = states.birth()
        assert inner.birth() == slot
        for numbers in rng.normal(centre, 0.4, size=(9, 2)):
            states.add(slot, keyed(key, numbers), 1.0)
            inner.add(slot, numbers, 1.0)
    return states, inner


def test_densities_are_those_of_the_numbers_where_the_key_is_the_same():
    states, inner = both()
    numbers = np.array([0.4, 0.1])
    log, plain = states.log_densities(keyed(4.0, numbers)), inner.log_densities(numbers)
    np.testing.assert_array_equal(log[:2], plain[:2])
    assert log[2] < -1e200
    many = states.log_densities_of(np.array([keyed(4.0, numbers), keyed(7.0, numbers)]))
    np.testing.assert_allclose(many[0], log)
    np.testing.assert_allclose(many[1, 2], plain[2])
    assert (many[1, :2] < -1e200).all()
    assert states.log_anywhere(keyed(9.0, numbers)) == inner.log_anywhere(numbers)


class Shifted(GaussianStates):
    """States that look as if they lay further away by what was seen before and by the action."""

    def log_densities(self, point, departure=None, action=None):
        offset = 0.0 if departure is None else departure + action
        return super().log_densities(point - offset)


def test_the_inner_model_is_told_what_came_before_without_its_key():
    states, _ = both()
    inner = Shifted(PRIOR)
    inner.restore(ArrayReader(states.inner.to_arrays()))
    states.inner, plain = inner, states.inner
    numbers, before = np.array([0.4, 0.1]), np.array([-0.3, 0.2])
    found = states.log_densities(keyed(4.0, numbers), keyed(7.0, before), 1)
    np.testing.assert_allclose(found[:2], plain.log_densities(numbers - before - 1)[:2])
    found = states.log_densities(keyed(4.0, numbers))
    np.testing.assert_array_equal(found[:2], plain.log_densities(numbers)[:2])


def test_a_state_of_another_key_takes_no_room_and_is_infinitely_far():
    states, inner = both()
    numbers = np.array([0.1, -0.1])
    assert states.log_repulsion(keyed(4.0, numbers), 0) == inner.log_repulsion(numbers, 0) < 0
    assert states.log_repulsion(keyed(7.0, numbers), 0) == 0
    points = [keyed(4.0, numbers), keyed(7.0, numbers)]
    same, other = states.squared_distances(points, 0)
    assert [same] == inner.squared_distances([numbers], 0)
    assert other > 1e20
    points = np.array([keyed(4.0, numbers), keyed(7.0, numbers)])
    chance = inner.fit(numbers[None], np.array([0]))[0]
    assert states.fit(points, np.array([0, 0])).tolist() == [chance, 0.0]


def test_near_states_and_merges_are_of_one_key():
    states, inner = both()
    assert (0, 2) in inner.near([0])  # at the same numbers
    assert states.near([0]) == [pair for pair in inner.near([0]) if pair[1] != 2]
    assert states.near([2]) == []
    assert states.merge_gain(0, 1) == inner.merge_gain(0, 1)
    assert states.merge_gain(0, 2) < -1e200


def test_structure_is_that_of_the_numbers():
    states, inner = both()
    first, second, other = (states.moments(slot) for slot in range(3))
    plain = inner.moments(0), inner.moments(1)
    assert states.split_gain(first, second) == pytest.approx(inner.split_gain(*plain))
    assert states.split_gain(first, other) > 1e200
    numbers = np.array([0.7, 0.2])
    odds = states.log_odds(first, second)(keyed(4.0, numbers))
    assert odds == pytest.approx(inner.log_odds(*plain)(numbers))
    np.testing.assert_array_equal(
        states.in_deviations(keyed(3.0, numbers)), [0.0, *inner.in_deviations(numbers)]
    )
    points = np.random.default_rng(1).normal(size=(20, 2)) + np.repeat([[0, 0], [9, 9]], 10, axis=0)
    codes = np.tile([4.0, 7.0], 10)[:, None]  # no cut by the key
    np.testing.assert_array_equal(states.cut(np.hstack([codes, points])), inner.cut(points))
    states.set_moments(0, Moments.of_points(np.hstack([np.full((20, 1), 4.0), points])))
    assert states.is_wide(0)
    assert not states.is_wide(1)


def test_moments_means_and_covariances_have_the_key_in_front_without_width():
    states, inner = both()
    moments, plain = states.moments(2), inner.moments(2)
    assert moments.weight == 9
    np.testing.assert_array_equal(moments.mean, keyed(7.0, plain.mean))
    np.testing.assert_array_equal(states.mean[2], keyed(7.0, inner.mean[2]))
    for matrix, wanted in (
        (moments.scatter, plain.scatter),
        (states.expected_scatter(3.0), inner.expected_scatter(3.0)),
        (states.covariances(np.array([1]))[0], inner.covariances(np.array([1]))[0]),
        (np.reshape(states.covariance(1), (3, 3)), np.reshape(inner.covariance(1), (2, 2))),
    ):
        assert matrix.shape == (3, 3)
        assert not matrix[0].any()
        assert not matrix[:, 0].any()
        np.testing.assert_array_equal(matrix[1:, 1:], wanted)
    np.testing.assert_array_equal(states.prior_covariance[1:, 1:], inner.prior_covariance)
    assert states.prior_covariance[0].tolist() == [1.0, 0.0, 0.0]
    assert states.prior_dof == inner.prior_dof
    assert states.surely_seen == inner.surely_seen
    assert states.log_evidence(1) == inner.log_evidence(1) != 0


def test_the_key_of_a_state_is_that_of_its_first_point_and_of_new_moments():
    states, _ = both()
    states.take_back(2, keyed(7.0, [0.0, 0.0]), 1.0)
    assert states.moments(2).weight == pytest.approx(8)
    assert states.mean[2, 0] == 7
    states.remove(2)
    assert states.birth() == 2
    states.add(2, keyed(5.0, [1.0, 1.0]), 1.0)
    assert states.mean[2].tolist() == [5.0, 1.0, 1.0]
    rounded = replace(states.moments(2), mean=np.array([5.9999999, 1.0, 1.0]))
    states.set_moments(2, rounded)
    assert states.log_densities(keyed(6.0, [1.0, 1.0]))[2] > -10
    assert states.mean[2].tolist() == [6.0, 1.0, 1.0]


def test_the_scale_is_learned_from_the_numbers():
    states, inner = both()
    first = np.array([[0.4, 0.0], [0.0, 0.4]])
    with_key = np.zeros((3, 3))
    with_key[1:, 1:] = first
    before = states.merge_gain(0, 1)
    states.set_state_density(1.0)
    inner.set_state_density(1.0)
    assert states.merge_gain(0, 1) == inner.merge_gain(0, 1) != before
    states.learn_scale(with_key, np.zeros(2))
    inner.learn_scale(first, np.zeros(2))
    np.testing.assert_array_equal(states.prior_covariance[1:, 1:], inner.prior_covariance)
    assert not np.allclose(inner.prior_covariance, PRIOR.covariance)
    copy = KeyedStates(GaussianStates(PRIOR))
    copy.restore_scale(ArrayReader(states.scale_to_arrays()))
    np.testing.assert_array_equal(copy.prior_covariance, states.prior_covariance)


def test_many_states_keep_their_keys_through_a_file():
    states = KeyedStates(GaussianStates(PRIOR))
    for key in range(100):
        states.add(states.birth(), keyed(key, [0.5, key]), 1.0)
    copy = KeyedStates(GaussianStates(PRIOR))
    copy.restore(ArrayReader(states.to_arrays()))
    for one in (states, copy):
        assert one.n_slots == one.n_alive == one.next_slot == one.next_id == 100
        np.testing.assert_array_equal(one.mean[:100, 0], np.arange(100))
        np.testing.assert_array_equal(one.mean[:100, 2], np.arange(100))
        assert one.log_densities(keyed(99, [0.5, 99.0])).argmax() == 99
    copy.next_id = 500
    assert copy.ids[copy.birth()] == 500
