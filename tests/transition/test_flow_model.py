"""Laws of displacement, walls, ends and rewards of small worlds whose laws are known."""

import numpy as np
import pytest

from tgm.files.arrays import ArrayReader
from tgm.transition import flow_model
from tgm.transition.flow_ends import HalfSpaces, LogisticEnds, NoEnds, Thresholds, learn_ends
from tgm.transition.flow_file import model_from_arrays, model_to_arrays
from tgm.transition.flow_law import best_shape, bump_centres, spread_out
from tgm.transition.flow_model import FlowModel
from tgm.transition.flow_units import FlowUnits, Steps


def pendulum(n, seed=0, wall=None):
    """Steps of a point with a speed; two actions push it. A wall stops it."""
    rng = np.random.default_rng(seed)
    departure = rng.uniform(-1.0, 1.0, size=(n, 2))
    departure[:, 0] = np.maximum(departure[:, 0], -1.0 if wall is None else wall)
    action = rng.integers(2, size=n)
    speed = departure[:, 1] + 0.1 * (2 * action - 1) - 0.05 * np.sin(3 * departure[:, 0])
    arrival = np.column_stack([departure[:, 0] + 0.2 * speed, speed])
    if wall is not None:
        hit = arrival[:, 0] < wall
        arrival[hit] = [wall, 0.0]
    return Steps(departure, action, np.full(n, -1.0), arrival, np.zeros(n, dtype=bool))


def learned(steps):
    units = FlowUnits.of_features(steps)
    local = units.seen(steps)
    return FlowModel.of(local, 2), local


def test_a_smooth_law_is_learned_from_few_steps():
    model, _ = learned(pendulum(300))
    units = FlowUnits.of_features(pendulum(300))
    other = units.seen(pendulum(200, seed=1))
    off = other.departure + model.displacement(other.departure, other.action) - other.arrival
    assert np.abs(off).max() < 0.01
    assert model.wall is None


@pytest.mark.parametrize(("n", "wanted"), [(1, [0]), (3, [0, 10, 4]), (9, [0, 10, 4, 9])])
def test_points_are_spread_out_by_taking_the_farthest_in_turn(n, wanted):
    points = np.array([[0.0], [9.0], [10.0], [4.0]])
    assert spread_out(points, n)[:, 0].tolist() == wanted


@pytest.mark.parametrize(
    ("n", "wanted"), [(150, 150), (800, 200), (1200, 300), (1600, 400), (5000, 400)]
)
def test_more_steps_have_more_bumps(n, wanted):
    points = np.random.default_rng(0).uniform(size=(n, 2))
    centres = bump_centres(points)
    np.testing.assert_array_equal(centres, spread_out(points, wanted))


def test_a_linear_world_needs_no_bumps():
    rng = np.random.default_rng(0)
    z, action = rng.uniform(size=(200, 3)), rng.integers(2, size=200)
    moved = z @ rng.normal(size=(3, 3)) + np.outer(action, [1.0, 0.0, 2.0])
    moved += 0.05 * rng.normal(size=moved.shape)
    steps = Steps(z, action, np.zeros(200), z + moved, np.zeros(200, dtype=bool))
    assert best_shape(steps, spread_out(z, 100), 2)[0].length == 0.0


def test_what_is_learned_later_is_added():
    steps = pendulum(400)
    units = FlowUnits.of_features(steps)
    local = units.seen(steps)
    model = FlowModel.of(local.chosen(slice(300)), 2)
    before = model.frozen()
    model.learn(local.chosen(slice(300, None)), local)
    assert model.total.weight == 400
    z, action = local.departure[:20], local.action[:20]
    assert (before.displacement(z, action) != model.displacement(z, action)).any()
    assert before.total.weight == 300


def test_a_wall_is_found_and_stops():
    model, local = learned(pendulum(600, wall=-0.9))
    assert model.wall is not None
    assert model.wall.normal.tolist() == [-1.0, 0.0]
    off = local.departure + model.displacement(local.departure, local.action) - local.arrival
    assert np.quantile(np.abs(off).max(axis=1), 0.97) < 0.02


