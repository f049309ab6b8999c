"""The characteristic scale: how wide a state is, and how far a step leads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tgm.distributions import FloatArray
from tgm.distributions.small import well_conditioned
from tgm.perception.gaussian_states import GaussianStates

RADIUS = 3.0  # standard deviations to the edge of a state
AUTO_RADIUS = 3.5  # the same where the standard deviation is learned from the states themselves
FIRST_WEIGHT = 10.0  # points that the first guess of the common covariance is worth


@dataclass(frozen=True, eq=False)
class Scale:
    """What the agent measures in.

    Attributes:
        covariance: (n_features, n_features) first guess for a state's observations.
        step_square: (n_features, n_features) first guess of E[d d^T] of a step's displacement d.
        radius: standard deviations within which observations count as one place.
    """

    covariance: FloatArray
    step_square: FloatArray
    radius: float = RADIUS

    @classmethod
    def of_bandwidth(cls, bandwidth: float, n_features: int) -> Scale:
        """A state lies within `bandwidth`, its radius; a step leads twice as far."""
        identity = np.eye(n_features)
        return cls(identity * (bandwidth / RADIUS) ** 2, identity * (2 * bandwidth) ** 2)

    @classmethod
    def of_ratio(cls, unit: FloatArray, ratio: float) -> Scale:
        """A state is `ratio` as wide as the observation changes in a step, `unit` (n_features,)."""
        return cls(np.diag((ratio * unit) ** 2), np.diag(unit**2), AUTO_RADIUS)


def pooled_covariance(components: GaussianStates, first: FloatArray) -> FloatArray:
    """(n_features, n_features) covariance within states, learned from them and a first guess.

    Only the narrower half of the data has a say: a state that is really two would make all look
    wider than they are, and then never be found out.
    """
    alive = components.alive[components.weight[components.alive] > 1]
    freedom = components.weight[alive] - 1
    scatter = components.scatter[alive]
    order = np.argsort(np.einsum("ij,kji->k", components.prior.precision, scatter) / freedom)
    half = np.searchsorted(np.cumsum(freedom[order]), freedom.sum() / 2) + 1
    chosen = order[:half]
    weight = FIRST_WEIGHT + float(freedom[chosen].sum())
    pooled = (FIRST_WEIGHT * first + scatter[chosen].sum(axis=0)) / weight
    return well_conditioned(np.asarray(pooled), first, FIRST_WEIGHT / weight)
