"""What actions do in observation space: where an action leads that was never tried here."""

from __future__ import annotations

import math

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.distributions.small import (
    inverse,
    log_det,
    mahalanobis_coefficients,
    nearest_scatter,
    shift_moments,
    squared_length,
    well_conditioned,
)
from tgm.files.arrays import ArrayReader, Arrays
from tgm.files.schema import LARGEST_POINT, Schema, floats, positive_definite, scatter

OWN_SHARE = 0.9  # of an action's own displacements, against those of all actions
LOG_OWN_SHARE, LOG_BROAD_SHARE = math.log(OWN_SHARE), math.log1p(-OWN_SHARE)
BROAD_DOF = 3.0  # the displacement of any action: a Student t with heavy tails
PRIOR_WEIGHT = 0.2  # points that the broad law is worth in an action's own; see `prior_weight`
FLOOR = 1e-3  # of a state's covariance: an action's displacements are never exact
SETTLED = 300.0  # displacements after which an action's law is learned no further
FARTHEST_STEP = 10.0  # times as far as a typical step
NO_DISPLACEMENT = 1e-3  # displacements; fewer are what taking them back has left
LARGEST_LOG = 600.0  # of a density and of its inverse that are used as they are
LEAST_LOG = -700.0  # of a density beside it; exp of less is no number, which takes long
REFRESH_GROWTH = 1.1  # times its data, from which a law is computed again

SCHEMA: Schema = {
    "weight": floats("n_actions", low=0.0),
    "mean": floats("n_actions", "n_features", size=LARGEST_POINT),
    "scatter": scatter("n_actions", "n_features", "n_features"),
    "typical_square": positive_definite("n_features", "n_features"),
    "floor": positive_definite("n_features", "n_features"),
    "broad": positive_definite("n_features", "n_features"),
    "own_precision": positive_definite("n_actions", "n_features", "n_features"),
    "own_log_peak": floats("n_actions"),
    "refresh_at": floats("n_actions"),
}


