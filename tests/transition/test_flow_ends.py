"""Laws of ends by hand: probabilities, and the evidence of thresholds that are wrong at times."""

import math

import numpy as np
import pytest

from tgm.transition import flow_ends
from tgm.transition.flow_ends import (
    HalfSpaces,
    LogisticEnds,
    NoEnds,
    Thresholds,
    learn_ends,
    region,
)


def test_nothing_ends_where_no_end_was_seen():
    assert NoEnds().probability(np.zeros((3, 2))).tolist() == [0.0, 0.0, 0.0]


def test_outside_of_any_bound_it_ends():
    ends = Thresholds(np.eye(2), np.array([-1.0, -np.inf]), np.array([np.inf, 2.0]))
    points = np.array([[-1.1, 0.0], [-0.9, 0.0], [9.0, -9.0], [0.0, 2.1]])
    assert ends.probability(points).tolist() == [1.0, 0.0, 0.0, 1.0]
    across = Thresholds(np.array([[0.6, 0.8]]), np.array([-np.inf]), np.array([1.0]))
    assert across.probability(np.array([[1.0, 0.4], [1.0, 0.6]])).tolist() == [0.0, 1.0]


def sigmoid(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))


def test_it_ends_in_at_least_one_half_space():
    ends = HalfSpaces(np.array([[1.0, 2.0], [-1.0, 0.5]]))
    (found,) = ends.probability(np.array([[0.75]]))
    centred = 0.75 - 0.5
    wanted = 1.0 - (1.0 - sigmoid(1.0 + 2.0 * centred)) * (1.0 - sigmoid(-1.0 + 0.5 * centred))
    assert found == pytest.approx(wanted)


def test_log_odds_of_a_quadratic_law():
    ends = LogisticEnds(np.array([1.0, 0.0, 0.0]))
    np.testing.assert_allclose(ends.probability(np.array([[0.3], [0.9]])), sigmoid(1.0))


def ended_at(*ends, n=50):
    """A walk within 0 and 1 in two features, and ends at these points."""
    rng = np.random.default_rng(0)
    inside = rng.uniform(size=(n, 2))
    inside[:4] = [[0, 0], [1, 1], [0, 1], [1, 0]]
    arrival = np.concatenate([inside, np.array(ends)])
    ended = np.arange(len(arrival)) >= n
    return inside, arrival, ended


def test_a_threshold_is_halfway_to_the_nearest_end():
    ends = learn_ends(*ended_at([1.2, 0.5], [1.4, 0.2], [0.5, -0.6]), np.eye(2))
    assert isinstance(ends, Thresholds)
    np.testing.assert_allclose(ends.high, [1.1, np.inf])
    np.testing.assert_allclose(ends.low, [-np.inf, -0.3])


def test_the_side_that_explains_most_ends_comes_first():
    """An end beyond two bounds is explained by the one that others are beyond too."""
    ends = learn_ends(*ended_at([1.2, 0.5], [1.3, 1.4]), np.eye(2))
    np.testing.assert_allclose(ends.high, [1.1, np.inf])


def test_departures_go_on_as_well():
    inside, arrival, ended = ended_at([1.4, 0.5])
    departure = np.concatenate([inside, [[1.2, 0.5]]])
    ends = learn_ends(departure, arrival, ended, np.eye(2))
    np.testing.assert_allclose(ends.high, [1.3, np.inf])


def test_one_end_on_the_wrong_side_is_an_error():
    rng = np.random.default_rng(1)
    beyond = np.column_stack([rng.uniform(1.1, 1.5, 30), rng.uniform(size=30)])
    ends = learn_ends(*ended_at(*beyond, [0.5, 0.5], n=200), np.eye(2))
    assert isinstance(ends, Thresholds)
    assert ends.high[0] == pytest.approx(0.5 + 0.5 * beyond[:, 0].min())
    assert np.isinf([*ends.low, ends.high[1]]).all()


def test_where_thresholds_explain_all_ends_no_other_rule_is_tried(monkeypatch):
    for name in ("_half_spaces", "_logistic"):
        monkeypatch.setattr(flow_ends, name, lambda *_, rule=name: pytest.fail(rule))
    departure = np.array([[0.0], [1.0], [2.0]])
    ended = np.array([False, False, True])
    law = learn_ends(departure, departure + 1.0, ended, np.eye(1))
    assert law.probability(np.array([[2.4], [2.6]])).round().tolist() == [0.0, 1.0]


def test_a_region_holds_points_and_no_others():
    points = np.random.default_rng(0).uniform(-1.0, 1.0, size=(300, 2))
    is_in = (points[:, 0] > -0.3) & (points[:, 0] < 0.6)
    found = region(points[is_in], points[~is_in], np.eye(2))
    np.testing.assert_array_equal(found.probability(points), ~is_in)
    assert found.n_finite == 2
    assert region(points[~is_in], points[is_in], np.eye(2)) is None
    across = points.sum(axis=1) > 0.0
    assert region(points[across], points[~across], np.eye(2)) is None
    assert region(points[across], points[~across], np.ones((1, 2))) is not None
