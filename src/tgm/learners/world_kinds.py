"""Kinds of worlds: which model of observations, laws and filter an empty world is made of."""

from __future__ import annotations

from typing import Protocol

from tgm.config import TGMConfig
from tgm.distributions import FloatArray
from tgm.inference.step_filter import StepFilter
from tgm.inference.symbol_filter import SymbolFilter
from tgm.inference.trust import trust_in_exact_rows, trust_in_rows
from tgm.learners.limits import most_shared_states, most_states
from tgm.memory.step_memory import StepMemory
from tgm.perception.component_prior import ComponentPrior
from tgm.perception.gaussian_states import GaussianStates
from tgm.perception.keyed_states import KeyedStates
from tgm.perception.shared_states import SharedGaussianStates
from tgm.perception.symbol_states import SymbolStates
from tgm.structure.scale import Scale
from tgm.transition.diagonal_displacements import DiagonalDisplacements
from tgm.transition.displacement_laws import KeyedDisplacements
from tgm.transition.displacements import Displacements
from tgm.transition.no_displacements import NoDisplacements
from tgm.transition.sparse import SparseTransitions
from tgm.world_model import WorldModel

MOST_FULL = 8  # features; states of more share one covariance
PRIOR_DOF = 20.0  # points that the common covariance of states is worth in each of them


class WorldKind(Protocol):
    """Makes the parts of a world of which nothing is known."""

    def most_states(self, n_features: int) -> int:
        """How many states there may be by default, of points of so many features."""

    def world(self, n_actions: int, config: TGMConfig, scale: Scale) -> WorldModel:
        """An empty world on a scale, whose matrices are (n_features, n_features)."""

    def step_filter(self, world: WorldModel, config: TGMConfig, most: int) -> StepFilter:
        """What finds the beliefs in it."""

    def trust(self, world: WorldModel, n_slots: int) -> FloatArray:
        """(n_slots, n_actions) how far each row is trusted, in tries."""


class GaussianKind:
    """States are Gaussian, and actions shift them."""

    def most_states(self, n_features: int) -> int:
        """How many states there may be by default."""
        return most_states(n_features)

    def world(self, n_actions: int, config: TGMConfig, scale: Scale) -> WorldModel:
        """An empty world on a scale."""
        displacements = Displacements(
            n_actions,
            scale.step_square,
            scale.covariance,
            tells_actions_apart=config.displacement_prior,
        )
        states = _gaussian_states(scale, displacements)
        transitions = SparseTransitions(n_actions, config.gamma)
        return WorldModel(states, transitions, displacements, StepMemory(config.kept_per_state))

    def step_filter(self, world: WorldModel, config: TGMConfig, most: int) -> StepFilter:
        """What finds the beliefs in it."""
        return StepFilter(
            world,
            config.row_prior,
            filtering=config.filtering,
            max_states=config.max_states,
            most_states=most,
        )

    def trust(self, world: WorldModel, n_slots: int) -> FloatArray:
        """(n_slots, n_actions) certainty, in which a kept step counts as much as it fits."""
        return trust_in_rows(world, n_slots)


class SharedKind(GaussianKind):
    """States of many features, which share one covariance."""

    def most_states(self, n_features: int) -> int:
        """How many states there may be by default."""
        return most_shared_states(n_features)

    def world(self, n_actions: int, config: TGMConfig, scale: Scale) -> WorldModel:
        """An empty world on a scale."""
        displacements = DiagonalDisplacements(
            n_actions,
            scale.step_square,
            scale.covariance,
            tells_actions_apart=config.displacement_prior,
        )
        density = displacements.log_state_density
        states = SharedGaussianStates(scale.covariance, density, scale.radius)
        transitions = SparseTransitions(n_actions, config.gamma)
        return WorldModel(states, transitions, displacements, StepMemory(config.kept_per_state))


def gaussian_kind(n_features: int) -> GaussianKind:
    """The kind of world for points of so many features."""
    return GaussianKind() if n_features <= MOST_FULL else SharedKind()


class KeyedKind(GaussianKind):
    """The first number of a point is a key; the others are Gaussian."""

    def world(self, n_actions: int, config: TGMConfig, scale: Scale) -> WorldModel:
        """An empty world; the scale of the key does not matter."""
        scale = Scale(scale.covariance[1:, 1:], scale.step_square[1:, 1:], scale.radius)
        displacements = KeyedDisplacements(
            n_actions,
            scale.step_square,
            scale.covariance,
            tells_actions_apart=config.displacement_prior,
        )
        states = KeyedStates(_gaussian_states(scale, displacements))
        transitions = SparseTransitions(n_actions, config.gamma)
        return WorldModel(states, transitions, displacements, StepMemory(config.kept_per_state))


class SymbolKind:
    """Points are symbols: a state is one of them."""

    def __init__(self, most: int) -> None:
        """There may be so many states by default."""
        self._most = most

    def most_states(self, n_features: int) -> int:
        """How many states there may be by default."""
        return self._most

    def world(self, n_actions: int, config: TGMConfig, scale: Scale) -> WorldModel:
        """An empty world; there is no scale."""
        return WorldModel(
            SymbolStates(len(scale.covariance)),
            SparseTransitions(n_actions, config.gamma),
            NoDisplacements(n_actions),
            StepMemory(config.kept_per_state),
        )

    def step_filter(self, world: WorldModel, config: TGMConfig, most: int) -> StepFilter:
        """What finds the beliefs in it."""
        assert isinstance(world.states, SymbolStates)
        return SymbolFilter(
            world, world.states, config.row_prior, max_states=config.max_states, most_states=most
        )

    def trust(self, world: WorldModel, n_slots: int) -> FloatArray:
        """(n_slots, n_actions) no step is misread, so only chance is a reason to try again."""
        return trust_in_exact_rows(world, n_slots)


def _gaussian_states(scale: Scale, displacements: Displacements) -> GaussianStates:
    density, n_features = displacements.log_state_density, len(scale.covariance)
    prior = ComponentPrior(scale.covariance, PRIOR_DOF + n_features, density, scale.radius)
    return GaussianStates(prior)
