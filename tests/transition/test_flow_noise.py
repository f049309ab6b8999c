"""Laws of worlds that are seen with noise: a point with a speed, pushed to and fro."""

import numpy as np
import pytest
from tests import oracles
from tests.transition.swing import NOISE, learned, swung

from tgm.distributions.kalman import Gaussians
from tgm.inference.flow_filter import FlowFilter
from tgm.transition.flow_law import FlowLaw, LawShape
from tgm.transition.flow_model import FlowModel
from tgm.transition.flow_noise import expected_sums, learn_despite_noise, with_noise
from tgm.transition.flow_smoothing import (
    Smoothed,
    follows,
    smoothed,
)
from tgm.transition.flow_units import FlowUnits, Steps


def test_without_noise_none_is_found():
    steps, _ = swung(300, 0.0)
    _, model, local = learned(steps)
    assert with_noise(model, local, follows(steps)) is None


def test_random_motion_is_no_noise_of_observations():
    rng = np.random.default_rng(0)
    z = np.zeros((301, 1))
    for t in range(300):
        z[t + 1] = 0.8 * z[t] + 0.1 * rng.normal()
    steps = Steps(z[:-1], np.zeros(300, np.intp), np.zeros(300), z[1:], np.zeros(300, bool))
    units = FlowUnits.of_features(steps)
    local = units.seen(steps)
    assert with_noise(FlowModel.of(local, 1), local, follows(steps)) is None


def test_noise_is_found_and_laws_are_right_despite_it():
    steps, true = swung(600, NOISE)
    units, plain, local = learned(steps)
    found, gain = with_noise(plain, local, follows(steps))
    noise = units.axes.T @ found.model.observation_noise @ units.axes
    np.testing.assert_allclose(np.sqrt(np.diag(noise)), NOISE, rtol=0.15)
    assert gain > 100.0
    z, action = units.local(true[:-1]), steps.action[:-1]
    moved = units.local(true[1:]) - z
    goes_on = np.arange(1, 600) % 40 != 0

    def error(model):
        return np.abs(model.displacement(z, action) - moved)[goes_on].mean(axis=0)

    assert (error(found.model) < 0.5 * error(plain)).all()
    smoother = np.abs(found.smoothed.steps.departure - units.local(true)).mean(axis=0)
    assert (smoother < 0.6 * np.abs(local.departure - units.local(true)).mean(axis=0)).all()


def test_a_filter_knows_better_than_observations_where_it_is():
    steps, _ = swung(600, NOISE)
    units, plain, local = learned(steps)
    model = with_noise(plain, local, follows(steps))[0].model
    other, true = swung(200, NOISE, seed=1, episode=200)
    filtering = FlowFilter(units, model)
    now, off = filtering.begin(other.departure[:1]), []
    for action, seen, where in zip(other.action, other.arrival, true[1:], strict=False):
        now, _ = filtering.step(now, np.array([action]), seen[None])
        off.append(now.mean[0] - where)
    assert (np.std(off, axis=0) < 0.6 * NOISE).all()
    claimed = np.sqrt(np.diag(now.covariance[0]))
    np.testing.assert_allclose(np.std(off, axis=0), claimed, rtol=0.4)


def linear_model(seed=0):
    """A model whose law is linear and known."""
    rng = np.random.default_rng(seed)
    law = FlowLaw(LawShape(), np.zeros((0, 2)), np.ones(2), 2)
    z, action = rng.normal(size=(50, 2)), rng.integers(2, size=50)
    law.add(z, action, z @ rng.normal(size=(2, 2)) + np.outer(action, [0.3, -0.2]))
    law.fit()
    law.noise = oracles.random_covariance(rng, 2)
    model = FlowModel(law, np.eye(2))
    model.observation_noise = oracles.random_covariance(rng, 2)
    return model


def test_smoothed_steps_are_the_conditional_of_each_episode():
    model, rng = linear_model(), np.random.default_rng(1)
    points = rng.normal(size=(9, 2))
    # Two episodes of 5 and 2 steps.
    begin = np.array([0, 1, 2, 3, 4, 6, 7])
    action = rng.integers(2, size=7)
    steps = Steps(points[begin], action, np.zeros(7), points[begin + 1], np.zeros(7, bool))
    is_next = follows(steps)
    assert is_next.tolist() == [False, True, True, True, True, False, True]
    found, total = smoothed(model, steps, is_next), 0.0
    for episode in (slice(0, 5), slice(5, 7)):
        z, a = steps.departure[episode], action[episode]
        at_zero, slopes = model.motion(np.zeros_like(z), a)
        start = z[0], model.observation_noise
        noises = model.law.noise + 1e-12 * np.eye(2), model.observation_noise
        mean, covariance, density = oracles.linear_chain_posterior(
            start, slopes, at_zero, noises, steps.arrival[episode]
        )
        total += density
        np.testing.assert_allclose(found.steps.departure[episode], mean[:-1], rtol=1e-6)
        np.testing.assert_allclose(found.steps.arrival[episode], mean[1:], rtol=1e-6)
        for t in range(len(z)):
            pair = covariance[2 * t : 2 * t + 4, 2 * t : 2 * t + 4]
            to_moved = np.block([[np.eye(2), np.zeros((2, 2))], [-np.eye(2), np.eye(2)]])
            pair, k = to_moved @ pair @ to_moved.T, episode.start + t
            np.testing.assert_allclose(found.departure[k], pair[:2, :2], rtol=1e-6, atol=1e-9)
            np.testing.assert_allclose(found.across[k], pair[:2, 2:], rtol=1e-6, atol=1e-9)
            np.testing.assert_allclose(found.moved[k], pair[2:, 2:], rtol=1e-6, atol=1e-9)
    assert found.log_density == pytest.approx(total)


