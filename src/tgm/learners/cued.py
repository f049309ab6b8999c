"""The learner of worlds whose later looks ask for features of the first look of an episode."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tgm.config import TGMConfig
from tgm.distributions import BoolArray, FloatArray
from tgm.files.arrays import ANY, LARGEST, ArrayReader, Arrays, prefixed
from tgm.learners.coded import CodedLearner
from tgm.learners.events import Event
from tgm.learners.learner import Context, Learner
from tgm.learners.outer import OuterLearner
from tgm.learners.step_info import StepInfo
from tgm.memory.symbol_history import SymbolHistory
from tgm.perception.symbol_book import SymbolBook
from tgm.structure.cue_features import Cue, find_cue
from tgm.transition.automaton import BEGIN, END, Outcome

CUE_GROWTH = 1.2  # times the steps at which the cue was looked for, until it is again
PLAIN, ASKS, FIRST = 0.0, 1.0, 2.0  # kinds of symbols


class RememberingCoder(CodedLearner):
    """Symbols of looks, with what those that ask for a feature of the first look are told.

    All first looks are one symbol: that of the first one of all.
    """

    def __init__(self, is_exact: BoolArray, n_actions: int, config: TGMConfig, cue: Cue) -> None:
        """Know nothing but what looks ask for."""
        super().__init__(is_exact, n_actions, config)
        self.book = SymbolBook(len(is_exact) + 2)  # what was told, and the kind
        self.cue: FloatArray | None = None  # the first look of the episode
        self._first: FloatArray | None = None  # the first one of all
        rows = zip(cue.looks + 0.0, cue.features.tolist(), strict=True)
        self._asks = {look.tobytes(): feature for look, feature in rows}

    def begin(self, observation: FloatArray) -> StepInfo:
        """Learn from the first observation of an episode."""
        self.cue = observation.copy()
        if self._first is None:
            self._first = self.cue
        return super().begin(observation)

    def _coded(self, observation: FloatArray, *, adds: bool = False) -> FloatArray:
        """(1,) the code of an observation of the episode of `cue`."""
        told, kind, look = 0.0, PLAIN, observation
        feature = self._asks.get((observation + 0.0).tobytes())
        if self.cue is None or (observation == self.cue).all():
            kind, look = FIRST, observation if self._first is None else self._first
        elif feature is not None:
            told, kind = float(self.cue[feature]), ASKS
        symbol = np.concatenate([look, [told, kind]])
        return np.array([float(self.book.add(symbol) if adds else self.book.code(symbol))])

    def coded_after(self, observation: FloatArray, first: FloatArray | None) -> FloatArray:
        """(1,) the code of an observation in an episode that began with `first`."""
        lived, self.cue = self.cue, first
        code = self._coded(observation)
        self.cue = lived
        return code

    def belief(self, observations: FloatArray) -> FloatArray:
        """(n, n_states) given each alone: the first of an episode, if it is no other symbol."""
        codes = []
        for observation in observations:
            symbol = np.concatenate([observation, [0.0, PLAIN]])
            is_other = self.book.code(symbol) >= 0
            codes.append(self.coded_after(observation, observation + 1.0 if is_other else None))
        return self.inner.belief(np.array(codes).reshape(-1, 1))

    def filtered_beliefs(
        self, observations: FloatArray, contexts: Sequence[Context | None]
    ) -> FloatArray:
        """(n, n_states) given each observation and the first one of its episode."""
        beliefs = self.belief(observations)
        for row, observation, context in zip(beliefs, observations, contexts, strict=True):
            if context is not None and context.first is not None:
                code = self.coded_after(observation, np.array(context.first))
                row[:] = self.inner.belief(code[None])[0]
        return beliefs

    def to_arrays(self) -> Arrays:
        """Everything."""
        first = np.zeros(self.n_features) if self._first is None else self._first
        return super().to_arrays() | {"first": first}

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave, checked."""
        super().restore(saved)
        self._first = saved.floats("first", self.n_features, size=LARGEST)


