"""What TGMAgent asks of a learner; the presets choose which one it gets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.distributions.kalman import Gaussians
from tgm.files.arrays import ArrayReader, Arrays
from tgm.learners.snapshot import Changes, Snapshot
from tgm.learners.step_info import RowId, StepInfo
from tgm.perception.component_map import Move
from tgm.perception.observation_model import StateId


class LearnInfo(NamedTuple):
    """What one learning step did; see LearningInfo for the meaning of the fields.

    A tuple, because one is made at every step, and frozen dataclasses take three times as long.
    """

    n_forgotten: int
    free_energy: float
    free_energy_terms: dict[str, float]
    free_energy_path: tuple[float, ...]
    moves: tuple[Move, ...]


class FeatureUse(NamedTuple):
    """What a learner makes of the features of an observation.

    Attributes:
        relevant: (n_features,) whether each tells states apart; an exact one does unless it is
            noise.
        is_exact: (n_features,) whether each is a name, not an amount.
        varies: whether observations differ at all.
        are_places: whether states are places; not so where they are points of a smooth world.
    """

    relevant: BoolArray
    is_exact: BoolArray
    varies: bool
    are_places: bool = True


class Context(NamedTuple):
    """What came before an observation, for a belief that expects what the action did.

    Attributes:
        belief: (state, probability) before the action; empty at the start of an episode.
        action: None at the start of an episode.
        observation: the n_features numbers before; None at the start of an episode.
        covariance: of where the agent was about that observation, flat; None if that is exact.
        first: the first observation of the episode; None if it is not known.
    """

    belief: tuple[tuple[StateId, float], ...] = ()
    action: int | None = None
    observation: tuple[float, ...] | None = None
    covariance: tuple[float, ...] | None = None
    first: tuple[float, ...] | None = None


class Forecast(NamedTuple):
    """What laws predict of one step from each of n observations, in the units of observations.

    Attributes:
        expected: (n, n_actions, n_features) next observation.
        covariance: (n, n_actions, n_features, n_features) of the next observation.
        end: (n, n_actions) probability that the step ends the episode.
        reward: (n, n_actions) expected.
    """

    expected: FloatArray
    covariance: FloatArray
    end: FloatArray
    reward: FloatArray

    @property
    def deviation(self) -> FloatArray:
        """(n, n_actions, n_features) of the next observation: noise, and doubt about the law."""
        return np.sqrt(np.diagonal(self.covariance, axis1=-2, axis2=-1))


class Learner(Protocol):
    """Everything an agent knows, and how it comes to know it."""

    # --- learning: observations, actions and rewards in the order of time ------------------------

    def begin(self, observation: FloatArray) -> StepInfo:
        """Learn from the first observation (n_features,) of an episode."""

    def choose(self, n_steps: int, rng: np.random.Generator) -> int:
        """The index of the action to try after `n_steps` steps."""

    def observe(
        self, action: int, reward: float, observation: FloatArray, *, terminated: bool
    ) -> StepInfo:
        """Learn from one step; the StepInfo says what it did."""

    def end_episode(self) -> None:
        """The episode has ended, or was stopped."""

    def learn(self, moves: tuple[Move, ...], n_evicted: int) -> LearnInfo:
        """A learning step, every `learn_every` steps.

        `moves` and `n_evicted` are those of the steps since the last one, for the report.
        """

    @property
    def active(self) -> Learner:
        """The learner of the next episode: itself, unless it only passes steps to another one."""

    # --- what is known ----------------------------------------------------------------------------

    @property
    def state_ids(self) -> IntArray:
        """(n_states,) ids, never used again."""

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
    def feature_use(self) -> FeatureUse:
        """Which features tell states apart; all of them before the first observation."""

    @property
    def is_full(self) -> bool:
        """Whether there are as many states as the default allows."""

    @property
    def n_kept(self) -> int:
        """Points in memory."""

    @property
    def n_fixed(self) -> int:
        """States that are fixed."""

    def belief(self, observations: FloatArray) -> FloatArray:
        """(n_observations, n_states) probability of each state given each observation alone."""

    def filtered_beliefs(
        self, observations: FloatArray, contexts: Sequence[Context | None]
    ) -> FloatArray:
        """(n, n_states) probability of each state given each observation and what came before."""

    def placed(
        self, observations: FloatArray, contexts: Sequence[Context | None]
    ) -> Gaussians | None:
        """Where laws and what came before place observations; None where they are believed."""

    def action_values(self, belief: FloatArray) -> FloatArray:
        """(..., n_actions) greedy values of the actions; belief is (..., n_states)."""

    def values_of(self, observations: FloatArray, belief: FloatArray) -> FloatArray:
        """(n, n_actions) greedy values given observations (n, n_features) and their beliefs."""

    def forecast(self, observations: FloatArray) -> Forecast | None:
        """What laws predict from observations (n, n_features); None where there are none."""

    # --- records ----------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """All that is known, as plain values."""

    def excerpt(self, states: Iterable[StateId], rows: Iterable[RowId]) -> Changes:
        """Some states and rows as they are now; ids that are gone are listed as removed."""

    # --- files ------------------------------------------------------------------------------------

    def to_arrays(self) -> Arrays:
        """All that matters between two episodes, as named arrays."""

    def restore(self, saved: ArrayReader) -> None:
        """Take over what was saved; a KeyError or DataError names what does not fit."""