@pytest.mark.parametrize("is_shared", [True, False])
@pytest.mark.parametrize("length", [0.0, 0.8])
def test_slopes_are_differences(is_shared, length):
    rng = np.random.default_rng(0)
    law = FlowLaw(LawShape(length, is_shared), rng.normal(size=(5, 2)), np.array([1.0, 3.0]), 2)
    z, action = rng.normal(size=(30, 2)), rng.integers(2, size=30)
    law.add(z, action, np.sin(z) + action[:, None])
    law.fit()
    for feature in range(2):
        near = 1e-6 * np.eye(2)[feature]
        moved = (law.displacement(z + near, action) - law.displacement(z - near, action)) / 2e-6
        np.testing.assert_allclose(law.motion(z, action)[1][:, :, feature], moved, atol=1e-6)
        inputs = (law.inputs(z + near, action) - law.inputs(z - near, action)) / 2e-6
        np.testing.assert_allclose(law.input_slopes(z, action)[..., feature], inputs, atol=1e-6)


def test_expected_sums_are_averages_over_what_is_believed():
    rng = np.random.default_rng(0)
    law = FlowLaw(LawShape(), np.zeros((0, 2)), np.array([0.5, 2.0]), 2)
    joint = np.array([oracles.random_covariance(rng, 4) for _ in range(3)])
    mean, action = rng.normal(size=(3, 4)), np.array([0, 1, 0])
    steps = Steps(mean[:, :2], action, np.zeros(3), mean[:, :2] + mean[:, 2:], np.zeros(3, bool))
    found = Smoothed(
        steps, joint[:, :2, :2], joint[:, 2:, 2:], joint[:, :2, 2:], np.eye(2), np.eye(2), 0.0
    )
    sums = expected_sums(law, found)
    n, draws = 100_000, []
    for one, covariance, a in zip(mean, joint, action, strict=True):
        drawn = rng.multivariate_normal(one, covariance, size=n)
        inputs = law.inputs(drawn[:, :2], np.full(n, a))
        draws.append(np.concatenate([inputs, drawn[:, 2:] / law.unit], axis=1))
    average = sum(one.T @ one for one in draws) / n
    whole = np.block([[sums.inputs, sums.products], [sums.products.T, sums.targets]])
    np.testing.assert_allclose(whole, average, atol=0.02 * np.abs(average).max())
    assert sums.weight == 3


def test_more_rounds_never_explain_less():
    steps, _ = swung(200, NOISE)
    _, plain, local = learned(steps)
    model = with_noise(plain, local, follows(steps))[0].model
    heights = [
        learn_despite_noise(model, local, follows(steps), rounds).smoothed.log_density
        for rounds in (0, 1, 3)
    ]
    assert heights == sorted(heights)


def test_rounds_stop_where_gains_like_the_last_one_would_not_be_enough(monkeypatch):
    steps, _ = swung(200, NOISE)
    _, plain, local = learned(steps)
    model = with_noise(plain, local, follows(steps))[0].model
    asked = []

    def counted(*given):
        asked.append(1)
        return smoothed(*given)

    monkeypatch.setattr("tgm.transition.flow_noise.smoothed", counted)
    heights = []
    for rounds, needed in ((1, -np.inf), (5, -np.inf), (5, 1e9)):
        found = learn_despite_noise(model, local, follows(steps), rounds, needed)
        heights.append((found.smoothed.log_density, len(asked)))
        asked.clear()
    assert heights[0] == heights[2]  # one round shows that five are too few
    assert [n for _, n in heights] == [2, 6, 2]
    within_reach = heights[1][0] - 1e-6
    learn_despite_noise(model, local, follows(steps), 5, within_reach)
    assert len(asked) == 6


def test_a_filter_without_steps_believes_what_it_sees():
    filtering = FlowFilter(FlowUnits(np.zeros(2), np.eye(2), np.eye(2)), linear_model())
    seen = np.array([[1.0, 2.0]])
    now = filtering.begin(seen)
    assert isinstance(now, Gaussians)
    np.testing.assert_array_equal(now.mean, seen)
    np.testing.assert_allclose(now.covariance[0], linear_model().observation_noise)
