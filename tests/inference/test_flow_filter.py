"""The filter of noisy observations in a world that flows, against one large Gaussian."""

import numpy as np
from tests import oracles
from tests.transition.test_flow_noise import linear_model

from tgm.inference.flow_filter import FlowFilter
from tgm.transition.flow_smoothing import motion_noise
from tgm.transition.flow_units import FlowUnits


def skewed_units() -> FlowUnits:
    axes = np.array([[2.0, 0.3], [-0.5, 0.1]])
    return FlowUnits(np.array([5.0, -1.0]), axes, np.linalg.inv(axes))


def test_a_belief_after_steps_is_the_conditional_of_all_observations():
    model, units, rng = linear_model(), skewed_units(), np.random.default_rng(3)
    n = 5
    z, action = rng.normal(size=(n + 1, 2)), rng.integers(2, size=n)
    seen = units.observations(z)
    at_zero, slopes = model.motion(np.zeros((n, 2)), action)
    start = z[0], model.observation_noise
    noises = motion_noise(model), model.observation_noise
    mean, covariance, density = oracles.linear_chain_posterior(
        start, slopes, at_zero, noises, z[1:]
    )
    filtering = FlowFilter(units, model)
    now, total = filtering.begin(seen[:1]), 0.0
    for t in range(n):
        now, log_density = filtering.step(now, action[t : t + 1], seen[t + 1 : t + 2])
        total += float(log_density[0])
    np.testing.assert_allclose(now.mean[0], units.observations(mean[-1]), rtol=1e-9)
    axes = units.axes
    np.testing.assert_allclose(now.covariance[0], axes.T @ covariance[-2:, -2:] @ axes, rtol=1e-7)
    # A density of observations, not of coordinates: each step is divided by the volume of a cell.
    np.testing.assert_allclose(total, density - n * np.log(abs(np.linalg.det(axes))))


def test_many_beliefs_are_as_one_by_one():
    model, rng = linear_model(1), np.random.default_rng(4)
    filtering = FlowFilter(skewed_units(), model)
    before, after = rng.normal(size=(2, 6, 2))
    action = rng.integers(2, size=6)
    now, log_density = filtering.step(filtering.begin(before), action, after)
    for k in range(6):
        one = slice(k, k + 1)
        alone, density = filtering.step(filtering.begin(before[one]), action[one], after[one])
        np.testing.assert_allclose(now.mean[k], alone.mean[0])
        np.testing.assert_allclose(now.covariance[k], alone.covariance[0])
        np.testing.assert_allclose(log_density[k], density[0])
