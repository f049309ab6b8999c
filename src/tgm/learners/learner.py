"""What TGMAgent asks of a learner; the presets choose which one it gets."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.files.arrays import Arrays
from tgm.learners.snapshot import Changes, Snapshot
from tgm.perception.component_map import Move

Pack = Callable[[int, float, int, int, float, float, float, bytes], bytes]
"""Of an observation: action, reward, end, state, ln density, share, weight, bytes of the point."""

Observer = Callable[[FloatArray, int, float, int], None]
"""Is called with the point of an observation, the action, the reward and how it ended."""


class Notes(NamedTuple):
    """Where a learner notes observations.

    Attributes:
        pack: makes one note.
        add: takes it.
        missed: is called if a note does not tell all that the observation has changed.
    """

    pack: Pack
    add: Callable[[bytes], None]
    missed: Callable[[], None]

    def add_incomplete(
        self, point: FloatArray, action: int, reward: float, end: int, state: int, density: float
    ) -> None:
        """Note one that changed more than a note can tell: its share and weight are 0."""
        self.missed()
        self.add(self.pack(action, reward, end, state, density, 0.0, 0.0, point.tobytes()))


class LearnInfo(NamedTuple):
    """What one learning step did; see LearningInfo for the meaning of the fields.

    A tuple, because one is made at every step, and frozen dataclasses take three times as long.
    """

    n_forgotten: int
    free_energy: float
    free_energy_terms: dict[str, float]
    free_energy_path: tuple[float, ...]
    moves: tuple[Move, ...]


class Learner(Protocol):
    """Everything an agent knows, and how it comes to know it."""

    # --- living: observations, actions and rewards in the order of time -------------------------

    def begin(self, observation: FloatArray) -> None:
        """The first observation (n_features,) of an episode."""

    def choose(self, n_steps: int, rng: np.random.Generator) -> int:
        """The index of the action to try after `n_steps` steps of life."""

    def observe(
        self, action: int, reward: float, observation: FloatArray, *, terminated: bool
    ) -> None:
        """What came of an action."""

    def end_episode(self) -> None:
        """The episode is over, or was broken off."""

    def learn(self) -> LearnInfo:
        """A learning step; called every `learn_every` steps."""

    # --- knowing ----------------------------------------------------------------------------------

    @property
    def state_ids(self) -> IntArray:
        """(n_states,) names for life."""

    @property
    def means(self) -> FloatArray:
        """(n_states, n_features)"""

    @property
    def covariances(self) -> FloatArray:
        """(n_states, n_features, n_features)"""

    @property
    def transition_matrix(self) -> FloatArray:
        """(n_actions, n_states, n_states) expected probabilities, if the episode goes on."""

    @property
    def transition_counts(self) -> FloatArray:
        """(n_actions, n_states, n_states) expected counts, without the prior."""

    @property
    def end_probabilities(self) -> FloatArray:
        """(n_actions, n_states) probability that the episode ends."""

    def outlook(self, belief: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What each action leads to in a belief (n_states,).

        Returns:
            (n_actions, n_states) probability of each next state, (n_actions,) of the end, and
            (n_actions,) expected number of times that the action was tried.
        """

    @property
    def is_full(self) -> bool:
        """Whether there are as many states as there may be by default."""

    @property
    def n_kept(self) -> int:
        """Points in memory."""

    @property
    def n_fixed(self) -> int:
        """States that are fixed."""

    def belief(self, observations: FloatArray, expected: FloatArray | None = None) -> FloatArray:
        """(n_observations, n_states) probability of each state given each observation.

        `expected` (n_observations, n_states) is what was believed before it.
        """

    def expected(
        self, state_ids: IntArray, actions: IntArray, is_start: BoolArray
    ) -> FloatArray | None:
        """(n, n_states) what the transitions predict after actions (n,) in states (n,).

        None if the learner does not filter. Where `is_start`, nothing is known before.
        """

    def action_values(self, belief: FloatArray) -> FloatArray:
        """(..., n_actions) greedy values of the actions; belief is (..., n_states)."""

    # --- records ----------------------------------------------------------------------------------

    def observer(self, notes: Notes) -> Observer:
        """A function that notes the newest observation, with what became of it.

        It is to be called after every observation, and asked for again after `all_is_told`.
        The state is the most likely one, told by its id, -1 for none; the density is the
        predictive one, before it was learned from. If all that changed is that the observation was
        added to the model, then its share is how much of a point it is in its state, and its
        weight what its transition counts; 0 and 0 if more has changed.
        """

    def snapshot(self) -> Snapshot:
        """All that is known, as plain values."""

    def all_is_told(self) -> None:
        """All that is known now was recorded: `changes` and observers go on from here."""

    def changes(self) -> Changes | None:
        """What changed since the last `changes` or `all_is_told`; None if that is everything."""

    # --- files ------------------------------------------------------------------------------------

    @property
    def pending_moves(self) -> list[Move]:
        """Moves that the next lesson will tell."""

    def to_arrays(self) -> Arrays:
        """All that matters between two episodes, as named arrays."""

    def restore(self, arrays: Arrays, pending_moves: list[Move]) -> None:
        """Take over what was saved; a KeyError or DataError tells what does not fit."""
