"""A policy that is linear in the features of observations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tgm.distributions import FloatArray, IntArray


class LinearPolicy(NamedTuple):
    """The action of the highest score.

    Attributes:
        weights: (n_actions, 1 + n_features) of one and the features.
    """

    weights: FloatArray

    def actions(self, observations: FloatArray) -> IntArray:
        """(n,) for observations (n, n_features)."""
        scores = self.weights[:, 0] + observations @ self.weights[:, 1:].T
        return np.asarray(scores.argmax(axis=1))

    def leads(self, observations: FloatArray, values: FloatArray) -> FloatArray:
        """Values (n, n_actions), but what the policy does is worth more than all else."""
        values, actions = values.copy(), self.actions(observations)
        values[np.arange(len(values)), actions] = np.nextafter(values.max(axis=1), np.inf)
        return values
