"""Displacements where there are none: symbols have no differences, so no action has a law."""

from __future__ import annotations

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.files.arrays import ArrayReader, Arrays


class NoDisplacements:
    """The protocol of `Displacements`; an action that was not tried may lead anywhere."""

    log_state_density = 0.0

    def __init__(self, n_actions: int) -> None:
        """Every law is settled: nothing is ever added."""
        self.weight = np.full(n_actions, np.inf)

    @property
    def typical_step(self) -> FloatArray:
        """Nothing."""
        return np.zeros(0)

    def add(self, action: int, displacement: FloatArray, weight: float) -> None:
        """Learn nothing."""

    def take_back(self, action: int, displacement: FloatArray, weight: float) -> None:
        """Nothing was learned."""

    def knows(self, action: int) -> bool:
        """Whether the action has a law of its own: never."""
        return False

    def log_density(self, displacement: FloatArray, action: int) -> float:
        """ln probability of a displacement: all are the same."""
        return 0.0

    def log_broad_density(self, displacement: FloatArray) -> float:
        """The same whatever the action is."""
        return 0.0

    def densities_from(
        self, origin: FloatArray, action: int, features: FloatArray, among: IntArray
    ) -> FloatArray:
        """(n,) the same for all points, given by their features (n, n_products)."""
        return np.ones(len(features))

    def to_arrays(self) -> Arrays:
        """Nothing."""
        return {}

    def restore(self, saved: ArrayReader) -> None:
        """Nothing."""
