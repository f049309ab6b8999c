"""Answers to the questions of the public interface, from clones; answering changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.distributions.kalman import Gaussians
from tgm.errors import DataError
from tgm.learners.clone_life import CloneLife
from tgm.learners.clone_tables import CloneTables
from tgm.learners.coded import CodedLearner
from tgm.learners.learner import Context, FeatureUse, Forecast
from tgm.learners.online import OnlineLearner
from tgm.learners.scale_search import ScaleSearchLearner
from tgm.learners.snapshot import Changes, Snapshot, is_recorded
from tgm.learners.step_info import RowId
from tgm.perception.observation_model import StateId
from tgm.planning.belief_planner import is_doubt, values_in_doubt
from tgm.planning.model_planner import ModelPlanner
from tgm.transition.automaton import END, ROOT
from tgm.world_model import WorldModel

StateLearner = OnlineLearner | ScaleSearchLearner | CodedLearner
"""An ordinary learner: one state for each look."""


class CloneKnowledge:
    """The questions that a `Learner` answers, from a folding and what its symbols look like.

    Attributes:
        inner: the ordinary learner, whose states are the symbols.
        life: the clones.
    """

    def __init__(self, inner: StateLearner, life: CloneLife) -> None:
        """Read from both."""
        self.inner, self.life = inner, life
        self._names: dict[tuple[int, int], int] = {}  # by symbol, and which of its clones
        self._tables: CloneTables | None = None
        self._tables_of = (-1, -1)  # version and steps at which they were made
        self._ids: dict[int, int] = {}  # name by clone
        self._ids_of = -1  # revision at which they were made

    @property
    def world(self) -> WorldModel:
        """What the ordinary learner knows."""
        return self.inner.world

    @property
    def planner(self) -> ModelPlanner:
        """The values of the ordinary learner."""
        return self.inner.planner

    @property
    def tables(self) -> CloneTables:
        """The clones as numbers, as they are now."""
        now = (self.life.version, self.life.n_steps)
        if self._tables is None or self._tables_of != now:
            self._tables, self._tables_of = CloneTables(self.life.greedy_planner), now
        return self._tables

    # --- states -----------------------------------------------------------------------------------

    @property
    def state_ids(self) -> IntArray:
        """(n_states,) names; the k-th clone of a symbol keeps its name."""
        return np.array(list(self._named().values()), dtype=np.intp)

    def _named(self) -> dict[int, int]:
        """The name of each clone; those that are new get one."""
        if self._ids_of != self.life.revision:
            self._ids, self._ids_of = {}, self.life.revision
            folding, seen = self.life.greedy_planner.folding, dict[int, int]()
            for clone in folding.clones:
                symbol = folding.graph.symbols[clone]
                if symbol in (ROOT, END):
                    continue
                key = (symbol, seen.setdefault(symbol, 0))
                seen[symbol] += 1
                if key not in self._names:
                    states = self.inner.world.states
                    self._names[key], states.next_id = states.next_id, states.next_id + 1
                self._ids[clone] = self._names[key]
        return self._ids

    def _restore_names(self, names: IntArray) -> None:
        """Take over rows (symbol, which of its clones, name)."""
        self._names = {(symbol, place): name for symbol, place, name in names.tolist()}
        latest = self.inner.world.states.next_id
        if len(set(self._names.values())) < len(names) or (names[:, 2] >= latest).any():
            raise DataError("array 'clones.names' holds a name twice, or one that was never given")

    def _looks(self) -> IntArray:
        """(n_states,) the row of the ordinary learner's state that each clone looks like."""
        place = {name: k for k, name in enumerate(self.inner.state_ids.tolist())}
        return np.array([place.get(s, 0) for s in self.tables.symbols.tolist()], dtype=np.intp)

    @property
    def means(self) -> FloatArray:
        """(n_states, n_features)"""
        return self.inner.means[self._looks()]

    @property
    def covariances(self) -> FloatArray:
        """(n_states, n_features, n_features)"""
        return self.inner.covariances[self._looks()]

    @property
    def feature_use(self) -> FeatureUse:
        """Which features tell looks apart."""
        return self.inner.feature_use

    @property
    def is_full(self) -> bool:
        """Whether there are as many looks as the default allows."""
        return self.inner.is_full

    @property
    def n_kept(self) -> int:
        """Steps in memory."""
        return self.life.history.n_steps

    @property
    def n_fixed(self) -> int:
        """No state is fixed."""
        return 0

    # --- rows -------------------------------------------------------------------------------------

    @property
    def transition_counts(self) -> FloatArray:
        """(n_actions, n_states, n_states) tries."""
        return self.tables.counts

    @property
    def transition_matrix(self) -> FloatArray:
        """(n_actions, n_states, n_states) where each action leads, if the episode goes on."""
        tables, actions = self.tables, range(self.life.n_actions)
        n = len(tables.clones)
        return np.array([[tables.expected(one, a) for one in np.eye(n)] for a in actions]).reshape(
            len(actions), n, n
        )

    @property
    def end_probabilities(self) -> FloatArray:
        """(n_actions, n_states) share of the tries that ended the episode."""
        tries = self.tables.counts.sum(axis=2)
        return np.asarray(self.tables.ends / np.maximum(tries, 1.0))

    def outlook(self, belief: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What each action leads to in a belief (n_states,): next states, the end, and tries."""
        tables, actions = self.tables, range(self.life.n_actions)
        ends = self.end_probabilities @ belief
        found = np.array([tables.expected(belief, a) for a in actions])
        return found * (1.0 - ends)[:, None], ends, tables.counts.sum(axis=2) @ belief

    # --- beliefs and values -----------------------------------------------------------------------

    def _likelihood(self, observations: FloatArray) -> FloatArray:
        return self.tables.likelihood(self.inner.belief(observations), self.inner.state_ids)

    def belief(self, observations: FloatArray) -> FloatArray:
        """(n_observations, n_states) probability of each clone given each observation alone."""
        if not self.tables.clones:
            return np.empty((len(observations), 0))
        return self.tables.looked(self._likelihood(observations))

    def filtered_beliefs(
        self, observations: FloatArray, contexts: Sequence[Context | None]
    ) -> FloatArray:
        """(n, n_states) probability of each clone given each observation and what came before."""
        beliefs = self.belief(observations)
        if not self.tables.clones:
            return beliefs
        place = {name: i for i, name in enumerate(self.state_ids.tolist())}
        likelihood = self._likelihood(observations)
        for row, seen, context in zip(beliefs, likelihood, contexts, strict=True):
            if context is None:
                continue
            before = np.zeros(len(place))
            for name, share in context.belief:
                if name in place:
                    before[place[name]] += share
            if context.action is not None and not before.any():
                continue
            start = None if context.action is None else before / before.sum()
            row[:] = self.tables.after(self.tables.expected(start, context.action), seen)
        return beliefs

    def placed(
        self, observations: FloatArray, contexts: Sequence[Context | None]
    ) -> Gaussians | None:
        """None: there are no laws."""
        return None

    def action_values(self, belief: FloatArray) -> FloatArray:
        """(..., n_actions) greedy values of the actions; belief is (..., n_states).

        In doubt they hold what is seen later: a look that tells clones apart may be worth a way.
        """
        values = np.asarray(belief @ self.tables.values)
        doubtful = [place for place in np.ndindex(belief.shape[:-1]) if is_doubt(belief[place])]
        if doubtful:
            world = self.tables.hidden_world(self.life.gamma)
            for place in doubtful:
                values[place] = values_in_doubt(belief[place], world)
        return values

    def values_of(self, observations: FloatArray, belief: FloatArray) -> FloatArray:
        """(n, n_actions) greedy values, which depend on the belief alone."""
        return self.action_values(belief)

    def greedy_values(self) -> FloatArray:
        """(n_states, n_actions) values of the model as it is known."""
        return self.tables.values

    def forecast(self, observations: FloatArray) -> Forecast | None:
        """None: places have rows, no laws."""
        return None

    # --- records ----------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """All that is known, as plain values; kept points belong to looks, not to clones."""
        ids, below = self.state_ids, self.inner.snapshot()
        rows = [(StateId(name), a) for name in ids.tolist() for a in range(self.life.n_actions)]
        looks = self._looks()
        return Snapshot(
            self.excerpt([StateId(name) for name in ids.tolist()], rows),
            self.tables.values,
            below.prior_mean[looks],
            below.prior_covariance[looks],
            np.zeros(len(ids)),
            below.prior_dof,
            below.kept_points,
            np.full(len(below.kept_points), -1, dtype=np.intp),
        )

    def excerpt(self, states: Iterable[StateId], rows: Iterable[RowId]) -> Changes:
        """Some states and rows as they are now; ids that are gone are listed as removed."""
        place = {name: i for i, name in enumerate(self.state_ids.tolist())}
        named = sorted(set(states))
        chosen = np.array([place[name] for name in named if name in place], dtype=np.intp)
        removed = [int(name) for name in named if name not in place]
        components = self._components(chosen)
        found: list[float] = []
        following: list[float] = []
        for name, action in sorted({row for row in rows if row[0] in place}):
            self._append_row(place[name], action, found, following)
        return Changes(components, found, following, removed)

    def _components(self, chosen: IntArray) -> FloatArray:
        ids, weight = self.state_ids[chosen], self.tables.weight[chosen]
        if not is_recorded(self.life.history.n_features):
            columns = [ids, weight, np.zeros(len(ids)), ids, np.zeros(len(ids))]
            return np.column_stack(columns).ravel()
        means = self.means[chosen]
        covariances = self.covariances[chosen].reshape(len(ids), means.shape[1] ** 2)
        return np.column_stack([ids, weight, np.zeros(len(ids)), means, covariances]).ravel()

    def _append_row(self, i: int, action: int, found: list[float], following: list[float]) -> None:
        tables, ids = self.tables, self.state_ids
        counts = tables.counts[action, i]
        tries = float(counts.sum())
        if tries == 0.0:
            found += (ids[i], action, 0.0, 0.0, 0.0, 0)
            return
        reached = np.flatnonzero(counts).tolist()
        reward, end = tables.rewards[action, i] / tries, tables.ends[action, i] / tries
        found += (ids[i], action, tries, reward, end, len(reached))
        for j in reached:
            following += (ids[j], counts[j])
