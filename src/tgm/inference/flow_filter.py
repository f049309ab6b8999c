"""Where the agent is in a world that flows, if observations have noise: predict, condition."""

from __future__ import annotations

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.distributions.kalman import Gaussians, condition, predict
from tgm.transition.flow_model import FlowModel
from tgm.transition.flow_smoothing import motion_noise
from tgm.transition.flow_units import FlowUnits


class FlowFilter:
    """A Kalman filter over laws, in the units of observations.

    Attributes:
        noise: (n_features, n_features) covariance of the noise of observations.
    """

    def __init__(self, units: FlowUnits, model: FlowModel) -> None:
        """Of laws in their units."""
        self._units, self._model = units, model
        self.noise = units.axes.T @ model.observation_noise @ units.axes

    def begin(self, observations: FloatArray) -> Gaussians:
        """Beliefs from observations (n, n_features) alone."""
        n, n_features = observations.shape
        return Gaussians(observations, np.broadcast_to(self.noise, (n, n_features, n_features)))

    def step(
        self, before: Gaussians, actions: IntArray, observations: FloatArray
    ) -> tuple[Gaussians, FloatArray]:
        """Beliefs after actions (n,) and observations (n, n_features); ln density of these (n,)."""
        units, model = self._units, self._model
        inverse = units.inverse
        local = Gaussians(units.local(before.mean), inverse.T @ before.covariance @ inverse)
        arrival, slope = model.motion(local.mean, actions)
        there = predict(local, arrival, slope, motion_noise(model))
        now, log_density = condition(there, units.local(observations), model.observation_noise)
        mean = units.observations(now.mean)
        covariance = units.axes.T @ now.covariance @ units.axes
        return Gaussians(mean, covariance), log_density - np.linalg.slogdet(units.axes)[1]