class CuedLearner(OuterLearner):
    """Keeps the newest episodes, and learns from all of them again when the cue has changed.

    Attributes:
        history: the kept episodes.
        cue: what looks ask for.
        inner: learns from symbols that tell it.
    """

    inner: RememberingCoder

    def __init__(self, is_exact: BoolArray, n_actions: int, config: TGMConfig) -> None:
        """Know nothing."""
        self._is_exact, self._n_actions, self._config = is_exact, n_actions, config
        self.history = SymbolHistory(len(is_exact))
        self._n_steps = self._look_at = 0
        self._ask(Cue(np.empty((0, len(is_exact))), np.empty(0, np.intp)), 0)

    # --- learning ---------------------------------------------------------------------------------

    def take_over(self, cue: Cue, history: SymbolHistory, next_id: int) -> StepInfo:
        """Learn from the kept episodes; states have ids from `next_id`."""
        self.history, self._n_steps = history, history.n_steps
        self._look_at = int(CUE_GROWTH * self._n_steps) + 1
        return self._recall(cue, next_id)

    def _ask(self, cue: Cue, next_id: int) -> None:
        """Know nothing but what looks ask for."""
        self.cue = cue
        self.inner = RememberingCoder(self._is_exact, self._n_actions, self._config, cue)
        self.inner.world.states.next_id = next_id

    def _recall(self, cue: Cue, next_id: int) -> StepInfo:
        """Learn from all kept episodes again."""
        self._ask(cue, next_id)
        info = StepInfo()
        for episode, points in zip(self.history.episodes, self.history.points, strict=True):
            for (action, outcome), point in zip(episode, points, strict=True):
                kind = None if action == BEGIN else action
                info = Event(point, kind, outcome.reward, outcome.ended).show(self.inner)
        return info._replace(share=0.0, weight=0.0, changed_all=True)

    def begin(self, observation: FloatArray) -> StepInfo:
        """Learn from the first observation of an episode; now and then the cue is found again."""
        found: Cue | None = None
        if self._n_steps >= self._look_at:
            self._look_at = int(CUE_GROWTH * self._n_steps) + 1
            found = find_cue(self.history.episodes, self.history.points)
        self.history.begin(0, observation)
        if found is not None and not _is_same(found, self.cue):
            return self._recall(found, self.inner.world.states.next_id)
        return self.inner.begin(observation)

    def observe(
        self, action: int, reward: float, observation: FloatArray, *, terminated: bool
    ) -> StepInfo:
        """Learn from one step."""
        self._n_steps += 1
        outcome = Outcome(END if terminated else 0, reward, terminated)
        self.history.add(action, outcome, observation)
        return self.inner.observe(action, reward, observation, terminated=terminated)

    @property
    def active(self) -> Learner:
        """Itself."""
        return self

    @property
    def outlier_share(self) -> float:
        """No symbol is an outlier."""
        return self.inner.outlier_share

    # --- files ------------------------------------------------------------------------------------

    def to_arrays(self) -> Arrays:
        """What is needed to learn it all again, and what was learned."""
        return prefixed("cued", {
            **self.inner.to_arrays(),
            **prefixed("history", self.history.to_arrays()),
            "looks": self.cue.looks,
            "features": self.cue.features,
            "steps": np.array([self._n_steps, self._look_at]),
        })  # fmt: skip

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave, checked."""
        part, n_features = saved.part("cued"), len(self._is_exact)
        looks = part.floats("looks", ANY, n_features, size=LARGEST)
        features = part.whole("features", len(looks), high=n_features - 1)
        self.history.restore(part.part("history"), self._n_actions)
        self._n_steps, self._look_at = part.whole("steps", 2).tolist()
        self._ask(Cue(looks, features), 0)
        self.inner.restore(part)


def _is_same(one: Cue, other: Cue) -> bool:
    return one.looks.shape == other.looks.shape and all(
        np.array_equal(a, b) for a, b in zip(one, other, strict=True)
    )
