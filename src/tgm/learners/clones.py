"""The learner of worlds whose places look alike: states may share one look and own their rows."""

from __future__ import annotations

import numpy as np

from tgm.distributions import FloatArray
from tgm.files.arrays import ANY, LARGEST, ArrayReader, Arrays, number, prefixed
from tgm.learners.alias_watch import LOST, changes_names
from tgm.learners.clone_knowledge import CloneKnowledge, StateLearner
from tgm.learners.clone_life import CloneLife
from tgm.learners.learner import Learner, LearnInfo
from tgm.learners.scale_search import ScaleSearchLearner
from tgm.learners.step_info import RowId, StepInfo
from tgm.learners.symbols import symbol_of, symbols_of
from tgm.memory.symbol_history import MOST_HISTORY_STEPS, SymbolHistory
from tgm.perception.component_map import Move
from tgm.perception.observation_model import NO_STATE, StateId
from tgm.structure.clone_model import gain_of_clones
from tgm.transition.automaton import Outcome

# While many nodes are undecided, the evidence of clones is too low: wait before giving up.
PATIENCE = 1.5  # times the steps at which one state for each look was better for the first time
LEAST_PATIENCE = 300  # steps more than that
CAUSE = "what followed differs: places that look alike"


class CloneLearner(CloneKnowledge):
    """Takes the states of an ordinary learner for symbols, and learns clones of them.

    The ordinary learner goes on learning from everything, and so stays a rival: where one state
    for each look explains the kept episodes better after all, it takes over again (`has_lost`).
    """

    def __init__(self, inner: StateLearner, life: CloneLife) -> None:
        """Take over from an ordinary learner, with a life that knows the episodes so far."""
        super().__init__(inner, life)
        if isinstance(inner, ScaleSearchLearner):
            inner.watched = MOST_HISTORY_STEPS
        life.read_again = self._read_again
        self._revision = -1  # of the life, at which it was compared with one state for each look
        self._state = NO_STATE
        self._behind_since: int | None = None  # the step since which clones lose
        self._compared_at = -1  # the step of the folding that `gain` was computed for
        self.gain = 0.0  # nats by which clones are better

    @classmethod
    def empty(
        cls, inner: StateLearner, n_features: int, n_actions: int, gamma: float
    ) -> CloneLearner:
        """One that knows nothing, to be restored."""
        return cls(inner, CloneLife(n_actions, gamma, SymbolHistory(n_features)))

    def take_over(self, info: StepInfo) -> StepInfo:
        """What the newest step was, in terms of clones."""
        return self._step_info(info, None)

    # --- learning ---------------------------------------------------------------------------------

    def begin(self, observation: FloatArray) -> StepInfo:
        """Learn from the first observation of an episode."""
        info = self.inner.begin(observation)
        self._follow_names(info)
        symbol = symbol_of(info, observation, self.inner)
        self.life.history.begin(symbol, observation)
        self.life.begin()
        self._state = NO_STATE
        return self._step_info(info, None)

    def observe(
        self, action: int, reward: float, observation: FloatArray, *, terminated: bool
    ) -> StepInfo:
        """Learn from one step."""
        info = self.inner.observe(action, reward, observation, terminated=terminated)
        self._follow_names(info)
        symbol = symbol_of(info, observation, self.inner, terminated)
        outcome = Outcome(symbol, reward, terminated)
        self.life.history.add(action, outcome, observation)
        self.life.observe(action, outcome)
        if self.life.history.is_long:
            self.life.history.split()
            self.life.go_on()
        return self._step_info(info, action)

    def _follow_names(self, info: StepInfo) -> None:
        """After the ordinary learner has merged or split states, name all kept points again."""
        if not changes_names(info):
            return
        if self._read_again() and not self.life.recall():
            self.life.forget()  # without a folding, nothing is known of the new names

    def _read_again(self) -> bool:
        """Name all kept points again; returns whether any has another name."""
        return self.life.history.relabel(lambda points: symbols_of(points, self.inner))

    def choose(self, n_steps: int, rng: np.random.Generator) -> int:
        """The action to try."""
        return self.life.choose(rng)

    def end_episode(self) -> None:
        """The ordinary learner notes the end; clones learn it from the next `begin`."""
        self.inner.end_episode()

    def learn(self, moves: tuple[Move, ...], n_evicted: int) -> LearnInfo:
        """A report: the learning was done at every step."""
        return self.inner.learn(moves, n_evicted)

    @property
    def active(self) -> Learner:
        """Itself."""
        return self

    # --- report -----------------------------------------------------------------------------------

    def _step_info(self, info: StepInfo, action: int | None) -> StepInfo:
        """What happened, in terms of clones."""
        before, moves = self._state, tuple[Move, ...]()
        is_other = self._revision != self.life.revision
        if is_other:
            moves = self._revised()
        names = self._named()
        shares = [
            (StateId(names[clone]), share)
            for clone, share in self.life.track.shares.items()
            if clone in names
        ]
        shares.sort(key=lambda one: -one[1])
        self._state = shares[0][0] if shares else NO_STATE
        rows: frozenset[RowId] = frozenset()
        if action is not None and before != NO_STATE:
            rows = frozenset([(before, action)])
        return StepInfo(
            self._state,
            info.log_density,
            belief=tuple(shares),
            moves=moves,
            changed_states=frozenset([] if self._state == NO_STATE else [self._state]),
            changed_rows=rows,
            changed_all=is_other,
            n_evicted=info.n_evicted,
        )

    def _revised(self) -> tuple[Move, ...]:
        """After a folding: compare with one state for each look; the moves that made new clones."""
        self._revision, known = self.life.revision, set(self._names.values())
        if self._compared_at != self.life.folded_at:
            self._compared_at = self.life.folded_at
            self._compare()
        symbols, is_clone = self.life.folding.graph.symbols, self.life.folding.is_clone
        first: dict[int, int] = {}
        moves = []
        for clone, name in self._named().items():
            if clone not in is_clone:
                continue  # a step of the path that is kept
            origin = first.setdefault(symbols[clone], name)
            if name not in known and name != origin:
                moves.append(Move("split", (name, origin), CAUSE, self.gain))
        return tuple(moves)

    def _compare(self) -> None:
        """With one state for each look, by the evidence of the kept episodes."""
        gain = gain_of_clones(self.life.folding, self.life.history.episodes)
        self.gain = max(gain, -LARGEST)
        is_needed = any(len(alike) > 1 for alike in self.life.folding.by_symbol.values())
        if self.gain >= LOST and (is_needed or self.gain > 0.0):
            self._behind_since = None
        elif self._behind_since is None:
            self._behind_since = self.life.n_steps

    def has_lost(self) -> bool:
        """Whether one state for each look explains the kept episodes better, and has for long.

        It does as well where no look has two clones, and more cheaply. While rows look random, and
        repetition has not shown that the best episode was chance, it has not lost; nor while each
        step costs the same: it would go in circles again, and clones at least walk about.
        """
        behind, habits = self._behind_since, self.life.habits
        if behind is None or (habits.sees_chance and habits.may_repeat) or habits.only_pays:
            return False
        if self.life.n_steps <= PATIENCE * behind + LEAST_PATIENCE:
            return False
        self._compare()
        return self._behind_since is not None

    # --- files ------------------------------------------------------------------------------------

    def to_arrays(self) -> Arrays:
        """What the ordinary learner knows, and the clones."""
        names = [(symbol, place, name) for (symbol, place), name in self._names.items()]
        return self.inner.to_arrays() | prefixed("clones", {
            **prefixed("history", self.life.history.to_arrays()),
            **prefixed("life", self.life.to_arrays()),
            "names": np.array(names, dtype=np.intp).reshape(-1, 3),
            "revision": np.array([self._revision + 1, self._compared_at + 1]),
            "behind": np.array([] if self._behind_since is None else [self._behind_since], np.intp),
            "gain": number(self.gain),
        })  # fmt: skip

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave, checked; the ordinary learner is restored already."""
        part = saved.part("clones")
        self.life.history.restore(part.part("history"), self.life.n_actions)
        self.life.restore(part.part("life"))
        names = part.whole("names", ANY, 3)
        self._restore_names(names)
        revision, compared = part.whole("revision", 2).tolist()
        self._revision, self._compared_at = revision - 1, compared - 1
        self.gain = part.number("gain")
        behind = part.whole("behind", ANY).tolist()
        self._behind_since = behind[0] if behind else None
