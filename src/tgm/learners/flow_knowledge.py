"""Answers to the questions of the public interface, from a plan in a world that flows.

States are the support points of the greedy plan. A visited one has the weight of the steps that
left its neighbourhood, an imagined one has none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.distributions.kalman import Gaussians
from tgm.inference.flow_filter import FlowFilter
from tgm.learners.flow_forecast import FlowForecaster
from tgm.learners.learner import Context, FeatureUse, Forecast
from tgm.learners.snapshot import Changes, Snapshot
from tgm.learners.step_info import RowId
from tgm.memory.flow_memory import FlowMemory
from tgm.perception.observation_model import StateId
from tgm.planning.flow_planner import Plan

STATE_WIDTH = 0.5  # spacings: the deviation of a state
LEAST_RECORDED_WEIGHT = 0.05  # smaller weights of next states are not recorded


class FlowKnowledge:
    """The questions that a `Learner` answers; answering changes nothing.

    Attributes:
        memory: the kept steps.
        best: the greedy plan; None before the first.
        filter: says where the agent is; None while observations have no noise.
        first_id: the id of its first support point.
    """

    def __init__(self, n_features: int, n_actions: int) -> None:
        """Know nothing."""
        self.n_features, self.n_actions = n_features, n_actions
        self.memory = FlowMemory(n_features)
        self.best: Plan | None = None
        self.filter: FlowFilter | None = None
        self.first_id = 0
        self._forecaster: FlowForecaster | None = None  # made when it is asked
        self._forecast_from = 0  # digest of the kept steps that it was made from

    # --- states -----------------------------------------------------------------------------------

    @property
    def state_ids(self) -> IntArray:
        """(n_states,) ids, never used again; a plan that takes over has new ones."""
        n = 0 if self.best is None else len(self.best.support.points)
        return np.arange(self.first_id, self.first_id + n)

    @property
    def means(self) -> FloatArray:
        """(n_states, n_features)"""
        if self.best is None:
            return np.empty((0, self.n_features))
        return self.best.units.observations(self.best.support.points)

    @property
    def covariances(self) -> FloatArray:
        """(n_states, n_features, n_features) the neighbourhood of a support point."""
        n, n_features = len(self.state_ids), self.n_features
        if self.best is None:
            return np.empty((0, n_features, n_features))
        points, units = self.best.support.points, self.best.units
        if units.chart is None:
            axes = STATE_WIDTH * self.best.support.spacing * units.axes
            return np.broadcast_to(axes.T @ axes, (n, n_features, n_features))
        variance = (STATE_WIDTH * self.best.support.spacing) ** 2
        spread = np.broadcast_to(variance * np.eye(points.shape[1]), (n, *2 * points.shape[1:]))
        return units.covariances(points, spread)

    @property
    def feature_use(self) -> FeatureUse:
        """Every feature counts but a clock; states are no places that could be recognised."""
        nothing = np.zeros(self.n_features, dtype=bool)
        chart = None if self.best is None else self.best.units.chart
        relevant = ~nothing if chart is None else chart.relevant
        return FeatureUse(relevant, nothing, varies=True, are_places=False)

    @property
    def is_full(self) -> bool:
        """Never: support becomes coarser instead."""
        return False

    @property
    def n_kept(self) -> int:
        """Steps in memory."""
        return len(self.memory)

    @property
    def n_fixed(self) -> int:
        """No state is fixed."""
        return 0

    # --- rows -------------------------------------------------------------------------------------

    def _rows(self) -> tuple[IntArray, FloatArray]:
        """Next states and their weights, both (n_actions, n_states, width)."""
        plan = self.best
        assert plan is not None
        support = plan.support
        index, weights = plan.weights(support.reach.arrival)
        shape = (self.n_actions, len(support.points), -1)
        return index.reshape(shape), weights.reshape(shape)

    def _tries(self) -> FloatArray:
        """(n_actions, n_states) kept steps from each state; what the law says is worth one."""
        steps = self.memory.steps()
        tries = np.zeros((self.n_actions, len(self.state_ids)))
        np.add.at(tries, (steps.action, self._nearest(steps.departure)), 1.0)
        return np.maximum(tries, 1.0)

    @property
    def transition_matrix(self) -> FloatArray:
        """(n_actions, n_states, n_states) where holding an action leads, if the episode goes on."""
        n = len(self.state_ids)
        matrix = np.zeros((self.n_actions, n, n))
        if n:
            index, weights = self._rows()
            for action in range(self.n_actions):
                np.add.at(matrix[action], (np.arange(n)[:, None], index[action]), weights[action])
        return matrix

    @property
    def transition_counts(self) -> FloatArray:
        """(n_actions, n_states, n_states) the same, times the kept steps from each state."""
        counts = self.transition_matrix
        if self.best is not None:
            counts *= self._tries()[..., None]
        return counts

    @property
    def end_probabilities(self) -> FloatArray:
        """(n_actions, n_states) probability that one step ends the episode."""
        if self.best is None:
            return np.zeros((self.n_actions, 0))
        points = self.best.support.points
        every = (np.full(len(points), action) for action in range(self.n_actions))
        return np.array([self.best.model.advance(points, actions)[1] for actions in every])

    def outlook(self, belief: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What each action leads to in a belief (n_states,): next states, the end, and tries.

        Tries are the steps that the law of the action was learned from: it holds everywhere.
        """
        n = len(belief)
        next_states = np.zeros((self.n_actions, n))
        ends = self.end_probabilities @ belief
        tries = np.bincount(self.memory.steps().action, minlength=self.n_actions).astype(float)
        if n:
            index, weights = self._rows()
            for action in range(self.n_actions):
                share = weights[action] * belief[:, None]
                np.add.at(next_states[action], index[action].ravel(), share.ravel())
            next_states *= (1.0 - ends)[:, None]
        return next_states, ends, tries

    # --- beliefs and values -----------------------------------------------------------------------

    def _nearest(self, observations: FloatArray) -> IntArray:
        assert self.best is not None
        return np.asarray(self.best.interpolation.nearest(self.best.units.local(observations)))

    def belief(self, observations: FloatArray) -> FloatArray:
        """(n_observations, n_states) weights of local maximum entropy."""
        belief = np.zeros((len(observations), len(self.state_ids)))
        if self.best is not None:
            index, weights = self.best.weights(self.best.units.local(observations))
            np.put_along_axis(belief, index, weights, axis=1)
        return belief

    def filtered_beliefs(
        self, observations: FloatArray, contexts: Sequence[Context | None]
    ) -> FloatArray:
        """The same as `belief`: in a world that flows the past adds nothing."""
        return self.belief(observations)

    def placed(
        self, observations: FloatArray, contexts: Sequence[Context | None]
    ) -> Gaussians | None:
        """Where the filter places observations; None while they have no noise."""
        if self.filter is None:
            return None
        placed = self.filter.begin(observations)
        mean, covariance = placed.mean.copy(), placed.covariance.copy()
        before, covariance_before, actions, later = mean.copy(), covariance.copy(), [], []
        for row, context in enumerate(contexts):
            if context is None or context.observation is None or context.action is None:
                continue
            before[row] = context.observation
            if context.covariance is not None:
                covariance_before[row] = np.reshape(context.covariance, covariance[row].shape)
            actions.append(context.action)
            later.append(row)
        if later:
            known = Gaussians(before[later], covariance_before[later])
            found, _ = self.filter.step(known, np.array(actions), observations[later])
            mean[later], covariance[later] = found
        return Gaussians(mean, covariance)

    def action_values(self, belief: FloatArray) -> FloatArray:
        """(..., n_actions) greedy values at support points, averaged by (..., n_states)."""
        if self.best is None:
            return np.zeros((*belief.shape[:-1], self.n_actions))
        return np.asarray(belief @ self.greedy_values())

    def values_of(self, observations: FloatArray, belief: FloatArray) -> FloatArray:
        """(n, n_actions) greedy values of observations: of the points that the laws predict."""
        if self.best is None:
            return np.zeros((len(observations), self.n_actions))
        return self.best.action_values(observations)[0]

    def forecast(self, observations: FloatArray) -> Forecast | None:
        """What the laws of the greedy plan predict; None before the first plan."""
        if self.best is None:
            return None
        kept, made = hash(self.memory.steps().arrival.tobytes()), self._forecaster
        if made is None or made.plan is not self.best or kept != self._forecast_from:
            made = self._forecaster = FlowForecaster(self.best, self.memory)
            self._forecast_from = kept
        return made.forecast(observations)

    def greedy_values(self) -> FloatArray:
        """(n_states, n_actions) values of the greedy plan."""
        if self.best is None:
            return np.zeros((0, self.n_actions))
        return self.best.action_values(self.means)[0]

    # --- records ----------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """All that is known, as plain values."""
        steps, ids = self.memory.steps(), self.state_ids
        if self.best is None:
            return Snapshot.empty(self.n_features, self.n_actions, steps.arrival)
        rows = [(StateId(name), a) for name in ids.tolist() for a in range(self.n_actions)]
        return Snapshot(
            self.excerpt([StateId(name) for name in ids.tolist()], rows),
            self.greedy_values(),
            self.means,
            self.covariances,
            np.zeros(len(ids)),
            1.0,
            steps.arrival,
            ids[self._nearest(steps.arrival)].astype(np.intp),
        )

    def excerpt(self, states: Iterable[StateId], rows: Iterable[RowId]) -> Changes:
        """Some states and rows as they are now; ids that are gone are listed as removed."""
        first, n = self.first_id, len(self.state_ids)
        named = sorted(set(states))
        slots = np.array([name - first for name in named if 0 <= name - first < n], dtype=np.intp)
        removed = [int(name) for name in named if not 0 <= name - first < n]
        keys = sorted({(name - first, a) for name, a in rows if 0 <= name - first < n})
        if n == 0:
            return Changes([], [], [], removed)
        left = self._nearest(self.memory.steps().departure)
        weight = np.bincount(left, minlength=n).astype(float)
        assert self.best is not None
        n_visited = self.best.support.n_visited
        weight[:n_visited] = np.maximum(weight[:n_visited], 1.0)  # imagined ones alone have none
        covariance = self.covariances[slots].reshape(len(slots), self.n_features**2)
        components = np.column_stack([
            slots + first,
            weight[slots],
            np.zeros(len(slots)),
            self.means[slots],
            covariance,
        ])  # fmt: skip
        found, next_states = self._table(keys)
        return Changes(components.ravel(), found, next_states, removed)

    def _table(self, keys: list[tuple[int, int]]) -> tuple[FloatArray, FloatArray]:
        """Rows and next states of some (state, action), as flat numbers."""
        plan = self.best
        assert plan is not None
        if not keys:
            return np.zeros(0), np.zeros(0)
        state, action = np.array(keys, dtype=np.intp).T
        _, p_end, reward = plan.model.advance(plan.support.points[state], action)
        index, weights = (part[action, state] for part in self._rows())
        tries = self._tries()[action, state]
        is_kept = weights >= np.minimum(LEAST_RECORDED_WEIGHT, weights.max(axis=1))[:, None]
        weights = np.where(is_kept, weights, 0.0)
        weights /= weights.sum(axis=1, keepdims=True)
        width = is_kept.sum(axis=1)
        rows = np.column_stack([state + self.first_id, action, tries, reward, p_end, width])
        following = np.stack([index + self.first_id, weights * tries[:, None]], axis=2)[is_kept]
        return rows.ravel(), following.ravel()
