"""What a world model knows, in the words of the public interface: it is read, never changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tgm.config import TGMConfig
from tgm.distributions import FloatArray, IntArray
from tgm.distributions.kalman import Gaussians
from tgm.inference.filtering import NOTHING, condition
from tgm.inference.step_filter import StepFilter
from tgm.inference.step_posterior import StepPosterior
from tgm.learners import world_tables
from tgm.learners.learner import Context, FeatureUse, Forecast
from tgm.learners.limits import most_states
from tgm.learners.snapshot import Changes, Snapshot
from tgm.learners.step_info import RowId
from tgm.memory.step import Belief
from tgm.perception.coordinates import Coordinates
from tgm.perception.observation_model import StateId
from tgm.planning.model_planner import ModelPlanner
from tgm.transition.rows import NO_COUNT
from tgm.transition.views import dense
from tgm.world_model import WorldModel


class OnlineKnowledge:
    """The questions that a `Learner` answers, from a world model and the values planned in it.

    Attributes:
        world: what is known, in local coordinates.
        planner: the values.
        filter: finds every belief.
        coordinates: from observations to local ones; None before the first observation.
        most_states: no state is born when there are so many.
    """

    def __init__(
        self,
        world: WorldModel,
        planner: ModelPlanner,
        step_filter: StepFilter,
        config: TGMConfig,
        most: int | None = None,
    ) -> None:
        """Read from a world, its values and the filter of its learner.

        `most` states may be there by default; if it is not given, it follows from the features.
        """
        self.world = world
        self.planner = planner
        self.filter = step_filter
        self.coordinates: Coordinates | None = None
        most = most or most_states(world.states.n_features)
        self.most_states = config.max_states or most
        self._config = config

    @property
    def state_ids(self) -> IntArray:
        """(n_states,) ids, never used again."""
        return self.world.states.ids[self.world.states.alive]

    @property
    def means(self) -> FloatArray:
        """(n_states, n_features)"""
        states = self.world.states
        if self.coordinates is None:
            return np.empty((0, states.n_features))
        return self.coordinates.observations(states.mean[states.alive])

    @property
    def covariances(self) -> FloatArray:
        """(n_states, n_features, n_features)"""
        local = self.world.states.covariances(self.world.states.alive)
        return local if self.coordinates is None else self.coordinates.covariances(local)

    @property
    def transition_counts(self) -> FloatArray:
        """(n_actions, n_states, n_states) expected counts, without the prior."""
        return dense(self.world.transitions, self.world.states.alive)

    @property
    def transition_matrix(self) -> FloatArray:
        """(n_actions, n_states, n_states): the counts, and the prior spread over all states.

        Only the part of the counts that went on: where an action has always ended the episode, the
        prior is all that is known of where it leads.
        """
        counts = self.transition_counts * (1.0 - self.end_probabilities)[..., None]
        concentration = counts + self._config.row_prior / max(1, counts.shape[1])
        return np.asarray(concentration / concentration.sum(axis=-1, keepdims=True))

    @property
    def end_probabilities(self) -> FloatArray:
        """(n_actions, n_states) share of the tries that ended the episode."""
        transitions, alive = self.world.transitions, self.world.states.alive
        visits, ends = transitions.visits[alive].T, transitions.end_sum[alive].T
        tried = visits > NO_COUNT
        return np.where(tried, np.clip(ends / np.where(tried, visits, 1.0), 0.0, 1.0), 0.0)

    def outlook(self, belief: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What each action leads to in a belief (n_states,): next states, the end, and tries."""
        transitions, alive = self.world.transitions, self.world.states.alive
        n_states, n_actions, prior = len(alive), transitions.n_actions, self._config.row_prior
        place = {slot: index for index, slot in enumerate(alive.tolist())}
        ends = self.end_probabilities
        next_states, tries = np.zeros((n_actions, n_states)), np.zeros(n_actions)
        for index in np.flatnonzero(belief).tolist():
            for action in range(n_actions):
                row = transitions.row(int(alive[index]), action)
                goes_on, total = 1.0 - float(ends[action, index]), sum(row.values())
                weight = float(belief[index]) * goes_on / (goes_on * total + prior)
                next_states[action] += weight * prior / n_states
                for after, count in row.items():
                    next_states[action, place[after]] += weight * goes_on * count
                tries[action] += belief[index] * total
        return next_states, np.asarray(ends @ belief), tries

    @property
    def feature_use(self) -> FeatureUse:
        """Which features tell states apart; all of them before the first observation."""
        relevant, varies = np.ones(self.world.states.n_features, dtype=bool), True
        if self.coordinates is not None:
            relevant = self.coordinates.relevant
        if relevant.all() and self.world.states.n_alive <= 1:  # what is left out does vary
            kept = [step.arrival for step in self.world.memory.all()]
            varies = any((point != kept[0]).any() for point in kept)
        return FeatureUse(relevant, np.zeros(len(relevant), dtype=bool), varies)

    @property
    def is_full(self) -> bool:
        """Whether there are as many states as the default allows."""
        is_default = self._config.max_states is None
        return is_default and self.world.states.n_alive >= self.most_states

    @property
    def n_kept(self) -> int:
        """Points in memory."""
        return len(self.world.memory)

    @property
    def n_fixed(self) -> int:
        """No state is ever fixed: each stays as long as the evidence is for it."""
        return 0

    # --- beliefs ----------------------------------------------------------------------------------

    @property
    def outlier_share(self) -> float:
        """Share of the observations so far that belonged to no state."""
        return self.world.background.share_seen

    def belief(self, observations: FloatArray) -> FloatArray:
        """(n_observations, n_states) probability of each state given each observation alone."""
        states = self.world.states
        if self.coordinates is None:
            return np.empty((len(observations), 0))
        points = self.coordinates.local(observations)
        log_likelihood = states.log_densities_of(points)[:, states.alive]
        expected = np.full(states.n_alive, 1.0 / states.n_alive)
        return condition(expected, log_likelihood)[0]

    def filtered_beliefs(
        self, observations: FloatArray, contexts: Sequence[Context | None]
    ) -> FloatArray:
        """(n, n_states) probability of each state given each observation and what came before it.

        The belief with which the learner would learn from it, among the known states: what was
        seen, or, as far as that is an outlier, what was expected. Without a context, the belief
        given the observation alone.
        """
        beliefs = self.belief(observations)
        if self.coordinates is None or not self._config.filtering:
            return beliefs
        alive = self.world.states.alive.tolist()
        slot_of = dict(zip(self.state_ids.tolist(), alive, strict=True))
        index_of = {slot: index for index, slot in enumerate(alive)}
        for row, point, context in zip(beliefs, observations, contexts, strict=True):
            if context is None:
                continue
            before = [(slot_of[name], p) for name, p in context.belief if name in slot_of]
            posterior = self._posterior(self.coordinates, point, context, before)
            after = posterior.after
            if posterior.outlier > 0.0:
                expected = self.filter.expected(before, context.action)
                after = [*after, *((slot, posterior.outlier * p) for slot, p in expected)]
            total = sum(probability for _, probability in after)
            if total > 0:  # otherwise it is none of the known states: the nearest is the best guess
                row[:] = 0.0
                for slot, probability in after:
                    row[index_of[slot]] += probability / total
        return beliefs

    def _posterior(
        self,
        coordinates: Coordinates,
        observation: FloatArray,
        context: Context,
        before: Belief,
    ) -> StepPosterior:
        """The posterior of a step to an observation (n_features,)."""
        departure = None
        if context.observation is not None:
            departure = coordinates.local(np.array(context.observation))
        point = coordinates.local(observation)
        return self.filter.posterior(point, before, context.action, departure)

    # --- values -----------------------------------------------------------------------------------

    def placed(
        self, observations: FloatArray, contexts: Sequence[Context | None]
    ) -> Gaussians | None:
        """None: cells have no laws of motion."""
        return None

    def action_values(self, belief: FloatArray) -> FloatArray:
        """(..., n_actions) greedy values of the actions; belief is (..., n_states)."""
        states = self.world.states
        if self.coordinates is None:
            return np.zeros((*belief.shape[:-1], self.world.transitions.n_actions))
        # A state that was seen only once may be an outlier, and must not decide.
        weight = states.weight[states.alive]
        confirmed = weight >= min(states.surely_seen, float(weight.max()))
        shares = np.where(confirmed, np.maximum(belief, NOTHING), 0.0)
        shares /= shares.sum(axis=-1, keepdims=True)
        return np.asarray(shares @ self.greedy_values())

    def values_of(self, observations: FloatArray, belief: FloatArray) -> FloatArray:
        """(n, n_actions) greedy values, which depend on the belief alone."""
        return self.action_values(belief)

    def forecast(self, observations: FloatArray) -> Forecast | None:
        """None: places have rows, no laws."""
        return None

    def greedy_values(self) -> FloatArray:
        """(n_states, n_actions) values of the model as it is known."""
        alive = self.world.states.alive
        return self.planner.greedy_values(alive)[alive]

    # --- records ----------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """All that is known, as plain values."""
        n_features, n_actions = self.world.states.n_features, self.world.transitions.n_actions
        if self.coordinates is None:
            return Snapshot.empty(n_features, n_actions, np.empty((0, n_features)))
        values = self.greedy_values() if self.world.states.n_alive else np.empty((0, n_actions))
        return world_tables.snapshot(self.world, self.coordinates, values, self._config.row_prior)

    def excerpt(self, states: Iterable[StateId], rows: Iterable[RowId]) -> Changes:
        """Some states and rows as they are now; ids that are gone are listed as removed."""
        if self.coordinates is None:
            return Changes([], [], [], sorted(states))
        return world_tables.excerpt(self.world, self.coordinates, states, rows)
