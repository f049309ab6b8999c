"""A model of a world that flows in a file: all kinds of ends and rewards, and what is refused."""

import numpy as np
import pytest

from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.transition.flow_chart import Chart, Circle
from tgm.transition.flow_ends import HalfSpaces, LogisticEnds, NoEnds, Thresholds
from tgm.transition.flow_file import (
    model_from_arrays,
    model_to_arrays,
    sums_from_arrays,
    sums_to_arrays,
    units_from_arrays,
    units_to_arrays,
)
from tgm.transition.flow_law import FlowLaw, LawShape
from tgm.transition.flow_model import FlowModel, Wall
from tgm.transition.flow_rewards import RewardLaw
from tgm.transition.flow_turns import Turn, embedded
from tgm.transition.flow_units import FlowUnits


def model(n_bumps: int = 3, *, is_shared: bool = False) -> FlowModel:
    """Two features, two actions; laws learned from 40 steps."""
    rng = np.random.default_rng(0)
    z, actions = rng.uniform(size=(40, 2)), rng.integers(2, size=40)
    shape = LawShape(0.4 if n_bumps else 0.0, is_shared, 100.0)
    law = FlowLaw(shape, z[:n_bumps], np.array([0.1, 0.2]), 2)
    law.add(z, actions, 0.1 * np.sin(5.0 * z) + 0.01 * actions[:, None])
    law.fit()
    return FlowModel(law, np.array([[1.0, 0.0], [0.6, 0.8]]))


Z = np.random.default_rng(1).uniform(size=(30, 2))
ACTIONS = np.arange(30) % 2


def assert_same(one: FlowModel, other: FlowModel) -> None:
    for ours, theirs in zip(one.advance(Z, ACTIONS), other.advance(Z, ACTIONS), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def copied(one: FlowModel) -> FlowModel:
    return model_from_arrays(ArrayReader(model_to_arrays(one)), 2, 2)


ENDS = {
    "none": NoEnds(),
    "thresholds": lambda d: Thresholds(d, np.array([0.1, -np.inf, -np.inf, 0.2]), np.full(4, 0.9)),
    "planes": HalfSpaces(np.array([[-1.0, 2.0, 0.5], [0.3, -1.0, 0.0], [-2.0, 0.0, 1.0]])),
    "quadratic": LogisticEnds(np.array([-1.0, 0.5, 0.2, 3.0, -1.0, 0.1])),
}


@pytest.mark.parametrize("is_shared", [True, False])
@pytest.mark.parametrize("n_bumps", [0, 3])
def test_laws_of_any_shape_survive(n_bumps, is_shared):
    one = model(n_bumps, is_shared=is_shared)
    copy = copied(one)
    assert_same(one, copy)
    assert copy.law.shape == one.law.shape
    np.testing.assert_array_equal(copy.law.noise, one.law.noise)
    np.testing.assert_array_equal(copy.directions, one.directions)


@pytest.mark.parametrize("kind", ENDS)
def test_ends_of_any_kind_survive(kind):
    one = model()
    one.ends = ENDS[kind](one.directions) if kind == "thresholds" else ENDS[kind]
    copy = copied(one)
    assert type(copy.ends) is type(one.ends)
    assert_same(one, copy)


@pytest.mark.parametrize("forms", [(0, 0), (1, 0), (0, 2), (2, 1)])
def test_rewards_of_any_form_survive(forms):
    rng, n_inputs = np.random.default_rng(2), (1, 7, 10)
    one = model()
    one.rewards = RewardLaw(2, forms, tuple(rng.normal(size=n_inputs[form]) for form in forms))
    one.ends = ENDS["quadratic"]
    copy = copied(one)
    assert copy.rewards.forms == forms
    assert_same(one, copy)


def test_a_wall_survives():
    one = model()
    beyond = model(0).law
    one.wall = Wall(np.array([-1.0, 0.0]), -0.5, beyond)
    copy = copied(one)
    assert_same(one, copy)
    assert copy.wall.threshold == -0.5
    assert copy.wall.is_hit(np.array([[0.4, 0.0], [0.6, 0.0]])).tolist() == [True, False]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("features", lambda array: array[:1]),
        ("law.shape", lambda array: array * [0.25, 1.0, 1.0]),
        ("law.shape", lambda array: array * [1.0, 1.0, 0.0]),
        ("law.shape", lambda array: -array),
        ("law.unit", lambda array: 0.0 * array),
        ("law.linear", lambda array: array[:1]),
        ("law.bumps", lambda array: array[:, :1]),
        ("law.noise", lambda array: array * np.nan),
        ("ends.planes", lambda array: array[:, :2]),
        ("reward.forms", lambda array: array + 3),
        ("reward.forms", lambda array: array + 1),
        ("reward.going", lambda array: np.append(array, 1.0)),
    ],
)
def test_a_model_that_was_changed_is_refused(name, change):
    one = model()
    one.ends = ENDS["planes"]
    arrays = model_to_arrays(one)
    arrays[name] = change(arrays[name])
    with pytest.raises(DataError):
        model_from_arrays(ArrayReader(arrays), 2, 2)


