"""The recommended learner: learns at every step, in coordinates of its own."""

from __future__ import annotations

import numpy as np

from tgm.config import TGMConfig
from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.files.arrays import ArrayReader, Arrays, prefixed
from tgm.learners.learner import LearnInfo, Notes, Observer
from tgm.learners.online_model import OnlineModel
from tgm.learners.online_records import OnlineRecords
from tgm.learners.scale_search import Event, ScaleSearch
from tgm.learners.snapshot import Changes, Snapshot
from tgm.perception.component_map import Move
from tgm.structure.scale import Scale
from tgm.transition.sparse import dense

CONFIRMED = 1.5  # points that make a state more than an outlier
UNFORESEEN = 0.05  # share of an expectation that is kept for surprises
UNTRIED = 1e-9  # visits below this are none


class OnlineLearner:
    """Holds the model, and keeps it near the origin so that no digits are lost far from it."""

    def __init__(self, n_features: int, n_actions: int, config: TGMConfig) -> None:
        """Know nothing."""
        self._config = config
        self._n_features = n_features
        self._n_actions = n_actions
        self._origin: FloatArray | None = None
        self._search: ScaleSearch | None = None
        self._records: OnlineRecords | None = None
        if config.bandwidth == "auto":
            self._search = ScaleSearch(self._make_model, n_features)
            self.model = self._search.best
        else:
            self.model = self._make_model(Scale.of_bandwidth(config.bandwidth, n_features))

    def _make_model(self, scale: Scale) -> OnlineModel:
        return OnlineModel(self._n_features, self._n_actions, self._config, scale)

    # --- living -----------------------------------------------------------------------------------

    def begin(self, observation: FloatArray) -> None:
        """The first observation of an episode."""
        if self._origin is None:
            self._origin = observation.copy()
        self._live(Event(observation - self._origin))

    def choose(self, n_steps: int, rng: np.random.Generator) -> int:
        """The action to try in the current belief."""
        model = self.model
        strategy, alive = model.exploration, model.components.alive
        values = strategy.values(model.planner, model.belief, alive, n_steps, rng)
        return strategy.choose(values, n_steps, rng)

    def observe(
        self, action: int, reward: float, observation: FloatArray, *, terminated: bool
    ) -> None:
        """Learn from one step."""
        assert self._origin is not None
        point = observation - self._origin
        if self._search is None:
            self.model.observe(action, reward, point, terminated=terminated)
        else:
            self._live(Event(point, action, reward, terminated))

    def _live(self, event: Event) -> None:
        if self._search is None:
            event.show(self.model)
            return
        self._search.show(event)
        self.model = self._search.best
        for model in self._search.candidates:
            if model is not self.model:
                model.moves = []  # what one does that is not the best then is nobody's concern
        if self._search.is_over:
            self._search = None
            self.model.settle_scale()

    def end_episode(self) -> None:
        """Nothing to do: the next `begin` says so."""

    def learn(self) -> LearnInfo:
        """What was learned since the last time; the learning is done at every step."""
        moves, n_evicted = tuple(self.model.moves), self.model.memory.n_evicted
        self.model.moves = []
        for model in [self.model] if self._search is None else self._search.candidates:
            model.memory.n_evicted = 0
        return LearnInfo(
            n_forgotten=n_evicted,
            free_energy=-self.model.log_evidence,
            free_energy_terms={},
            free_energy_path=(),
            moves=moves,
        )

    # --- knowing ----------------------------------------------------------------------------------

    @property
    def state_ids(self) -> IntArray:
        """(n_states,) names for life."""
        return self.model.components.ids[self.model.components.alive]

    @property
    def means(self) -> FloatArray:
        """(n_states, n_features)"""
        if self._origin is None:
            return np.empty((0, self._n_features))
        return np.asarray(self.model.components.mean[self.model.components.alive] + self._origin)

    @property
    def covariances(self) -> FloatArray:
        """(n_states, n_features, n_features)"""
        return self.model.components.covariances(self.model.components.alive)

    @property
    def transition_counts(self) -> FloatArray:
        """(n_actions, n_states, n_states) expected counts, without the prior."""
        return dense(self.model.model, self.model.components.alive)

    @property
    def transition_matrix(self) -> FloatArray:
        """(n_actions, n_states, n_states): the counts, and the prior spread over all states.

        Of the counts, as much as went on: of where an action leads that has always ended the
        episode, the prior is all that is known.
        """
        counts = self.transition_counts * (1.0 - self.end_probabilities)[..., None]
        concentration = counts + self._config.row_prior / max(1, counts.shape[1])
        return np.asarray(concentration / concentration.sum(axis=-1, keepdims=True))

    @property
    def end_probabilities(self) -> FloatArray:
        """(n_actions, n_states) share of the tries that ended the episode."""
        model, alive = self.model.model, self.model.components.alive
        visits, ends = model.visits[alive].T, model.end_sum[alive].T
        tried = visits > UNTRIED
        return np.where(tried, np.clip(ends / np.where(tried, visits, 1.0), 0.0, 1.0), 0.0)

    def outlook(self, belief: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What each action leads to in a belief (n_states,): next states, the end, and tries."""
        alive, model = self.model.components.alive, self.model.model
        n_states, prior = len(alive), self._config.row_prior
        place = {slot: index for index, slot in enumerate(alive.tolist())}
        ends = self.end_probabilities
        next_states, tries = np.zeros((self._n_actions, n_states)), np.zeros(self._n_actions)
        for index in np.flatnonzero(belief).tolist():
            for action in range(self._n_actions):
                row = model.row(int(alive[index]), action)
                goes_on, total = 1.0 - float(ends[action, index]), sum(row.values())
                weight = float(belief[index]) * goes_on / (goes_on * total + prior)
                next_states[action] += weight * prior / n_states
                for after, count in row.items():
                    next_states[action, place[after]] += weight * goes_on * count
                tries[action] += belief[index] * total
        return next_states, np.asarray(ends @ belief), tries

    @property
    def is_full(self) -> bool:
        """Whether there are as many states as there may be by default."""
        is_chosen = self._config.max_states is not None
        return not is_chosen and self.model.components.n_alive >= self.model.most_states

    @property
    def n_kept(self) -> int:
        """Points in memory."""
        return len(self.model.memory)

    @property
    def n_fixed(self) -> int:
        """No state is ever fixed: each goes on as long as the evidence is for it."""
        return 0

    def belief(self, observations: FloatArray, expected: FloatArray | None = None) -> FloatArray:
        """(n_observations, n_states) probability of each state given each observation."""
        if self._origin is None:
            return np.empty((len(observations), 0))
        return self.model.beliefs(observations - self._origin, expected)

    def action_values(self, belief: FloatArray) -> FloatArray:
        """(..., n_actions) greedy values of the actions; belief is (..., n_states)."""
        if self._origin is None:
            return np.zeros((*belief.shape[:-1], self._n_actions))
        # A state that was seen only once may be an outlier, and must not decide.
        weight = self.model.components.weight[self.model.components.alive]
        confirmed = weight >= min(CONFIRMED, float(weight.max()))
        shares = np.where(confirmed, np.maximum(belief, 1e-300), 0.0)
        shares /= shares.sum(axis=-1, keepdims=True)
        return np.asarray(shares @ self.model.greedy_values())

    def expected(
        self, state_ids: IntArray, actions: IntArray, is_start: BoolArray
    ) -> FloatArray | None:
        """(n, n_states) what the transitions predict after actions in states, for `belief`.

        Some of it is spread over all states, for what is not foreseen; all of it at a start, or
        where a state is no longer known.
        """
        if not self._config.filtering or self._origin is None:
            return None
        ids = self.state_ids
        n_states = len(ids)
        slots = self.model.components.alive
        position = np.full(self.model.components.n_slots, -1)
        position[slots] = np.arange(n_states)
        index = {int(id_): int(slot) for id_, slot in zip(ids, slots, strict=True)}
        expected = np.full((len(state_ids), n_states), 1.0 / n_states)
        model = self.model.model
        for row, (id_, action) in enumerate(zip(state_ids.tolist(), actions.tolist(), strict=True)):
            slot = index.get(id_)
            if is_start[row] or slot is None or model.visits[slot, action] <= 0:
                continue
            expected[row] *= UNFORESEEN
            after = position[model.successor[slot, action]]
            np.add.at(expected[row], after, (1.0 - UNFORESEEN) * model.probability[slot, action])
        return expected

    # --- records ----------------------------------------------------------------------------------

    def observer(self, notes: Notes) -> Observer:
        """A function that notes the newest observation, with what became of it."""
        known = None if self._records is None else self._records.observer(notes)
        if self._search is None and known is not None:
            return known  # there is one model only: nobody need stand between

        def observed(point: FloatArray, action: int, reward: float, end: int) -> None:
            model, records = self.model, self._records
            if records is not None and known is not None:
                if records.model is model:
                    known(point, action, reward, end)
                    return
                # It does not follow a model that is not the best one, nor a trip through a file.
                self._records, records.model.components.told = None, {}
            state = int(model.components.ids[model.belief[0][0]]) if model.belief else -1
            notes.add_incomplete(point, action, reward, end, state, model.log_density)

        return observed

    def snapshot(self) -> Snapshot:
        """All that is known, as plain values."""
        if self._origin is None:
            return Snapshot.empty(
                self._n_features, self._n_actions, np.empty((0, self._n_features))
            )
        return OnlineRecords(self.model, self._origin).snapshot()

    def all_is_told(self) -> None:
        """All that is known now was recorded: `changes` and observers go on from here."""
        if self._origin is None:
            return
        if self._search is not None:
            for candidate in self._search.candidates:
                candidate.components.told = {}  # of one model only is told what changed
        self._records = OnlineRecords(self.model, self._origin)
        self._records.all_is_told()

    def changes(self) -> Changes | None:
        """What changed since the last time; None where another model or prior has taken over."""
        records = self._records
        if records is None or records.model is not self.model or not records.can_go_on:
            return None
        return records.changes()

    # --- files ------------------------------------------------------------------------------------

    @property
    def pending_moves(self) -> list[Move]:
        """Moves that the next lesson will tell."""
        return self.model.moves

    def to_arrays(self) -> Arrays:
        """All that matters between two episodes, as named arrays."""
        if self._origin is None:
            return {}
        if self._search is not None:
            return {"origin": self._origin} | prefixed("search", self._search.to_arrays())
        return {"origin": self._origin} | prefixed("model", self.model.to_arrays())

    def restore(self, arrays: Arrays, pending_moves: list[Move]) -> None:
        """Take over what was saved."""
        if not arrays:
            return
        saved = ArrayReader(arrays)
        if saved.has("search.n_steps"):
            self._search = ScaleSearch(self._make_model, self._n_features)
            self._search.restore(saved.part("search"), self._n_features, self._n_actions)
            self.model = self._search.best
        else:
            self._search = None
            self.model = self._make_model(Scale.of_bandwidth(1.0, self._n_features))
            self.model.restore(saved.part("model"))
        self.model.moves = pending_moves
        self._origin = saved.floats("origin", self._n_features)
        if self.model.components.told:
            self._records = OnlineRecords(self.model, self._origin)
