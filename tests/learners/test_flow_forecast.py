"""Forecasts by laws: where a step leads, and its spread against a regression by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from tests.transition.test_flow_model import pendulum

from tgm.learners.flow_forecast import NOISE_FLOOR, FlowDensity, FlowForecaster
from tgm.memory.flow_memory import FlowMemory
from tgm.planning.interpolation import Interpolation
from tgm.transition.flow_model import FlowModel
from tgm.transition.flow_units import FlowUnits, Steps


def kept(steps: Steps) -> FlowMemory:
    memory = FlowMemory(steps.departure.shape[1])
    for before, action, reward, after, ended in zip(*steps, strict=True):
        memory.add(before, int(action), float(reward), after, ended=bool(ended))
    return memory


def forecaster(steps: Steps) -> FlowForecaster:
    units = FlowUnits.of_features(steps)
    model = FlowModel.of(units.seen(steps), 2)
    return FlowForecaster(SimpleNamespace(model=model, units=units), kept(steps))


def noisy_line(n: int, noise: float = 0.1, seed: int = 0) -> Steps:
    """One feature that moves by 0.5 z + a, with noise; each step costs one."""
    rng = np.random.default_rng(seed)
    departure, action = rng.uniform(-1.0, 1.0, size=(n, 1)), rng.integers(2, size=n)
    arrival = 1.5 * departure + action[:, None] + noise * rng.normal(size=(n, 1))
    return Steps(departure, action, np.full(n, -1.0), arrival, np.zeros(n, dtype=bool))


def test_the_density_of_a_step_is_that_of_a_gaussian_about_what_the_laws_predict():
    steps = pendulum(300)
    units = FlowUnits.of_motion(steps)  # axes that are not those of the features
    model = FlowModel.of(units.seen(steps), 2)
    points = Interpolation(units.local(steps.departure[:9]), 0.1)
    known = FlowDensity(SimpleNamespace(model=model, units=units, interpolation=points))
    spread = np.diag(np.diag(model.law.noise)) + NOISE_FLOOR * np.eye(2)
    for before, action, after in zip(steps.departure, steps.action, steps.arrival, strict=True):
        local = units.local(before[None])
        there = units.observations(local + model.displacement(local, np.array([action])))[0]
        wanted = multivariate_normal(there, units.axes.T @ spread @ units.axes).logpdf(after)
        assert known.log_density(before, int(action), after) == pytest.approx(wanted, rel=1e-6)
        nearest = np.square(points.points - units.local(after[None])).sum(axis=1).argmin()
        assert known.place(after).nearest == nearest


def test_where_each_action_leads():
    found = forecaster(noisy_line(300)).forecast(np.array([[0.0], [0.4]]))
    assert found.expected.shape == (2, 2, 1)
    np.testing.assert_allclose(found.expected[..., 0], [[0.0, 1.0], [0.6, 1.6]], atol=0.05)
    np.testing.assert_allclose(found.reward, -1.0)
    np.testing.assert_allclose(found.end, 0.0)


def test_the_spread_is_noise_and_doubt():
    """Within the data the noise; far outside of it, and with few steps, much more."""
    for n, tolerance in ((300, 0.15), (40, 0.5)):
        found = forecaster(noisy_line(n)).forecast(np.array([[0.0], [9.0]]))
        deviation = np.sqrt(found.covariance[:, :, 0, 0])
        np.testing.assert_allclose(deviation[0], 0.1, rtol=tolerance)
        assert (deviation[1] > 1.5 * deviation[0]).all()
    small, large = (
        forecaster(noisy_line(n)).forecast(np.array([[3.0]])).covariance[0, 0, 0, 0]
        for n in (300, 40)
    )
    assert small < large


def test_units_do_not_matter():
    steps = noisy_line(200)
    scaled = steps._replace(departure=1e3 * steps.departure, arrival=1e3 * steps.arrival)
    one = forecaster(steps).forecast(np.array([[0.3]]))
    other = forecaster(scaled).forecast(np.array([[300.0]]))
    np.testing.assert_allclose(other.expected, 1e3 * one.expected, rtol=1e-6)
    np.testing.assert_allclose(other.covariance, 1e6 * one.covariance, rtol=1e-6)


def test_steps_into_a_wall_have_a_law_and_a_spread_of_their_own():
    steps = pendulum(600, wall=-0.9)
    rng = np.random.default_rng(3)
    free = steps.arrival[:, 0] > -0.9
    steps.arrival[free] += 0.01 * rng.normal(size=(free.sum(), 2))
    found = forecaster(steps)
    assert found.plan.model.wall is not None
    at_wall, away = np.array([[-0.9, -0.8]]), np.array([[0.3, 0.2]])
    stopped, moving = found.forecast(at_wall), found.forecast(away)
    np.testing.assert_allclose(stopped.expected[0], [[-0.9, 0.0]] * 2, atol=0.01)
    spread = [np.sqrt(np.diagonal(one.covariance[0, 0])) for one in (stopped, moving)]
    assert (spread[0] < 0.3 * spread[1]).all()  # the wall stops exactly
    np.testing.assert_allclose(spread[1], 0.01, rtol=0.5)
    both = found.forecast(np.concatenate([at_wall, away]))
    np.testing.assert_allclose(both.covariance[0], stopped.covariance[0])
    np.testing.assert_allclose(both.covariance[1], moving.covariance[0])


def test_numbers_out_of_range_have_no_spread():
    memory = kept(noisy_line(50))
    plan = forecaster(noisy_line(50)).plan
    memory.add(np.array([1e200]), 0, 0.0, np.array([1e200]), ended=False)
    found = FlowForecaster(plan, memory).forecast(np.zeros((1, 1)))
    assert np.isnan(found.covariance).all()
    assert np.isfinite(found.expected).all()


@pytest.mark.parametrize("n", [0, 3])
def test_few_steps_or_none_leave_the_doubt_of_the_prior(n):
    plan = forecaster(noisy_line(200)).plan
    found = FlowForecaster(plan, kept(noisy_line(200).chosen(slice(n)))).forecast(np.ones((1, 1)))
    assert np.isfinite(found.covariance).all()
