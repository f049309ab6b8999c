"""A learner of symbols: the exact part of an observation becomes one number, a code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tgm.config import TGMConfig
from tgm.distributions import BoolArray, FloatArray
from tgm.errors import DataError
from tgm.files.arrays import ArrayReader, Arrays, prefixed
from tgm.learners.learner import Context, FeatureUse, Learner
from tgm.learners.limits import most_symbols
from tgm.learners.online import OnlineLearner
from tgm.learners.outer import OuterLearner
from tgm.learners.scale_search import ScaleSearchLearner
from tgm.learners.snapshot import Changes, Snapshot, is_recorded
from tgm.learners.step_info import RowId, StepInfo
from tgm.learners.world_kinds import KeyedKind, SymbolKind
from tgm.perception.coordinates import Coordinates
from tgm.perception.observation_model import StateId
from tgm.perception.symbol_book import NO_CODE, SymbolBook
from tgm.structure.scale import Scale


class CodedLearner(OuterLearner):
    """Encodes what is exact, lets a learner learn from the codes, and decodes what it answers.

    So a step, a kept step and a file cost the same however many features there are. Where all
    features are exact, a state is one symbol; otherwise a code, and a Gaussian over the others.

    Attributes:
        is_exact: (n_features,) which features are.
        left_out: (n_features,) which of them are no part of a symbol, because they are noise.
        book: the symbols that were seen.
        inner: learns from (code, other features).
    """

    def __init__(
        self,
        is_exact: BoolArray,
        n_actions: int,
        config: TGMConfig,
        use: Coordinates | None = None,
    ) -> None:
        """Know nothing; exact features that are not relevant in `use` are left out."""
        self.is_exact = is_exact
        self._use = Coordinates.about(np.zeros(len(is_exact))) if use is None else use
        self.left_out = is_exact & ~self._use.relevant
        self._exact = np.flatnonzero(is_exact & ~self.left_out)
        self._rest = np.flatnonzero(~is_exact)
        self._is_plain = len(self._exact) == len(is_exact)
        self.book = SymbolBook(len(self._exact))
        self.inner: OnlineLearner | ScaleSearchLearner
        n_inner = 1 + len(self._rest)
        if not len(self._rest):
            kind = SymbolKind(most_symbols(len(is_exact)))
            scale = Scale(np.eye(1), np.eye(1))
            self.inner = OnlineLearner(1, n_actions, config, scale, kind)
        elif config.bandwidth == "auto":
            self.inner = ScaleSearchLearner(n_inner, n_actions, config, has_key=True)
        else:
            self.inner = OnlineLearner(n_inner, n_actions, config, None, KeyedKind())

    @property
    def n_features(self) -> int:
        """Length of an observation."""
        return len(self.is_exact)

    # --- codes ------------------------------------------------------------------------------------

    def _coded(self, observation: FloatArray, *, adds: bool = False) -> FloatArray:
        """(n_inner,) code and other features; NO_CODE for a new symbol, unless it is added."""
        if self._is_plain:
            code = self.book.add(observation) if adds else self.book.code(observation)
            return np.array([float(code)])
        symbol = observation[self._exact]
        code = self.book.add(symbol) if adds else self.book.code(symbol)
        return np.concatenate([[float(code)], observation[self._rest]])

    def _decoded(self, points: FloatArray) -> FloatArray:
        """(n, n_features) of points (n, n_inner)."""
        found = np.where(self.left_out, self._use.common_mean, np.zeros((len(points), 1)))
        codes = np.rint(points[:, 0]).astype(np.intp).tolist()
        known = np.array([i for i, code in enumerate(codes) if code != NO_CODE], dtype=np.intp)
        found[np.ix_(known, self._exact)] = self.book.symbols([codes[i] for i in known.tolist()])[
            :, : len(self._exact)
        ]
        found[:, self._rest] = points[:, 1:]
        return found

    def _widened(self, covariances: FloatArray) -> FloatArray:
        """(n, n_features, n_features) of covariances (n, n_inner, n_inner): symbols have none."""
        shape = (len(covariances), self.n_features, self.n_features)
        common = np.diag(self._use.common_variance * self.left_out) if self.left_out.any() else 0.0
        if not len(self._rest):
            return np.broadcast_to(common, shape)
        found = np.broadcast_to(common, shape).copy()
        found[:, self._rest[:, None], self._rest] = covariances[:, 1:, 1:]
        return found

    # --- learning ---------------------------------------------------------------------------------

    def begin(self, observation: FloatArray) -> StepInfo:
        """Learn from the first observation of an episode."""
        return self.inner.begin(self._coded(observation, adds=self._has_room))

    def observe(
        self, action: int, reward: float, observation: FloatArray, *, terminated: bool
    ) -> StepInfo:
        """Learn from one step; where an episode ended, no new symbol is worth a code."""
        point = self._coded(observation, adds=not terminated and self._has_room)
        return self.inner.observe(action, reward, point, terminated=terminated)

    @property
    def active(self) -> Learner:
        """Itself."""
        return self

    @property
    def _has_room(self) -> bool:
        return self.inner.world.states.n_alive < self.inner.most_states

    # --- what is known ----------------------------------------------------------------------------

    @property
    def means(self) -> FloatArray:
        """(n_states, n_features)"""
        return self._decoded(self.inner.means)

    @property
    def covariances(self) -> FloatArray:
        """(n_states, n_features, n_features)"""
        return self._widened(self.inner.covariances)

    @property
    def feature_use(self) -> FeatureUse:
        """Which features tell states apart: those of symbols, and what the inner learner says."""
        inner = self.inner.feature_use
        relevant = ~self.left_out
        relevant[self._rest] = inner.relevant[1:]
        return FeatureUse(relevant, self.is_exact, inner.varies)

    @property
    def outlier_share(self) -> float:
        """Share of the observations so far that belonged to no state."""
        return self.inner.outlier_share

    def belief(self, observations: FloatArray) -> FloatArray:
        """(n_observations, n_states) probability of each state given each observation alone."""
        return self.inner.belief(self._all_coded(observations))

    def filtered_beliefs(
        self, observations: FloatArray, contexts: Sequence[Context | None]
    ) -> FloatArray:
        """(n, n_states) probability of each state given each observation and what came before."""
        coded = [
            context
            if context is None or context.observation is None
            else context._replace(
                observation=tuple(self._coded(np.array(context.observation)).tolist())
            )
            for context in contexts
        ]
        return self.inner.filtered_beliefs(self._all_coded(observations), coded)

    def _all_coded(self, observations: FloatArray) -> FloatArray:
        points = [self._coded(observation) for observation in observations]
        return np.array(points).reshape(len(points), 1 + len(self._rest))

    # --- records ----------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """All that is known, as plain values."""
        found = self.inner.snapshot()
        if not is_recorded(1 + len(self._rest)):
            return found
        return found.seen_as(self._changes(found.known), self._decoded, self._widened,
                             self.n_features)  # fmt: skip

    def excerpt(self, states: Iterable[StateId], rows: Iterable[RowId]) -> Changes:
        """Some states and rows as they are now; ids that are gone are listed as removed."""
        found = self.inner.excerpt(states, rows)
        return self._changes(found) if is_recorded(1 + len(self._rest)) else found

    def _changes(self, found: Changes) -> Changes:
        """Changes of the inner learner, with means and covariances of whole observations."""
        n_inner = 1 + len(self._rest)
        table = np.array(found.components).reshape(-1, 3 + n_inner + n_inner**2)
        n = len(table)
        if is_recorded(self.n_features):
            means = self._decoded(table[:, 3 : 3 + n_inner])
            inner = table[:, 3 + n_inner :].reshape(n, n_inner, n_inner)
            covariances = self._widened(inner).reshape(n, self.n_features**2)
        else:
            means, covariances = table[:, :1], np.zeros((n, 1))
        components = np.concatenate([table[:, :3], means, covariances], axis=1)
        return found._replace(components=components.ravel())

    # --- files ------------------------------------------------------------------------------------

    def to_arrays(self) -> Arrays:
        """What the inner learner knows, and the symbols; nothing before the first."""
        arrays = self.inner.to_arrays()
        return arrays and arrays | prefixed("kind.book", self.book.to_arrays())

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave, checked."""
        self.book.restore(saved.part("kind.book"))
        self.inner.restore(saved)
        codes = self.inner.means[:, 0]
        if ((codes < 0) | (codes >= len(self.book)) | (codes != np.rint(codes))).any():
            raise DataError("a state names a symbol that is not in the book")