def test_ends_beyond_a_threshold():
    rng = np.random.default_rng(0)
    arrival = rng.uniform(size=(300, 3))
    ended = (arrival[:, 1] > 0.9) | (arrival[:, 2] < 0.05)
    ends = learn_ends(arrival[~ended], arrival, ended, np.eye(arrival.shape[1]))
    assert isinstance(ends, Thresholds)
    assert ends.high[1] == pytest.approx(0.9, abs=0.02)
    assert ends.low[2] == pytest.approx(0.05, abs=0.02)
    assert np.isinf(ends.low[:2]).all()


def test_one_end_of_another_kind_has_its_own_threshold():
    arrival = np.random.default_rng(0).uniform(0.2, 0.8, size=(300, 2))
    arrival[:40, 0], arrival[40, 1] = 0.95, 0.97
    ended = np.arange(300) <= 40
    ends = learn_ends(arrival[~ended], arrival, ended, np.eye(arrival.shape[1]))
    assert isinstance(ends, Thresholds)
    assert ends.probability(np.array([[0.5, 0.96], [0.9, 0.5], [0.5, 0.5]])).tolist() == [1, 1, 0]


def test_ends_that_are_no_threshold_are_logistic():
    arrival = np.random.default_rng(0).uniform(size=(2000, 2))
    ended = np.square(arrival - 0.5).sum(axis=1) > 0.25
    ends = learn_ends(arrival[~ended], arrival, ended, np.eye(arrival.shape[1]))
    assert isinstance(ends, LogisticEnds)
    wrong = (ends.probability(arrival) > 0.5) != ended
    assert wrong.mean() < 0.01


@pytest.mark.parametrize("sides", [1, 2])
def test_ends_beyond_a_plane_in_any_direction(sides):
    rng = np.random.default_rng(1)
    normal = np.array([0.6, -0.64, 0.48])
    arrival = rng.uniform(size=(400, 3))
    along = (arrival - 0.5) @ normal
    ended = np.abs(along) > 0.5 if sides == 2 else along > 0.45
    ends = learn_ends(arrival[~ended], arrival, ended, np.eye(3))
    assert ended.sum() < 30
    assert isinstance(ends, HalfSpaces)
    assert len(ends.weights) == sides
    found = ends.weights[:, 1:] / np.linalg.norm(ends.weights[:, 1:], axis=1, keepdims=True)
    assert (np.abs(found @ normal) > 0.98).all()
    other = rng.uniform(size=(2000, 3))
    along = (other - 0.5) @ normal
    true = np.abs(along) > 0.5 if sides == 2 else along > 0.45
    assert ((ends.probability(other) > 0.5) != true).mean() < 0.02


def test_thresholds_are_those_of_features_in_any_units():
    steps = pendulum(400)
    steps = steps.chosen(steps.departure[:, 0] < 0.9)
    steps = steps._replace(ended=steps.arrival[:, 0] > 0.9)
    units = FlowUnits.of_motion(steps)
    local = units.seen(steps)
    ends = learn_ends(local.departure, local.arrival, local.ended, units.features)
    assert isinstance(ends, Thresholds)
    assert (ends.probability(local.arrival) == local.ended).all()


def test_a_wall_is_found_in_any_direction():
    steps, mix = pendulum(600, wall=-0.9), np.array([[0.6, -0.8], [0.8, 0.6]])
    mixed = steps._replace(departure=steps.departure @ mix, arrival=steps.arrival @ mix)
    units, model, local = FlowModel.in_best_units(mixed, 2)
    assert model.wall is not None
    normal = mix @ (units.inverse @ model.wall.normal)
    assert np.abs(normal[0]) > 2.0 * np.abs(normal[1])
    off = local.departure + model.displacement(local.departure, local.action) - local.arrival
    assert np.quantile(np.abs(off).max(axis=1), 0.9) < 0.02


