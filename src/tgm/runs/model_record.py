"""Records what is seen and how the model changes by it, from what each step reports."""

from __future__ import annotations

import numpy as np

from tgm.distributions import FloatArray
from tgm.learners.learner import Learner
from tgm.learners.snapshot import Snapshot, is_recorded
from tgm.learners.step_info import StepInfo
from tgm.perception.observation_model import NO_STATE
from tgm.runs.history import HistoryWriter
from tgm.runs.unrecorded import UnrecordedChanges


class ModelRecord:
    """Owner of what is not in the history yet; it decides what must be written.

    Attributes:
        changes: what the next record must show.
        is_followed: whether a reader of the history knows the model as it is now.
    """

    def __init__(self, history: HistoryWriter, n_features: int) -> None:
        """Write to `history`; of `n_features` if that is few, of wide ones the id of the state."""
        self._history = history
        self._pack, self._add = history.pack, history.observations.append
        self._is_wide = not is_recorded(n_features)
        self.changes = UnrecordedChanges()
        self.is_followed = False
        self._state_before = NO_STATE  # of the newest observation
        self._is_new_chunk = False  # whether the next observation is the first of a chunk

    def resume(self, changes: UnrecordedChanges) -> None:
        """Go on with a history that was restored, and with the changes that are not in it."""
        self.changes = changes
        self.is_followed = not changes
        self._is_new_chunk = self._history.n_observations == 0

    def observed(
        self, point: FloatArray, action: int, reward: float, end: int, info: StepInfo
    ) -> None:
        """Keep an observation, and note what it has changed if a reader cannot follow it."""
        state, log_density, share, weight, belief = info[:5]
        if self._is_new_chunk:  # a reader of this chunk does not know the state before
            self._is_new_chunk, share, weight = False, 0.0, 0.0
        if self._is_wide:
            point = np.array([float(state)])
        self._add(
            self._pack(action, reward, end, state, log_density, share, weight, point.tobytes())
        )
        if len(belief) != 1 or belief[0][1] != 1.0:
            self._history.note_belief(belief)
        if share <= 0.0 or not self.is_followed:
            self.is_followed = False
            self.changes.add(info, self._state_before, action)
        self._state_before = state

    def needs_snapshot(self, step: int) -> bool:
        """Whether only a snapshot of everything will do."""
        return self.changes.is_everything or step >= self._history.full_at

    def keep(self, step: int, learner: Learner, n_episodes: int) -> Snapshot | None:
        """Write down the changes, or everything; returns the snapshot if there was one."""
        snapshot = None
        if self.needs_snapshot(step):
            snapshot = learner.snapshot()
            self._history.begin_chunk(step, n_episodes)
            self._history.add_full(step, snapshot)
            self._is_new_chunk = self._history.n_observations == 0
        else:
            changed = learner.excerpt(self.changes.states, self.changes.rows)
            self._history.add_changes(step, changed)
        self.changes.clear()
        self.is_followed = True
        return snapshot
