"""The characteristic scale: how wide a state is, and how far a step leads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tgm.distributions import FloatArray

RADIUS = 3.0  # standard deviations to the edge of a state
AUTO_RADIUS = 4.5  # standard deviations to the edge, where they are learned from the states


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
    def of_deviations(cls, deviation: FloatArray, typical_step: FloatArray) -> Scale:
        """A state is as wide as `deviation`, a step `typical_step` long; both (n_features,)."""
        return cls(np.diag(deviation**2), np.diag(typical_step**2), AUTO_RADIUS)
