"""Charts of worlds that flow: angles in place of pairs, and features that are left out."""

import numpy as np
import pytest

from tgm.transition.flow_chart import Chart, Circle, turned
from tgm.transition.flow_units import FlowUnits, Steps, charted

COMMON = np.array([[0.0, 0.0, 0.0, 7.0], [1.0, 1.0, 1.0, 4.0]])
CIRCLE = Circle(0, 2, 3.0, 0.5)
CHART = Chart(np.array([1]), (CIRCLE,), np.array([3]), 3, -0.25, COMMON)


def observations(n=40, seed=0):
    """Features 0 and 2 on a circle of radius 3, a free one, and a clock that runs backwards."""
    rng = np.random.default_rng(seed)
    angle, free = rng.uniform(-np.pi, np.pi, size=n), rng.normal(size=n)
    return angle, np.column_stack(
        [3.0 * np.cos(angle), free, 3.0 * np.sin(angle), 7.0 - 0.25 * np.arange(n)]
    )


def test_coordinates_are_the_free_feature_and_the_angle():
    angle, points = observations()
    local = CHART.local(points)
    np.testing.assert_allclose(local[:, 0], points[:, 1])
    np.testing.assert_allclose(np.exp(1j * (local[:, 1] + 0.5)), np.exp(1j * angle), atol=1e-12)
    assert np.abs(local[:, 1]).max() <= np.pi
    np.testing.assert_allclose(CHART.local(points[3]), local[3])  # of one observation too


def test_there_and_back_what_is_left_out_has_its_mean():
    _, points = observations()
    back = CHART.observations(CHART.local(points))
    np.testing.assert_allclose(back[:, :3], points[:, :3], atol=1e-12)
    assert (back[:, 3] == 7.0).all()
    assert CHART.relevant.tolist() == [True, True, True, False]


def test_an_angle_moves_the_shorter_way():
    before, after = np.array([[1.0, 3.0]]), np.array([[1.5, -3.0]])
    np.testing.assert_allclose(CHART.moved(before, after), [[0.5, 2.0 * np.pi - 6.0]])
    np.testing.assert_allclose(turned(np.array([4.0, -4.0])), [4.0 - 2 * np.pi, 2 * np.pi - 4.0])


def test_steps_arrive_as_far_from_where_they_began_as_they_moved():
    _, points = observations()
    steps = Steps(points[:-1], np.zeros(39, int), np.zeros(39), points[1:], np.zeros(39, bool))
    seen = charted(steps, CHART)
    moved = CHART.moved(CHART.local(points[:-1]), CHART.local(points[1:]))
    np.testing.assert_allclose(seen.arrival - seen.departure, moved, atol=1e-12)
    units = FlowUnits(np.array([1.0, 2.0]), np.diag([2.0, 4.0]), np.diag([0.5, 0.25]), CHART)
    np.testing.assert_allclose(units.moved(*units.charted(points[:2])), moved[0] / [2.0, 4.0])
    np.testing.assert_allclose(units.observations(units.local(points))[:, :3], points[:, :3])


def test_a_clock_runs_forwards():
    _, points = observations()
    assert (np.diff(CHART.time(points)) == 0.25).all()
    units = FlowUnits(np.zeros(2), np.eye(2), np.eye(2), CHART)
    assert units.time(points[3]) == CHART.time(points)[3]
    assert FlowUnits(np.zeros(4), np.eye(4), np.eye(4)).time(points[3]) == -np.inf


def test_covariances_are_those_of_many_points():
    """Along the circle as by sampling; across it as wide; what is left out as it varied."""
    local, spread = np.array([[1.0, 0.3]]), np.diag([0.04, 1e-4])
    found = CHART.covariances(local, spread[None])[0]
    rng = np.random.default_rng(0)
    sampled = CHART.observations(rng.multivariate_normal(local[0], spread, size=200_000))
    along = np.array([-np.sin(0.8), np.cos(0.8)])
    wanted = np.cov(sampled.T)
    pair = np.ix_([0, 2], [0, 2])
    assert along @ found[pair] @ along == pytest.approx(along @ wanted[pair] @ along, rel=0.02)
    assert found[1, 1] == pytest.approx(wanted[1, 1], rel=0.02)
    across = np.array([np.cos(0.8), np.sin(0.8)])
    assert across @ found[pair] @ across == pytest.approx(9e-4)
    assert found[3, 3] == 4.0
    assert np.linalg.eigvalsh(found).min() > 0.0
