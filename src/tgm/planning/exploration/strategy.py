"""What every exploration strategy answers: values of actions, and the action to try."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Protocol

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.files.arrays import ArrayReader, Arrays
from tgm.memory.step import Belief
from tgm.planning.model_planner import ModelPlanner


class Settings(Protocol):
    """The settings of `TGMConfig` that strategies read."""

    @property
    def row_prior(self) -> float:
        """Tries that the general belief about an action is worth in one state."""

    @property
    def epsilon_decay(self) -> float:
        """Steps after which epsilon has fallen to 1/e."""

    @property
    def temperature(self) -> float:
        """Temperature of softmax, in units of reward."""


class ExplorationStrategy(ABC):
    """Values of actions for an agent that wants to learn, and how an action is chosen from them.

    A learner with a model calls `act` at every step, which is `choose` of `values`. A learner
    without a model (the paper preset) has values of its own, and calls `choose` only. Each learned
    model has its own strategy object, so a strategy may keep what it has computed for that model.

    Attributes:
        needs_model: whether the strategy works only with values of its own; then it is refused for
            learners that call `choose` only.
    """

    needs_model: ClassVar[bool] = False

    def __init__(self, settings: Settings) -> None:
        """Start with a model in which nothing was learned."""
        self.settings = settings

    def values(
        self,
        planner: ModelPlanner,
        belief: Belief,
        alive: IntArray,
        n_steps: int,
        rng: np.random.Generator,
    ) -> FloatArray:
        """(n_actions,) values of the actions in a belief; the greedy values unless overridden.

        Args:
            planner: the planner of the learned model; the same object at every call.
            belief: the states in which the agent may be, with their probabilities; may be empty.
            alive: (n_states,) slots of all states, ascending.
            n_steps: steps that the agent has made so far.
            rng: the only source of random numbers.
        """
        return expected_values(planner.greedy_values(alive), belief)

    def act(
        self,
        planner: ModelPlanner,
        belief: Belief,
        alive: IntArray,
        n_steps: int,
        rng: np.random.Generator,
    ) -> int:
        """The index of the action to try in a belief: chosen from its values."""
        return self.choose(self.values(planner, belief, alive, n_steps, rng), n_steps, rng)

    @abstractmethod
    def choose(self, values: FloatArray, n_steps: int, rng: np.random.Generator) -> int:
        """The index of the action to try, given values (n_actions,) after `n_steps` steps."""

    def begin_episode(self) -> None:  # noqa: B027 - most strategies have nothing to do
        """An episode begins."""

    def to_arrays(self) -> Arrays:
        """What the strategy must keep between two episodes, as named arrays."""
        return {}

    def restore(self, saved: ArrayReader) -> None:  # noqa: B027
        """Take over what `to_arrays` gave; a KeyError or DataError names what does not fit."""


def expected_values(table: FloatArray, belief: Belief) -> FloatArray:
    """(n_actions,) values in a belief, from values (n_slots, n_actions); zero if it is empty."""
    if not belief:
        return np.zeros(table.shape[1])
    if len(belief) == 1:
        return np.asarray(table[belief[0][0]])
    states = [state for state, _ in belief]
    return np.asarray(np.array([share for _, share in belief]) @ table[states])


def draw(probabilities: FloatArray, rng: np.random.Generator) -> int:
    """The index of one action, drawn from probabilities (n_actions,)."""
    chosen = np.searchsorted(np.cumsum(probabilities), rng.random(), side="right")
    return min(int(chosen), len(probabilities) - 1)