def test_no_end_was_seen():
    nothing = learn_ends(np.zeros((3, 1)), np.ones((3, 1)), np.zeros(3, dtype=bool), np.eye(1))
    assert isinstance(nothing, NoEnds)


def test_rewards_follow_the_arrival_and_the_end():
    steps = pendulum(500)
    ended = steps.arrival[:, 0] > 0.8
    reward = np.where(ended, 10.0, 2.0 * steps.arrival[:, 1] ** 2 - 0.3 * steps.action)
    model, local = learned(steps._replace(reward=reward, ended=ended))
    found = model.rewards.expected(
        local.departure, local.action, local.arrival, ended.astype(float)
    )
    np.testing.assert_allclose(found, reward, atol=0.01)


@pytest.mark.parametrize("wall", [None, -0.9])
@pytest.mark.parametrize("across", [0.0, 0.7, 40.0])
def test_a_model_survives_a_file(wall, across):
    steps = pendulum(400, wall=wall)
    along = steps.arrival[:, 0] + across * steps.arrival[:, 1]
    steps = steps._replace(ended=along > np.quantile(along, 0.95))
    model, local = learned(steps)
    copy = model_from_arrays(ArrayReader(model_to_arrays(model)), 2, 2)
    for one, other in zip(
        model.advance(local.departure, local.action),
        copy.advance(local.departure, local.action),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("has_wall", "evidence", "is_taken"),
    [(True, 11.0, True), (True, 9.0, False), (False, 11.0, False)],
)
def test_another_shape_is_taken_if_it_has_a_wall_and_more_evidence(
    has_wall, evidence, is_taken, monkeypatch
):
    learned_from = []

    def learn(self, new, kept):
        learned_from.append(self)
        self.log_evidence = 10.0 if len(learned_from) == 1 else evidence
        self.wall = "a wall" if has_wall and len(learned_from) == 2 else None

    steps = pendulum(400, wall=-0.9)
    steps = FlowUnits.of_features(steps).seen(steps)
    shape = best_shape(steps, steps.departure[:20], 2)
    monkeypatch.setattr(flow_model, "best_shape", lambda *_: shape)
    monkeypatch.setattr(FlowModel, "learn", learn)
    model = FlowModel._of_shape(steps, shape[0], steps.departure[:20], np.eye(2), 2)
    assert len(learned_from) == 2
    assert model is learned_from[int(is_taken)]


@pytest.mark.parametrize("noise", [0.0, 1e-4])
def test_noise_of_observations_survives_a_file(noise):
    model, _ = learned(pendulum(40))
    model.observation_noise = noise * np.diag([1.0, 4.0])
    copy = model_from_arrays(ArrayReader(model_to_arrays(model)), 2, 2)
    np.testing.assert_array_equal(copy.observation_noise, noise * np.diag([1.0, 4.0]))
    assert model.has_noise is copy.has_noise is (noise > 0.0)


@pytest.mark.parametrize(
    ("inside", "odd", "threshold", "n_wrong"),
    [
        ([0.0, 1.0, 2.0], [4.0, 5.0], 3.5, 0),  # half a span below the first odd one
        ([0.0, 1.0, 3.6], [5.0, 4.0], 3.8, 0),  # or half the way to the nearest other
        ([0.0, 1.0, 2.0], [1.5, 4.0], 1.25, 1),  # of equal ones the lowest
        ([0.0, 5.0, 6.0], [4.0, 7.0], 6.5, 1),
    ],
)
def test_a_cut_by_hand(inside, odd, threshold, n_wrong):
    arrival = np.array([inside + odd]).T
    is_odd = np.arange(len(arrival)) >= len(inside)
    found = flow_model._cut(arrival, is_odd, np.ones(1))
    assert found.threshold == pytest.approx(threshold)
    assert found.n_wrong == n_wrong
    assert found.normal.tolist() == [1.0]