class Displacements:
    """Owner of the moments of x' - x, for each action, over the steps that changed the state.

    A general prior, learned and soft: an action that shifted the observation in a certain way
    elsewhere will perhaps do so here. It decides nothing by itself; what was seen of an action in a
    state outweighs it at once.
    """

    def __init__(
        self,
        n_actions: int,
        typical_square: FloatArray,
        state_covariance: FloatArray,
        *,
        tells_actions_apart: bool = True,
    ) -> None:
        """Nothing moved yet.

        Args:
            n_actions: number of actions.
            typical_square: (n_features, n_features) first guess of E[d d^T], worth one step.
            state_covariance: (n_features, n_features) of a state's observations.
            tells_actions_apart: whether each action has a law of its own beside the broad one.
        """
        self._tells_actions_apart = tells_actions_apart
        n_features = len(typical_square)
        self.typical_square = typical_square
        self._floor = FLOOR * state_covariance
        self.weight = np.zeros(n_actions)
        self.mean = np.zeros((n_actions, n_features))
        self.scatter = np.zeros((n_actions, n_features, n_features))
        self._own_precision: list[FloatArray] = [np.eye(n_features)] * n_actions
        self._own_log_peak = [0.0] * n_actions
        self._refresh_at = np.zeros(n_actions)
        self.refresh()

    @property
    def typical_step(self) -> FloatArray:
        """(n_features,) the first guess of how far a step leads: root mean squares."""
        return np.asarray(np.sqrt(np.diag(self.typical_square)))

    def add(self, action: int, displacement: FloatArray, weight: float) -> None:
        """A step of `action` that changed the state, with the belief that it did as weight.

        After enough of them the law is settled. One that leads ten times as far as is typical
        counts as if it led just that far, so that one absurd observation does not spoil the law.
        """
        if self.is_settled(action):
            return
        displacement = self._within_reach(displacement)
        before = float(self.weight[action])
        total = before + weight
        mean, scatter = self.mean[action], self.scatter[action]  # views
        shift_moments(mean, scatter, displacement, weight / total, weight * before / total)
        self.weight[action] = total
        if total >= self._refresh_at[action]:
            self._refresh_broad()
            self._refresh_own(action)

    def take_back(self, action: int, displacement: FloatArray, weight: float) -> None:
        """The inverse of `add`, while the law is learned; `displacement` need not be exact."""
        before = float(self.weight[action])
        if self.is_settled(action) or not before:
            return
        after = before - weight
        if after < NO_DISPLACEMENT:
            self.weight[action] = self.mean[action] = self.scatter[action] = 0.0
        else:
            displacement = self._within_reach(displacement)
            mean, scatter = self.mean[action], self.scatter[action]  # views
            shift_moments(mean, scatter, displacement, -weight / after, -weight * before / after)
            scatter[:] = nearest_scatter(scatter)  # another displacement may have been added
            self.weight[action] = after
        self._refresh_broad()
        self._refresh_own(action)

    def _within_reach(self, displacement: FloatArray) -> FloatArray:
        """A displacement, at most FARTHEST_STEP times as far as is typical."""
        length = math.sqrt(squared_length(displacement, self._broad_precision))
        return displacement * (FARTHEST_STEP / length) if length > FARTHEST_STEP else displacement

    def is_settled(self, action: int) -> bool:
        """Whether the law of an action is learned no further."""
        return bool(self.weight[action] >= SETTLED)

    def knows(self, action: int) -> bool:
        """Whether the action has moved anything yet, so that it has a law of its own."""
        return self._tells_actions_apart and bool(self.weight[action] >= 0.5)

    def log_density(self, displacement: FloatArray, action: int) -> float:
        """ln density of a displacement (n_features,) under `action`, if it changes the state."""
        log_broad = self._log_broad(displacement)
        if not self.knows(action):
            return log_broad
        off = displacement - self.mean[action]
        log_own = self._own_log_peak[action] - 0.5 * squared_length(
            off, self._own_precision[action]
        )
        # Far from both, the broad law with its heavy tails is what is left.
        ratio = math.exp(min(log_own - log_broad, LARGEST_LOG))
        return log_broad + math.log(OWN_SHARE * ratio + (1.0 - OWN_SHARE))

    def log_broad_density(self, displacement: FloatArray) -> float:
        """The same whatever the action is: a Student t as wide as a typical step."""
        return self._log_broad(displacement)

    def _log_broad(self, displacement: FloatArray) -> float:
        square = squared_length(displacement, self._broad_precision)
        exponent = -0.5 * (BROAD_DOF + len(displacement))
        return self._broad_log_peak + exponent * math.log1p(square / BROAD_DOF)

    def densities_from(
        self, origin: FloatArray, action: int, features: FloatArray, among: IntArray
    ) -> FloatArray:
        """(n,) densities of the way from `origin` to points given by their features.

        Only their ratios count: where the densities of the points `among` them are no floats
        (64 features make products of 64 densities), all are divided by the largest of those.

        Args:
            origin: (n_features,) where the action was taken.
            action: one that is known (`knows`).
            features: (n, n_products) `second_order` features of the points. The squared distances
                under both laws are then one product, however many points there are.
            among: the indices of the points that count; there is at least one.
        """
        broad = [c / BROAD_DOF for c in mahalanobis_coefficients(self._broad_precision, origin)]
        broad[0] += 1.0
        centre, peak = origin + self.mean[action], self._own_log_peak[action] + LOG_OWN_SHARE
        own = [-0.5 * c for c in mahalanobis_coefficients(self._own_precision[action], centre)]
        own[0] += peak
        logs = np.array(broad + own).reshape(2, -1).dot(features.T)
        # No square is below zero, whatever the product lost of one that is absurdly far away.
        log_broad, log_own = logs[0], logs[1]
        np.maximum(log_broad, 1.0, out=log_broad)
        np.minimum(log_own, peak, out=log_own)
        np.log(log_broad, out=log_broad)
        log_broad *= -0.5 * (BROAD_DOF + len(origin))
        log_broad += self._broad_log_peak + LOG_BROAD_SHARE
        # One of them tells that the largest is a float, which takes less than to find it.
        is_float = max(peak, self._broad_log_peak) < LARGEST_LOG
        if not (is_float and log_broad.item(among.item(0)) > -LARGEST_LOG):
            top = float(logs[:, among].max())
            if not -LARGEST_LOG < top < LARGEST_LOG:
                logs = np.minimum(logs - top, 0.0)
        np.maximum(logs, LEAST_LOG, out=logs)
        np.exp(logs, out=logs)
        return np.asarray(np.add.reduce(logs))

    def densities(self, displacements: FloatArray, action: int) -> FloatArray:
        """(n,) densities of displacements (n, n_features)."""
        n_features = displacements.shape[1]
        square = np.sum(displacements @ self._broad_precision * displacements, axis=1)
        exponent = -0.5 * (BROAD_DOF + n_features)
        broad = np.exp(self._broad_log_peak + exponent * np.log1p(square / BROAD_DOF))
        if not self.knows(action):
            return np.asarray(broad)
        off = displacements - self.mean[action]
        square = np.sum(off @ self._own_precision[action] * off, axis=1)
        own = np.exp(self._own_log_peak[action] - 0.5 * square)
        return np.asarray(OWN_SHARE * own + (1.0 - OWN_SHARE) * broad)

    def to_arrays(self) -> Arrays:
        """The moments, and the laws, which are computed only now and then."""
        return {
            "weight": self.weight,
            "mean": self.mean,
            "scatter": self.scatter,
            "typical_square": self.typical_square,
            "floor": self._floor,
            "broad": self._broad,
            "own_precision": np.array(self._own_precision),
            "own_log_peak": np.array(self._own_log_peak),
            "refresh_at": self._refresh_at,
        }

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave."""
        n_actions, n_features = self.mean.shape
        arrays = saved.read(SCHEMA, n_actions=n_actions, n_features=n_features)
        self.weight, self.mean, self.scatter = (arrays[n] for n in ("weight", "mean", "scatter"))
        self.typical_square, self._floor = arrays["typical_square"], arrays["floor"]
        self._set_broad(arrays["broad"])
        self._own_precision = list(arrays["own_precision"])
        self._own_log_peak = arrays["own_log_peak"].tolist()
        self._refresh_at = arrays["refresh_at"]

    def refresh(self) -> None:
        """Compute all laws from the moments."""
        self._refresh_broad()
        for action in range(len(self.weight)):
            self._refresh_own(action)

    def _refresh_broad(self) -> None:
        """The Student t of any action's displacement."""
        between = (self.weight[:, None] * self.mean).T.dot(self.mean)
        total = self.typical_square + self.scatter.sum(axis=0) + between
        self._set_broad(total / (1.0 + self.weight.sum()))

    def _set_broad(self, broad: FloatArray) -> None:
        n_features = len(broad)
        broad = well_conditioned(broad, self._floor)
        self._broad = broad
        self._broad_precision = inverse(broad)
        log_volume = log_det(broad)
        self.log_state_density = -0.5 * (n_features * math.log(2 * math.pi) + log_volume)
        """ln states per unit of volume: one within the reach of a typical step. It does not
        depend on how much of the world has been seen, nor on units."""
        self._broad_log_peak = (
            math.lgamma((BROAD_DOF + n_features) / 2)
            - math.lgamma(BROAD_DOF / 2)
            - 0.5 * n_features * math.log(BROAD_DOF * math.pi)
            - 0.5 * log_volume
        )

    def _refresh_own(self, action: int) -> None:
        """The Gaussian of one action's displacements."""
        weight, prior = self.weight[action], prior_weight(self.mean.shape[1])
        spread = (prior * self._broad + self.scatter[action]) / (prior + weight)
        covariance = spread * (1.0 + 1.0 / (prior + weight)) + self._floor
        covariance = well_conditioned(covariance, self._floor)
        self._own_precision[action] = inverse(covariance)
        self._own_log_peak[action] = -0.5 * log_det(2 * math.pi * covariance)
        self._refresh_at[action] = REFRESH_GROWTH * weight


def prior_weight(n_features: int) -> float:
    """Displacements that the broad law is worth in an action's own.

    It grows with the number of features: fewer displacements than features show nothing of most
    directions, and a law must not be sure of them.
    """
    return PRIOR_WEIGHT * max(1, n_features - 1)
