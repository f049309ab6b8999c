"""Predictions of steps by the laws of a plan, with their spread."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.distributions.linear_gaussian import LinearGaussian, RegressionSums, posterior
from tgm.learners.learner import Forecast
from tgm.memory.flow_memory import FlowMemory
from tgm.planning.flow_planner import Plan
from tgm.transition.flow_law import FlowLaw

NOISE_FLOOR = 1e-6  # variance, in squares of the span


class Place(NamedTuple):
    """Where an observation is, seen by a plan.

    Attributes:
        observation: (n_features,)
        charted: (1, n_coordinates) in the coordinates of the chart.
        local: (1, n_coordinates) in units of the plan.
        nearest: the support point next to it.
    """

    observation: FloatArray
    charted: FloatArray
    local: FloatArray
    nearest: int


class FlowDensity:
    """Where observations are by one plan, and the predictive density of steps, one by one.

    A step begins where the one before arrived: the last observation is not placed again.
    """

    def __init__(self, plan: Plan) -> None:
        """Compute once what is the same for all steps."""
        self.plan = plan
        self._noise = np.diag(plan.model.law.noise) + NOISE_FLOOR
        self._log_spread = float(
            0.5 * np.log(2.0 * np.pi * self._noise).sum() + np.linalg.slogdet(plan.units.axes)[1]
        )
        self._last: Place | None = None

    def log_density(self, before: FloatArray, action: int, after: FloatArray) -> float:
        """Of a step that led from one observation (n_features,) to another."""
        model, here, there = self.plan.model, self.place(before), self.place(after)
        off = self.plan.units.moved(here.charted, there.charted)[0]
        off -= model.displacement(here.local, np.array([action]))[0]
        return -0.5 * float(off @ (off / self._noise)) - self._log_spread

    def place(self, observation: FloatArray) -> Place:
        """Of an observation (n_features,), which must not be changed afterwards."""
        last = self._last
        if last is None or last.observation is not observation:
            plan, charted = self.plan, self.plan.units.charted(observation[None])
            local = plan.units.plain.local(charted)
            nearest = int(plan.interpolation.nearest(local)[0])
            last = self._last = Place(observation, charted, local, nearest)
        return last


class FlowForecaster:
    """Predicts steps by the laws of one plan and the steps that are kept.

    The plan says where a step is expected to lead. The spread is that of the predictive Student t
    given the kept steps: the noise, and the doubt about the weights of the law. It is NaN
    where the steps are numerically out of range.
    """

    def __init__(self, plan: Plan, memory: FlowMemory) -> None:
        """Weigh all kept steps once; later steps do not change it."""
        self.plan, model = plan, plan.model
        self._wall: LinearGaussian | None = None
        steps = plan.units.seen(memory.steps())
        z, actions, moved = steps.departure, steps.action, steps.arrival - steps.departure
        into_wall, inputs = model.is_at_wall(z, actions), model.inputs(z)
        if model.wall is not None:
            hit = (inputs[into_wall], actions[into_wall], moved[into_wall])
            self._wall = _known(model.wall.law, *hit)
        self._law = _known(model.law, inputs[~into_wall], actions[~into_wall], moved[~into_wall])

    def forecast(self, observations: FloatArray) -> Forecast:
        """Where each action leads from observations (n, n_features)."""
        plan, (n, n_features) = self.plan, observations.shape
        n_actions, units = plan.model.n_actions, plan.units
        z = np.repeat(units.local(observations), n_actions, axis=0)
        actions = np.tile(np.arange(n_actions), n)
        arrival, p_end, reward = plan.model.advance(z, actions)
        covariance = units.covariances(arrival, self._covariance(z, actions))
        shape = (n, n_actions)
        return Forecast(
            units.observations(arrival).reshape(*shape, n_features),
            covariance.reshape(*shape, n_features, n_features),
            p_end.reshape(shape),
            reward.reshape(shape),
        )

    def _covariance(self, z: FloatArray, actions: IntArray) -> FloatArray:
        """(n, n_features, n_features) predictive covariance of arrivals, in local units."""
        model, wall = self.plan.model, self.plan.model.wall
        inputs = model.inputs(z)
        covariance = _spread(model.law, self._law, inputs, actions)
        if wall is not None:
            hit = model.is_at_wall(z, actions)
            covariance[hit] = _spread(wall.law, self._wall, inputs[hit], actions[hit])
        return covariance


def _known(
    law: FlowLaw, z: FloatArray, actions: IntArray, displacement: FloatArray
) -> LinearGaussian | None:
    """Posterior of a law by steps, in typical displacements; None if they are out of range."""
    with np.errstate(over="ignore", invalid="ignore"):
        sums = RegressionSums.of(_inputs(law, z, actions), displacement / law.unit)
        try:
            return posterior(law.prior, sums)
        except (np.linalg.LinAlgError, ValueError):  # not finite, or not positive any more
            return None


def _inputs(law: FlowLaw, z: FloatArray, actions: IntArray) -> FloatArray:
    """(n, n_inputs), of no points too."""
    return law.inputs(z, actions) if len(z) else np.empty((0, len(law.prior.precision)))


def _spread(
    law: FlowLaw, known: LinearGaussian | None, z: FloatArray, actions: IntArray
) -> FloatArray:
    if known is None:
        return np.full((len(z), len(law.unit), len(law.unit)), np.nan)
    return known.predictive_covariance(_inputs(law, z, actions)) * np.outer(law.unit, law.unit)
