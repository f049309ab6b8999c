"""The published learner: mean shift now and then, forgetting, and Q-learning over beliefs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tgm.config import TGMConfig
from tgm.distributions import BoolArray, FloatArray, IntArray, normal_wishart
from tgm.distributions.kalman import Gaussians
from tgm.errors import DataError
from tgm.files.arrays import ANY, LARGEST_SQUARE, LARGEST_SUM, ArrayReader, Arrays, prefixed
from tgm.learners.learner import Context, FeatureUse, Forecast, Learner, LearnInfo
from tgm.learners.snapshot import Changes, Snapshot, Table, is_recorded
from tgm.learners.step_info import RowId, StepInfo
from tgm.memory import Trajectories, Transitions, forgettable_points
from tgm.memory.trajectories import NO_ACTION
from tgm.perception.component_map import Move
from tgm.perception.free_energy import free_energy
from tgm.perception.mean_shift_structure import Components, Discovery, discover
from tgm.perception.mixture import Mixture
from tgm.perception.observation_model import NO_STATE, StateId
from tgm.perception.variational import assess, responsibilities
from tgm.planning import BeliefQLearning
from tgm.planning.exploration import STRATEGIES
from tgm.transition import TransitionModel, transition_counts

LEAST_RECORDED_COUNT = 1e-4  # smaller expected counts are not recorded
LEAST_REPORTED = 1e-3  # smaller probabilities are not reported


class MeanShiftLearner:
    """Everything the agent knows: components, transitions, values, and the memory behind them."""

    def __init__(self, n_features: int, n_actions: int, config: TGMConfig) -> None:
        """Know nothing."""
        self._config = config
        self._n_features = n_features
        self.components: Components | None = None
        self.memory = Trajectories(n_features)
        self.transitions = TransitionModel(n_actions, config.transition_prior)
        self._exploration = STRATEGIES[config.exploration](config)
        self.planner = BeliefQLearning(n_actions, config.learning_rate, config.gamma)
        self.transition_matrix = self.transitions.probabilities()
        self._belief: FloatArray | None = None  # of the current observation; None when it is stale
        self._log_density = 0.0  # of the current observation
        self._energy = np.empty(0)  # (n_states,) each component's part of the free energy

    @property
    def state_ids(self) -> IntArray:
        """(n_states,) ids, never used again."""
        return np.empty(0, dtype=np.intp) if self.components is None else self.components.ids

    @property
    def means(self) -> FloatArray:
        """(n_states, n_features)"""
        if self.components is None:
            return np.empty((0, self._n_features))
        return self.components.posterior.components.mean

    @property
    def covariances(self) -> FloatArray:
        """(n_states, n_features, n_features)"""
        if self.components is None:
            return np.empty((0, self._n_features, self._n_features))
        return normal_wishart.expected_covariance(self.components.posterior.components)

    def filtered_beliefs(
        self, observations: FloatArray, contexts: Sequence[Context | None]
    ) -> FloatArray:
        """(n, n_states) the belief given each observation alone, as published."""
        return self.belief(observations)

    def belief(self, observations: FloatArray) -> FloatArray:
        """(n_observations, n_states) probability of each state given each observation."""
        if self.components is None:
            return np.empty((len(observations), 0))
        return responsibilities(self.components.posterior, observations)

    def placed(
        self, observations: FloatArray, contexts: Sequence[Context | None]
    ) -> Gaussians | None:
        """None: the paper has no laws."""
        return None

    def action_values(self, belief: FloatArray) -> FloatArray:
        """(..., n_actions) belief-weighted sum of q; belief is (..., n_states)."""
        return np.asarray(belief @ self.planner.q.T)

    def values_of(self, observations: FloatArray, belief: FloatArray) -> FloatArray:
        """(n, n_actions) greedy values, which depend on the belief alone."""
        return self.action_values(belief)

    def forecast(self, observations: FloatArray) -> Forecast | None:
        """None: as published, there are no laws."""
        return None

    @property
    def transition_counts(self) -> FloatArray:
        """(n_actions, n_states, n_states) expected counts, without the prior."""
        return self.transitions.evidence

    @property
    def end_probabilities(self) -> FloatArray:
        """(n_actions, n_states) zero: as published, there is no model of ends."""
        return np.zeros((self.transitions.n_actions, len(self.state_ids)))

    def outlook(self, belief: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What each action leads to in a belief (n_states,): next states, no end, and tries."""
        expected_next = np.einsum("k,akj->aj", belief, self.transition_matrix)
        tries = self.transition_counts.sum(axis=-1) @ belief
        return expected_next, np.zeros(len(tries)), tries

    @property
    def feature_use(self) -> FeatureUse:
        """All features count, as published."""
        points, every = self.memory.points, np.ones(self._n_features, dtype=bool)
        return FeatureUse(every, ~every, bool((points != points[:1]).any()))

    @property
    def is_full(self) -> bool:
        """Never: each search finds as many components as it finds."""
        return False

    @property
    def n_kept(self) -> int:
        """Points in memory."""
        return len(self.memory)

    @property
    def n_fixed(self) -> int:
        """Components that are fixed."""
        return 0 if self.components is None else int(self.components.is_fixed.sum())

    def begin(self, observation: FloatArray) -> StepInfo:
        """The first observation of an episode."""
        self.memory.begin_trial(observation)
        self._belief = None
        return self._info()

    def choose(self, n_steps: int, rng: np.random.Generator) -> int:
        """The action to try in the current belief."""
        values = self.action_values(self._current_belief())
        return self._exploration.choose(values, n_steps, rng)

    def observe(
        self, action: int, reward: float, observation: FloatArray, *, terminated: bool
    ) -> StepInfo:
        """Learn the value of one step; structure waits for `learn`."""
        if self.components is not None:
            belief = self._current_belief()
            self.planner.observe(
                belief, action, reward, self.transition_matrix, terminated=terminated
            )
        self.memory.add_step(action, observation)
        self._belief = None
        return self._info()

    def _info(self) -> StepInfo:
        """The belief in the newest observation; a search for structure will change everything."""
        belief = self._current_belief()
        chosen = np.flatnonzero(belief > LEAST_REPORTED)
        order = chosen[np.argsort(-belief[chosen], kind="stable")].tolist()
        ids = self.state_ids.tolist()
        pairs = tuple((StateId(ids[index]), float(belief[index])) for index in order)
        return StepInfo(
            pairs[0][0] if pairs else NO_STATE, self._log_density, belief=pairs, changed_all=True
        )

    @property
    def active(self) -> Learner:
        """Itself."""
        return self

    def end_episode(self) -> None:
        """The newest point has no successor."""
        self.memory.end_trial()

    def _current_belief(self) -> FloatArray:
        if self._belief is None:
            if self.components is None:
                return np.empty(0)
            resp, log_density = assess(self.components.posterior, self.memory.points[-1:])
            self._belief, self._log_density = resp[0], float(log_density[0])
        return self._belief

    def learn(self, moves: tuple[Move, ...], n_evicted: int) -> LearnInfo:
        """Search for structure in the kept data, recount the transitions, forget what is safe."""
        points = self.memory.points.copy()
        found = discover(
            self.components,
            points,
            bandwidth=float(self._config.bandwidth),
            kl_threshold=self._config.kl_threshold,
            fix_after=self._config.fix_after,
        )
        self.components, self._belief = found.components, None
        self.transitions.apply(found.change)
        self.planner.apply(found.change)
        # Erratum 13: what to forget is chosen after the fit, with the new responsibilities.
        forget = self._forgettable(found)
        settled = _among_fixed(found)
        self._recount(found.responsibilities, settled, forget)
        if forget.any():
            self.components = found.components.fold(points[forget], settled[forget])
            self.memory.forget(forget)
        terms = free_energy(
            found.fit.prior, found.fit.posterior, points, found.fit.responsibilities
        )
        self._energy = terms.by_component()[found.kept]
        return LearnInfo(
            int(forget.sum()),
            found.fit.free_energy,
            terms.by_term(),
            tuple(found.fit.free_energies.tolist()),
            found.change.moves,
        )

    def _forgettable(self, found: Discovery) -> BoolArray:
        """(n_points,) what can be folded into the priors now."""
        if not self._config.forget:
            return np.zeros(len(self.memory), dtype=bool)
        belongs_to_fixed = found.components.is_fixed[found.responsibilities.argmax(axis=1)]
        forget = forgettable_points(belongs_to_fixed, self.memory.has_next)
        if self.memory.newest_is_open:
            forget[-1] = False  # the step that leaves it is still to come
        return forget

    def _recount(self, resp: FloatArray, settled: FloatArray, forget: BoolArray) -> None:
        """Fold the transitions that lose an end, count the others."""
        steps = self.memory.transitions
        lost = forget[steps.before] | forget[steps.after]
        self.transitions.fold(self._count(settled, steps.where(lost)))
        self.transitions.keep(self._count(resp, steps.where(~lost)))
        self.transition_matrix = self.transitions.probabilities()

    def _count(self, resp: FloatArray, steps: Transitions) -> FloatArray:
        return transition_counts(
            resp[steps.before], steps.actions, resp[steps.after], self.transitions.n_actions
        )

    # --- records --------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """All that is known, as plain values."""
        points, n_actions = self.memory.points.copy(), self.transitions.n_actions
        if self.components is None:
            return Snapshot.empty(self._n_features, n_actions, points)
        known, ids = self.components, self.state_ids
        weight = known.posterior.components.mean_precision
        kept_states = np.empty(0, dtype=np.intp)
        if len(points):
            kept_states = ids[responsibilities(known.posterior, points).argmax(axis=1)]
        looks = [ids.astype(np.float64), np.zeros(len(ids))]
        if is_recorded(self._n_features):
            looks = [self.means, self.covariances.reshape(len(ids), -1)]
        columns = np.column_stack([ids, weight, known.is_fixed, *looks])
        found = Snapshot(
            Changes(columns.ravel(), *self._row_tables(), []),
            self.planner.q.T.copy(),
            known.prior.components.mean,
            normal_wishart.expected_covariance(known.prior.components),
            -self._energy,
            0.0,
            points,
            kept_states,
        )
        return found if is_recorded(self._n_features) else found.narrow()

    def excerpt(self, states: Iterable[StateId], rows: Iterable[RowId]) -> Changes:
        """Never called: a search for structure changes everything."""
        raise NotImplementedError("the paper's learner is recorded whole")

    def _row_tables(self) -> tuple[Table, Table]:
        """The published agent has no model of rewards and ends: they are recorded as zero."""
        counts, ids = self.transition_counts, self.state_ids
        actions, states = np.nonzero(counts.sum(axis=-1) > LEAST_RECORDED_COUNT)
        chosen = counts[actions, states]
        seen = chosen > LEAST_RECORDED_COUNT
        nothing = np.zeros(len(actions))
        columns = (ids[states], actions, chosen.sum(axis=1), nothing, nothing, seen.sum(axis=1))
        row, reached = np.nonzero(seen)
        next_states = np.stack([ids[reached], chosen[row, reached]], axis=1)
        return np.stack(columns, axis=1).ravel(), next_states.ravel()

    # --- to and from plain arrays, for model files --------------------------------------------

    def to_arrays(self) -> Arrays:
        """Everything known, as named arrays."""
        arrays: Arrays = {
            "memory.points": self.memory.points,
            "memory.actions": self.memory.actions,
        }
        if self.components is None:
            return arrays
        known = self.components
        arrays |= {
            "ids": known.ids,
            "persistence": known.persistence,
            "is_fixed": known.is_fixed,
            "next_id": np.array([known.next_id]),
            "transition.folded": self.transitions.folded_evidence,
            "transition.kept": self.transitions.kept_evidence,
            "q": self.planner.q,
            "energy": self._energy,
        }
        arrays |= prefixed("prior", known.prior.to_arrays())
        return arrays | prefixed("posterior", known.posterior.to_arrays())

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave; a KeyError or DataError names what does not fit."""
        n_features = self._n_features
        n_actions = self.transitions.n_actions
        points = saved.floats("memory.points", ANY, n_features)
        actions = saved.whole("memory.actions", len(points), low=NO_ACTION, high=n_actions - 1)
        self.memory.restore(points, actions)
        if not saved.has("ids"):
            return
        ids = saved.whole("ids", ANY)
        n_states, next_id = len(ids), saved.count("next_id")
        if len(set(ids.tolist())) != n_states or (ids >= next_id).any():
            raise DataError(f"array 'ids' holds a name twice, or one that is not below {next_id}")
        self.components = Components(
            Mixture.from_arrays(saved.part("prior"), n_states, n_features),
            Mixture.from_arrays(saved.part("posterior"), n_states, n_features),
            ids,
            saved.whole("persistence", n_states),
            saved.flags("is_fixed", n_states),
            next_id,
        )
        square = n_actions, n_states, n_states
        self.transitions.restore(
            saved.floats("transition.folded", *square), saved.floats("transition.kept", *square)
        )
        self.transition_matrix = self.transitions.probabilities()
        self.planner.q = saved.floats("q", n_actions, n_states, size=LARGEST_SUM)
        self._energy = saved.floats("energy", n_states, size=LARGEST_SQUARE)


def _among_fixed(found: Discovery) -> FloatArray:
    """(n_points, n_components) responsibilities shared among the fixed components only.

    Departs from the print: what is forgotten goes to components that stay. A flexible one is
    proposed again at the next search, and its share of the forgotten data would be lost with it.
    """
    resp = found.responsibilities * found.components.is_fixed
    total = resp.sum(axis=1, keepdims=True)
    return np.asarray(resp / np.where(total > 0, total, 1.0))
