"""Units of worlds that flow: of features, and of positions and speeds however they are mixed."""

import numpy as np
import pytest
from scipy.linalg import hadamard
from tests.transition.test_flow_model import pendulum

from tgm.transition.flow_model import FlowModel
from tgm.transition.flow_units import FlowUnits, Steps, _positions_and_speeds


def linked(n=300, seed=0):
    """Two positions with two speeds, which pushes change; small and large numbers."""
    rng = np.random.default_rng(seed)
    place, speed = rng.uniform(-1, 1, size=(n, 2)), rng.uniform(-1, 1, size=(n, 2))
    action = rng.integers(2, size=n)
    push = (2.0 * action - 1.0)[:, None] * [0.1, -0.2] + 0.1 * np.sin(3.0 * place)
    scale = np.array([2.0, 0.1, 5.0, 1.0])
    departure = np.column_stack([place, speed]) * scale
    arrival = np.column_stack([place + 0.1 * speed, speed + push]) * scale
    return Steps(departure, action, np.zeros(n), arrival, np.zeros(n, dtype=bool))


def mixed(steps, matrix):
    return steps._replace(departure=steps.departure @ matrix, arrival=steps.arrival @ matrix)


def rotation(n, seed=3):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]


@pytest.mark.parametrize("make", [FlowUnits.of_features, FlowUnits.of_motion])
def test_units_go_there_and_back(make):
    steps = linked()
    units = make(steps)
    local = units.local(steps.departure)
    np.testing.assert_allclose(units.observations(local), steps.departure, atol=1e-9)
    np.testing.assert_allclose(units.axes @ units.inverse, np.eye(4), atol=1e-9)
    low, high = np.percentile(units.seen(steps).points, [1, 99], axis=0)
    np.testing.assert_allclose(low, 0.0, atol=1e-9)
    np.testing.assert_allclose(high, 1.0, atol=1e-9)


def test_what_a_feature_adds_of_the_coordinates_has_length_one():
    axes = np.array([[3.0, 0.0], [4.0, -2.0]])
    units = FlowUnits(np.zeros(2), axes, np.linalg.inv(axes))
    np.testing.assert_allclose(units.features, [[0.6, 0.8], [0.0, -1.0]])
    plain = FlowUnits.of_features(linked())
    np.testing.assert_allclose(plain.features, np.eye(4))


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_positions_and_speeds_are_found_in_any_mixture(scale):
    steps, matrix = linked(), scale * rotation(4)
    plain, other = FlowUnits.of_motion(steps), FlowUnits.of_motion(mixed(steps, matrix))
    # What each coordinate says of the features: positions first, then their speeds.
    for inverse in (plain.inverse, matrix @ other.inverse):
        share = np.abs(inverse) * np.array([2.0, 0.1, 5.0, 1.0])[:, None]
        assert share[2:, :2].max() < 1e-6
        assert share[:2, 2:].max() < 1e-6
    one, two = plain.local(steps.departure), other.local(steps.departure @ matrix)
    for first, second in zip(one.T, two.T, strict=True):  # a sign is free
        off = min(np.abs(first - second).max(), np.abs(1.0 - first - second).max())
        assert off < 1e-6


@pytest.mark.parametrize(("share", "is_position"), [(0.8e-4, True), (1.2e-4, False)])
def test_a_position_moves_by_its_speed_but_for_one_in_ten_thousand(share, is_position):
    _, place, speed, off, push = hadamard(8).T[:5].astype(float)  # orthogonal to each other
    unexplained = np.sqrt(share / (1.0 - share)) * off
    columns = _positions_and_speeds(
        np.column_stack([place, speed]), np.column_stack([speed + unexplained, 0.5 * push])
    )
    # The place first, then its speed; or else the slower one, which is the speed.
    wanted = np.eye(2) if is_position else np.eye(2)[::-1]
    np.testing.assert_allclose(np.abs(columns), wanted, atol=1e-9)


def test_without_positions_axes_go_from_slow_to_fast():
    rng = np.random.default_rng(0)
    departure = rng.uniform(size=(400, 2))
    arrival = departure + 0.05 * np.sin(9.0 * departure) * [1.0, 4.0]
    steps = Steps(departure, np.zeros(400, int), np.zeros(400), arrival, np.zeros(400, bool))
    local = FlowUnits.of_motion(mixed(steps, rotation(2)))
    moved = local.seen(mixed(steps, rotation(2)))
    size = np.square(moved.arrival - moved.departure).mean(axis=0)
    assert 4.0 * size[0] < size[1]
    assert np.abs(np.corrcoef(moved.points.T)[0, 1]) < 1e-6


@pytest.mark.parametrize("kind", ["constant", "twice the same", "nothing moves"])
def test_units_of_features_that_say_nothing(kind):
    steps = pendulum(100)
    more = {
        "constant": 0.0 * steps.points[:, :1] + 7.0,
        "twice the same": 2.0 * steps.points[:, :1],
    }
    if kind == "nothing moves":
        steps = steps._replace(departure=np.ones((100, 2)), arrival=np.ones((100, 2)))
    else:
        points = np.concatenate([steps.points, more[kind]], axis=1)
        steps = steps._replace(departure=points[:100], arrival=points[100:])
    units = FlowUnits.of_motion(steps)
    back = units.observations(units.local(steps.departure))
    np.testing.assert_allclose(back, steps.departure, atol=1e-6)
    assert np.isfinite(units.local(steps.points)).all()


def test_the_evidence_chooses_the_units():
    steps = mixed(linked(), rotation(4))
    units, model, local = FlowModel.in_best_units(steps, 2)
    assert (units.axes != np.diag(np.diag(units.axes))).any()
    off = local.departure + model.displacement(local.departure, local.action) - local.arrival
    assert np.abs(off).max() < 0.02
    # Places that lie along a diagonal, and a law that does not know of it.
    rng = np.random.default_rng(0)
    departure = rng.normal(size=(400, 1)) + 0.2 * rng.normal(size=(400, 2))
    arrival = departure + 0.1 * np.sin(4.0 * departure[:, ::-1])
    same = Steps(departure, np.zeros(400, int), np.zeros(400), arrival, np.zeros(400, bool))
    units, _, _ = FlowModel.in_best_units(same, 1)
    np.testing.assert_array_equal(units.axes, np.diag(np.diag(units.axes)))


def test_units_of_features_are_plain_and_those_of_mixtures_are_not():
    steps = linked()
    assert FlowUnits.of_features(steps).is_plain
    assert not FlowUnits.of_motion(mixed(steps, rotation(4))).is_plain
