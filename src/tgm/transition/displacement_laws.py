"""What a world asks of its laws of displacement, and those of worlds whose points have a key."""

from __future__ import annotations

from typing import Protocol

from tgm.distributions import FloatArray, IntArray
from tgm.files.arrays import ArrayReader, Arrays
from tgm.transition.displacements import Displacements


class DisplacementLaws(Protocol):
    """What each action does to the observation, anywhere; see `Displacements`.

    Attributes:
        weight: (n_actions,) displacements that each law was learned from.
        log_state_density: ln states per unit of volume.
    """

    weight: FloatArray
    log_state_density: float

    @property
    def typical_step(self) -> FloatArray:
        """(n_features,) the first guess of how far a step leads, without a key."""

    def add(self, action: int, displacement: FloatArray, weight: float) -> None:
        """A step of `action` that changed the state, with the belief that it did as weight."""

    def take_back(self, action: int, displacement: FloatArray, weight: float) -> None:
        """The inverse of `add`, while the law is learned."""

    def knows(self, action: int) -> bool:
        """Whether the action has a law of its own."""

    def log_density(self, displacement: FloatArray, action: int) -> float:
        """ln density of a displacement (n_features,) under `action`, if it changes the state."""

    def log_broad_density(self, displacement: FloatArray) -> float:
        """The same whatever the action is."""

    def densities_from(
        self, origin: FloatArray, action: int, features: FloatArray, among: IntArray
    ) -> FloatArray:
        """(n,) densities of the way from `origin` to points given by their features."""

    def to_arrays(self) -> Arrays:
        """Everything."""

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave."""


class KeyedDisplacements(Displacements):
    """Laws of the numbers after the key: keys have no differences."""

    def add(self, action: int, displacement: FloatArray, weight: float) -> None:
        """A step of `action` that changed the state, with the belief that it did as weight."""
        super().add(action, displacement[1:], weight)

    def take_back(self, action: int, displacement: FloatArray, weight: float) -> None:
        """The inverse of `add`, while the law is learned."""
        super().take_back(action, displacement[1:], weight)

    def log_density(self, displacement: FloatArray, action: int) -> float:
        """ln density of a displacement (n_features,) under `action`, if it changes the state."""
        return super().log_density(displacement[1:], action)

    def log_broad_density(self, displacement: FloatArray) -> float:
        """The same whatever the action is."""
        return super().log_broad_density(displacement[1:])

    def densities_from(
        self, origin: FloatArray, action: int, features: FloatArray, among: IntArray
    ) -> FloatArray:
        """(n,) densities of the way from `origin` to points given by their features."""
        return super().densities_from(origin[1:], action, features, among)
