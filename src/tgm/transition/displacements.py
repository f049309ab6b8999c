"""What actions do in observation space: where an action leads that was never tried here."""

from __future__ import annotations

import math

import numpy as np

from tgm.distributions import FloatArray
from tgm.distributions.saved import Arrays, Saved

OWN_SHARE = 0.9  # of an action's own displacements, against those of all actions
BROAD_DOF = 3.0  # the displacement of any action: a Student t with heavy tails
PRIOR_WEIGHT = 0.2  # points that the broad law is worth in an action's own
FLOOR = 1e-3  # of a state's covariance: an action's displacements are never exact
SETTLED = 300.0  # displacements after which an action's law is learned no further
FARTHEST = 10.0  # times as far as a typical step
REFRESH_GROWTH = 1.1  # a law is made anew when it has this much more data


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

    def add(self, action: int, displacement: FloatArray, weight: float) -> None:
        """A step of `action` that changed the state, with the belief that it did as weight.

        After enough of them the law is settled. One that leads ten times as far as is typical
        counts as if it led just that far, so that one absurd observation does not spoil the law.
        """
        if self.weight[action] >= SETTLED:
            return
        length = math.sqrt(float(displacement @ self._broad_precision @ displacement))
        displacement = displacement * min(1.0, FARTHEST / max(length, FARTHEST))
        total = self.weight[action] + weight
        difference = displacement - self.mean[action]
        share = weight * self.weight[action] / total
        self.scatter[action] += share * (difference[:, None] * difference)
        self.mean[action] += difference * (weight / total)
        self.weight[action] = total
        if total >= self._refresh_at[action]:
            self._refresh_broad()
            self._refresh_own(action)

    def knows(self, action: int) -> bool:
        """Whether the action has moved anything yet, so that it has a law of its own."""
        return self._tells_actions_apart and bool(self.weight[action] >= 0.5)

    def log_density(self, displacement: FloatArray, action: int) -> float:
        """ln density of a displacement (n_features,) under `action`, if it changes the state."""
        return float(np.log(self.densities(displacement[None], action)[0]))

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

    @property
    def log_state_density(self) -> float:
        """ln states per unit of volume: one within the reach of a typical step.

        It does not depend on how much of the world has been seen, nor on units.
        """
        sign_and_log = np.linalg.slogdet(2 * math.pi * self._broad)
        return -0.5 * float(sign_and_log[1])

    def to_arrays(self) -> Arrays:
        """The moments, and the laws, which are made anew only now and then."""
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

    def restore(self, saved: Saved) -> None:
        """Take over what `to_arrays` gave."""
        n_actions, n_features = self.mean.shape
        square = n_features, n_features
        self.weight = saved.floats("weight", n_actions, low=0.0)
        self.mean = saved.floats("mean", n_actions, n_features)
        self.scatter = saved.scatter("scatter", n_actions, *square)
        self.typical_square = saved.positive_definite("typical_square", *square)
        self._floor = saved.positive_definite("floor", *square)
        self._set_broad(saved.positive_definite("broad", *square))
        self._own_precision = list(saved.positive_definite("own_precision", n_actions, *square))
        self._own_log_peak = saved.floats("own_log_peak", n_actions).tolist()
        self._refresh_at = saved.floats("refresh_at", n_actions)

    def refresh(self) -> None:
        """Make all laws anew from the moments."""
        self._refresh_broad()
        for action in range(len(self.weight)):
            self._refresh_own(action)

    def _refresh_broad(self) -> None:
        """The Student t of any action's displacement."""
        between = np.einsum("a,ai,aj->ij", self.weight, self.mean, self.mean)
        total = self.typical_square + self.scatter.sum(axis=0) + between
        self._set_broad(total / (1.0 + self.weight.sum()))

    def _set_broad(self, broad: FloatArray) -> None:
        n_features = len(broad)
        self._broad = broad
        self._broad_precision = np.linalg.inv(self._broad)
        self._broad_log_peak = (
            math.lgamma((BROAD_DOF + n_features) / 2)
            - math.lgamma(BROAD_DOF / 2)
            - 0.5 * n_features * math.log(BROAD_DOF * math.pi)
            - 0.5 * float(np.linalg.slogdet(self._broad)[1])
        )

    def _refresh_own(self, action: int) -> None:
        """The Gaussian of one action's displacements."""
        weight = self.weight[action]
        spread = (PRIOR_WEIGHT * self._broad + self.scatter[action]) / (PRIOR_WEIGHT + weight)
        covariance = spread * (1.0 + 1.0 / (PRIOR_WEIGHT + weight)) + self._floor
        self._own_precision[action] = np.linalg.inv(covariance)
        log_det = float(np.linalg.slogdet(2 * math.pi * covariance)[1])
        self._own_log_peak[action] = -0.5 * log_det
        self._refresh_at[action] = REFRESH_GROWTH * weight
