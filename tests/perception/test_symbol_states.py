"""Exact states: a hash finds them, and nothing makes two of them one."""

import numpy as np
import pytest

from tgm.distributions.moments import Moments
from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.perception.state_slots import NO_DENSITY
from tgm.perception.symbol_states import SymbolStates


def seen(*points) -> SymbolStates:
    states = SymbolStates(len(points[0]))
    for point in points:
        states.add(states.birth(), np.array(point), 1.0)
    return states


def test_a_symbol_is_its_state_and_no_other():
    states = seen([0.0, 1.0], [1.0, 0.0])
    assert states.slot_of(np.array([1.0, 0.0])) == 1
    assert states.slot_of(np.array([1.0, 1e-300])) is None
    assert states.slot_of(np.array([-0.0, 1.0])) == 0  # the same number
    assert states.log_densities(np.array([0.0, 1.0])).tolist() == [0.0, NO_DENSITY]


def test_a_symbol_of_thousands_of_numbers_has_covariances_without_memory():
    states = seen(np.eye(5000)[3], np.eye(5000)[4])
    covariances = states.covariances(states.alive)
    assert covariances.shape == (2, 5000, 5000)
    assert covariances.strides == (0, 0, 0)
    assert not covariances[0, :5, :5].any()


def test_a_point_belongs_to_its_symbol_beyond_doubt():
    states = seen([1.0, 0.0], [2.0, 0.0])
    first, second = states.moments(0), states.moments(1)
    one, two, other = (np.array([value, 0.0]) for value in (1.0, 2.0, 3.0))
    assert states.log_odds(first, second)(one) == -NO_DENSITY
    assert states.log_odds(first, second)(two) == NO_DENSITY
    assert states.log_odds(first, second)(other) == states.log_odds(first, first)(one) == 0.0
    assert states.split_gain(first, first) == 0.0
    assert states.split_gain(first, second) == -NO_DENSITY
    assert states.cut(np.array([one, two, one])).tolist() == [True, False, True]
    assert states.cut(np.array([one, one])) is None
    same, other = states.squared_distances([one, two], 0)
    assert same == 0.0 < other
    assert states.fit(np.array([one, two]), np.array([0, 0])).tolist() == [1, 0]
    assert np.abs(states.in_deviations(np.array([0.0, 1.0]))).max() > 1e20
    assert not states.expected_scatter(5.0).any()
    assert states.log_evidence(0) == 0.0  # it could not have looked otherwise


def test_any_symbol_that_was_never_seen_is_as_likely_as_one_more_state():
    states = seen([1.0], [2.0], [4.0])
    assert states.log_anywhere(np.array([9.0])) == pytest.approx(np.log(1 / 4))
    assert states.log_repulsion(np.array([9.0]), 0) == 0.0
    assert states.log_repulsion(np.array([4.0]), 0) == NO_DENSITY


def test_one_observation_is_enough_to_decide():
    assert seen([1.0]).surely_seen == 0.0


def test_a_state_without_points_keeps_its_place_until_it_is_removed():
    states = seen([1.0], [2.0])
    states.take_back(0, np.array([1.0]), 1.0)
    assert states.slot_of(np.array([1.0])) == 0
    assert 0 < states.weight[0] < 0.1
    states.remove(0)
    assert states.slot_of(np.array([1.0])) is None
    states.set_moments(1, Moments.of_points(np.array([[3.0]])))
    assert states.slot_of(np.array([2.0])) is None
    assert states.slot_of(np.array([3.0])) == 1


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("symbol", np.array([[1.0], [1.0]]), "the same symbol"),
        ("weight", np.array([1.0, 0.0]), "holds 0"),
        ("symbol", np.array([[1.0, 2.0]]), "shape"),
    ],
)
def test_files_are_checked(name, value, reason):
    arrays = seen([1.0], [2.0]).to_arrays() | {name: value}
    with pytest.raises(DataError, match=reason):
        SymbolStates(1).restore(ArrayReader(arrays))