def test_sums_survive_and_can_be_added_to():
    law = model().law
    n_inputs = len(law.prior.precision)
    copy = sums_from_arrays(ArrayReader(sums_to_arrays(law.sums)), n_inputs, 2)
    twice, also = law.sums + law.sums, copy + law.sums
    for name in ("weight", "inputs", "products", "targets"):
        np.testing.assert_array_equal(getattr(twice, name), getattr(also, name))
    arrays = sums_to_arrays(law.sums) | {"weight": np.array([-1.0])}
    with pytest.raises(DataError):
        sums_from_arrays(ArrayReader(arrays), n_inputs, 2)


def test_units_survive_and_must_have_their_inverse():
    axes = np.array([[2.0, 1.0], [0.0, 0.5]])
    units = FlowUnits(np.array([5.0, -3.0]), axes, np.linalg.inv(axes))
    copy = units_from_arrays(ArrayReader(units_to_arrays(units)), 2)
    np.testing.assert_array_equal(copy.local(Z), units.local(Z))
    np.testing.assert_array_equal(copy.observations(Z), units.observations(Z))
    arrays = units_to_arrays(units) | {"inverse": axes}
    with pytest.raises(DataError, match="inverse"):
        units_from_arrays(ArrayReader(arrays), 2)


def charted_units():
    circle = Circle(0, 3, 2.0, 0.5, is_whole=True)
    common = np.arange(10.0).reshape(2, 5)
    chart = Chart(np.array([2]), (circle,), np.array([1, 4]), 4, 0.1, common)
    axes = np.diag([2.0, 3.0])
    return FlowUnits(np.array([5.0, -3.0]), axes, np.linalg.inv(axes), chart)


def test_a_chart_survives():
    units = charted_units()
    copy = units_from_arrays(ArrayReader(units_to_arrays(units)), 5)
    points = np.random.default_rng(0).normal(size=(7, 5))
    np.testing.assert_array_equal(copy.local(points), units.local(points))
    np.testing.assert_array_equal(
        copy.observations(copy.local(points)), units.observations(units.local(points))
    )
    assert copy.time(points[0]) == units.time(points[0])
    assert copy.chart.circles == units.chart.circles


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("plain", lambda array: array + 1),
        ("left_out", lambda array: array[:1]),
        ("circles", lambda array: array[:0]),
        ("circles", lambda array: array + 1.0),
        ("clock", lambda array: array - 1.0),
        ("common", lambda array: array[:1]),
    ],
)
def test_a_chart_that_was_changed_is_refused(name, change):
    arrays = units_to_arrays(charted_units())
    arrays[f"chart.{name}"] = change(arrays[f"chart.{name}"])
    with pytest.raises(DataError):
        units_from_arrays(ArrayReader(arrays), 5)


def test_angles_and_rewards_of_two_levels_survive():
    turn = Turn(1, 6.0, 0.5, 0.25)
    rng = np.random.default_rng(0)
    law = FlowLaw(LawShape(0.8), rng.normal(size=(4, 3)), np.ones(2), 2)
    z, actions = rng.uniform(size=(60, 2)), rng.integers(2, size=60)
    law.add(embedded(z, (turn,)), actions, 0.1 * z)
    law.fit()
    one = FlowModel(law, np.eye(2), (turn,))
    high = np.array([np.inf, 0.5, 0.9])
    region = Thresholds(one.directions, np.full(3, -np.inf), high)
    weights = (np.array([1.0, 2.0, -0.1, 0.1]), np.zeros(1))
    one.rewards = RewardLaw(2, (3, 0), weights, (region, None))
    copy = copied(one)
    assert copy.turns == one.turns
    for found, wanted in zip(copy.advance(z, actions), one.advance(z, actions), strict=True):
        np.testing.assert_array_equal(found, wanted)
    for place in (-1.0, 2.0):
        arrays = model_to_arrays(one) | {"turns": np.array([[place, *turn[1:]]])}
        with pytest.raises(DataError):
            model_from_arrays(ArrayReader(arrays), 2, 2)
