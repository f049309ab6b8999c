"""A learner around another one: what it does not answer itself, the inner one answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.distributions.kalman import Gaussians
from tgm.learners.flow import FlowLearner
from tgm.learners.learner import Context, FeatureUse, Forecast, Learner, LearnInfo
from tgm.learners.snapshot import Changes, Snapshot
from tgm.learners.step_info import RowId
from tgm.perception.component_map import Move
from tgm.perception.observation_model import StateId
from tgm.planning.model_planner import ModelPlanner
from tgm.world_model import WorldModel


class ModelLearner(Learner, Protocol):
    """A learner with a world model and a planner."""

    @property
    def world(self) -> WorldModel:
        """What is known, of observations as the learner sees them."""

    @property
    def planner(self) -> ModelPlanner:
        """The values."""

    def greedy_values(self) -> FloatArray:
        """(n_states, n_actions) values of the model as it is known."""


class OuterLearner:
    """Hands everything on to the learner inside it; see `Learner` for what each part means.

    Attributes:
        inner: the learner inside; it may be replaced by another one.
    """

    inner: ModelLearner | FlowLearner

    def choose(self, n_steps: int, rng: np.random.Generator) -> int:
        """The action to try in the current belief."""
        return self.inner.choose(n_steps, rng)

    def end_episode(self) -> None:
        """The episode is over, or was broken off."""
        self.inner.end_episode()

    def learn(self, moves: tuple[Move, ...], n_evicted: int) -> LearnInfo:
        """A report: the learning was done at every step."""
        return self.inner.learn(moves, n_evicted)

    @property
    def world(self) -> WorldModel:
        """What is known, of observations as the learner inside sees them; not of one of laws."""
        assert not isinstance(self.inner, FlowLearner)
        return self.inner.world

    @property
    def planner(self) -> ModelPlanner:
        """The values; a learner of laws has plans instead."""
        assert not isinstance(self.inner, FlowLearner)
        return self.inner.planner

    def greedy_values(self) -> FloatArray:
        """(n_states, n_actions) values of the model as it is known."""
        return self.inner.greedy_values()

    @property
    def state_ids(self) -> IntArray:
        """(n_states,) ids, never used again."""
        return self.inner.state_ids

    @property
    def means(self) -> FloatArray:
        """(n_states, n_features)"""
        return self.inner.means

    @property
    def covariances(self) -> FloatArray:
        """(n_states, n_features, n_features)"""
        return self.inner.covariances

    @property
    def transition_matrix(self) -> FloatArray:
        """(n_actions, n_states, n_states) expected probabilities, if the episode goes on."""
        return self.inner.transition_matrix

    @property
    def transition_counts(self) -> FloatArray:
        """(n_actions, n_states, n_states) expected counts, without the prior."""
        return self.inner.transition_counts

    @property
    def end_probabilities(self) -> FloatArray:
        """(n_actions, n_states) probability that the episode ends."""
        return self.inner.end_probabilities

    def outlook(self, belief: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What each action leads to in a belief (n_states,): next states, the end, and tries."""
        return self.inner.outlook(belief)

    @property
    def feature_use(self) -> FeatureUse:
        """Which features tell states apart; all of them before the first observation."""
        return self.inner.feature_use

    @property
    def is_full(self) -> bool:
        """Whether there are as many states as the default allows."""
        return self.inner.is_full

    @property
    def n_kept(self) -> int:
        """Points in memory."""
        return self.inner.n_kept

    @property
    def n_fixed(self) -> int:
        """States that are fixed."""
        return self.inner.n_fixed

    def belief(self, observations: FloatArray) -> FloatArray:
        """(n_observations, n_states) probability of each state given each observation alone."""
        return self.inner.belief(observations)

    def filtered_beliefs(
        self, observations: FloatArray, contexts: Sequence[Context | None]
    ) -> FloatArray:
        """(n, n_states) probability of each state given each observation and what came before."""
        return self.inner.filtered_beliefs(observations, contexts)

    def placed(
        self, observations: FloatArray, contexts: Sequence[Context | None]
    ) -> Gaussians | None:
        """Where laws and what came before place observations; None where they are believed."""
        return self.inner.placed(observations, contexts)

    def action_values(self, belief: FloatArray) -> FloatArray:
        """(..., n_actions) greedy values of the actions; belief is (..., n_states)."""
        return self.inner.action_values(belief)

    def values_of(self, observations: FloatArray, belief: FloatArray) -> FloatArray:
        """(n, n_actions) greedy values given observations and their beliefs."""
        return self.inner.values_of(observations, belief)

    def forecast(self, observations: FloatArray) -> Forecast | None:
        """What laws predict from observations; None where there are none."""
        return self.inner.forecast(observations)

    def snapshot(self) -> Snapshot:
        """All that is known, as plain values."""
        return self.inner.snapshot()

    def excerpt(self, states: Iterable[StateId], rows: Iterable[RowId]) -> Changes:
        """Some states and rows as they are now; ids that are gone are listed as removed."""
        return self.inner.excerpt(states, rows)
