"""Laws of displacement for many features: each feature by itself."""

from __future__ import annotations

import math

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.errors import DataError
from tgm.files.arrays import ArrayReader, Arrays
from tgm.files.schema import LARGEST_POINT, LARGEST_SQUARE, Schema, floats
from tgm.transition.displacements import (
    BROAD_DOF,
    FARTHEST_STEP,
    FLOOR,
    LOG_BROAD_SHARE,
    LOG_OWN_SHARE,
    NO_DISPLACEMENT,
    SETTLED,
    prior_weight,
)

SCHEMA: Schema = {
    "weight": floats("n_actions", low=0.0),
    "mean": floats("n_actions", "n_features", size=LARGEST_POINT),
    "spread": floats("n_actions", "n_features", low=0.0, size=LARGEST_SQUARE),
    "typical_square": floats("n_features", low=0.0, size=LARGEST_SQUARE),
    "floor": floats("n_features", low=0.0, size=LARGEST_SQUARE),
}


class DiagonalDisplacements:
    """Owner of the moments of x' - x for each action, feature by feature; see `Displacements`.

    A displacement of so many features is known by their variances: there are never enough of them
    for a covariance.
    """

    def __init__(
        self,
        n_actions: int,
        typical_square: FloatArray,
        state_covariance: FloatArray,
        *,
        tells_actions_apart: bool = True,
    ) -> None:
        """Nothing moved yet; see `Displacements`."""
        self._tells_actions_apart = tells_actions_apart
        self._typical = np.diag(typical_square).copy()
        self._floor = FLOOR * np.diag(state_covariance)
        n_features = len(self._typical)
        self.weight = np.zeros(n_actions)
        self.mean = np.zeros((n_actions, n_features))
        self.spread = np.zeros((n_actions, n_features))
        self._refresh()

    @property
    def typical_step(self) -> FloatArray:
        """(n_features,) the first guess of how far a step leads: root mean squares."""
        return np.asarray(np.sqrt(self._typical))

    def add(self, action: int, displacement: FloatArray, weight: float) -> None:
        """A step of `action` that changed the state, with the belief that it did as weight."""
        if self.weight[action] >= SETTLED:
            return
        displacement = self._within_reach(displacement)
        before = float(self.weight[action])
        total = before + weight
        off = displacement - self.mean[action]
        self.mean[action] += weight / total * off
        self.spread[action] += weight * before / total * off**2
        self.weight[action] = total
        self._refresh()

    def take_back(self, action: int, displacement: FloatArray, weight: float) -> None:
        """The inverse of `add`, while the law is learned; see `Displacements`."""
        before = float(self.weight[action])
        if before >= SETTLED or not before:
            return
        after = before - weight
        if after < NO_DISPLACEMENT:
            self.weight[action] = self.mean[action] = self.spread[action] = 0.0
        else:
            off = self._within_reach(displacement) - self.mean[action]
            self.mean[action] -= weight / after * off
            spread = self.spread[action] - weight * before / after * off**2
            self.spread[action] = np.maximum(spread, 0.0)
            self.weight[action] = after
        self._refresh()

    def _within_reach(self, displacement: FloatArray) -> FloatArray:
        """A displacement, at most FARTHEST_STEP times as far as is typical."""
        length = math.sqrt(float(np.mean(displacement**2 / self._broad)))
        return displacement * (FARTHEST_STEP / length) if length > FARTHEST_STEP else displacement

    def knows(self, action: int) -> bool:
        """Whether the action has moved anything yet, so that it has a law of its own."""
        return self._tells_actions_apart and bool(self.weight[action] >= 0.5)

    def log_density(self, displacement: FloatArray, action: int) -> float:
        """ln density of a displacement (n_features,) under `action`, if it changes the state."""
        return float(self._log_densities(displacement[None], action)[0])

    def log_broad_density(self, displacement: FloatArray) -> float:
        """The same whatever the action is: a Student t as wide as a typical step."""
        return float(self._log_broad(displacement[None])[0])

    def densities_from(
        self, origin: FloatArray, action: int, features: FloatArray, among: IntArray
    ) -> FloatArray:
        """(n,) densities of the way from `origin` to points, over the largest of those `among`.

        features: (n, n_features) the points themselves.
        """
        logs = self._log_densities(features - origin, action)
        return np.asarray(np.exp(np.minimum(logs - logs[among].max(), 0.0)))

    def _log_broad(self, displacements: FloatArray) -> FloatArray:
        n_features = displacements.shape[1]
        square = (displacements**2 / self._broad).sum(axis=1)
        exponent = -0.5 * (BROAD_DOF + n_features)
        return np.asarray(self._broad_log_peak + exponent * np.log1p(square / BROAD_DOF))

    def _log_densities(self, displacements: FloatArray, action: int) -> FloatArray:
        log_broad = self._log_broad(displacements)
        if not self.knows(action):
            return log_broad
        weight, prior = float(self.weight[action]), prior_weight(displacements.shape[1])
        total = prior + weight
        spread = (prior * self._broad + self.spread[action]) / total
        variance = spread * (1.0 + 1.0 / total) + self._floor
        square = ((displacements - self.mean[action]) ** 2 / variance).sum(axis=1)
        log_own = -0.5 * (square + float(np.log(2 * math.pi * variance).sum()))
        return np.asarray(np.logaddexp(log_own + LOG_OWN_SHARE, log_broad + LOG_BROAD_SHARE))

    def _refresh(self) -> None:
        """The Student t of any action's displacement."""
        total = self._typical + self.spread.sum(axis=0) + self.weight @ self.mean**2
        self._broad = np.maximum(total / (1.0 + self.weight.sum()), self._floor)
        n_features = len(self._broad)
        log_volume = float(np.log(self._broad).sum())
        self.log_state_density = -0.5 * (n_features * math.log(2 * math.pi) + log_volume)
        self._broad_log_peak = (
            math.lgamma((BROAD_DOF + n_features) / 2)
            - math.lgamma(BROAD_DOF / 2)
            - 0.5 * n_features * math.log(BROAD_DOF * math.pi)
            - 0.5 * log_volume
        )

    def to_arrays(self) -> Arrays:
        """The moments."""
        return {
            "weight": self.weight,
            "mean": self.mean,
            "spread": self.spread,
            "typical_square": self._typical,
            "floor": self._floor,
        }

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave."""
        n_actions, n_features = self.mean.shape
        arrays = saved.read(SCHEMA, n_actions=n_actions, n_features=n_features)
        for name in ("typical_square", "floor"):
            if not (arrays[name] > 0.0).all():
                raise DataError(f"array '{name}' holds 0; a variance is above")
        self.weight, self.mean, self.spread = (arrays[n] for n in ("weight", "mean", "spread"))
        self._typical, self._floor = arrays["typical_square"], arrays["floor"]
        self._refresh()
