"""What a learner changes while it learns from one step, by the ids of the states."""

from __future__ import annotations

from collections.abc import Iterable

from tgm.learners.step_info import StepInfo
from tgm.memory.step import Step
from tgm.perception.component_map import Move, MoveKind
from tgm.perception.observation_model import NO_STATE, ObservationModel, StateId
from tgm.transition.planned_rows import Key
from tgm.transition.sparse import START


class ChangeLog:
    """Owner of the changes of one step beyond adding its observation; the learner fills it.

    States are logged by id while they are there: a slot may hold another state at the end.
    """

    def __init__(self, states: ObservationModel) -> None:
        """Nothing has changed."""
        self._model = states
        self.clear()

    def clear(self) -> None:
        """Begin the next step."""
        self.states: set[StateId] = set()
        self.rows: set[tuple[StateId, int]] = set()
        self.moves: list[Move] = []
        self.is_rescaled = False
        self.is_empty = True  # but for moves

    def state(self, slot: int) -> None:
        """A state has changed."""
        self.is_empty = False
        self.states.add(self._id(slot))

    def scale(self) -> None:
        """What all states share has changed: the width of each, but no row."""
        self.is_rescaled, self.is_empty = True, False
        self.states.update(self._model.ids[self._model.alive].tolist())

    def row_keys(self, keys: Iterable[Key]) -> None:
        """Rows have changed."""
        for slot, action in keys:
            if slot != START:
                self.is_empty = False
                self.rows.add((self._id(slot), action))

    def step(self, step: Step) -> None:
        """The states and rows that a step adds to have changed."""
        self.is_empty = self.is_empty and not step.after and not step.entries
        for slot, _ in step.after:
            self.states.add(self._id(slot))
        if step.action is not None:
            for slot, _, _ in step.entries:
                self.rows.add((self._id(slot), step.action))

    def move(
        self,
        kind: MoveKind,
        slots: tuple[int, ...],
        cause: str,
        gain: float | None = None,
        *,
        accepted: bool = True,
    ) -> None:
        """A change of structure was made or refused."""
        ids = tuple(int(self._model.ids[slot]) for slot in slots)
        self.moves.append(Move(kind, ids, cause, gain, accepted))

    def take_moves(self) -> tuple[Move, ...]:
        """The changes of structure since the last call; they are logged no more."""
        moves, self.moves = tuple(self.moves), []
        return moves

    def info(self, step: Step, log_density: float, n_evicted: int) -> StepInfo:
        """What a step did, with everything logged since the last call; the log begins again.

        Args:
            step: the newest step.
            log_density: of its observation.
            n_evicted: kept steps that newer ones have replaced.
        """
        if not step.is_outlier:
            self.step(step)
        belief = tuple((self._id(slot), p) for slot, p in step.after)
        info = StepInfo(
            belief[0][0] if belief else NO_STATE,
            log_density,
            belief=belief,
            moves=self.take_moves(),
            changed_states=frozenset(self.states),
            changed_rows=frozenset(self.rows),
            n_evicted=n_evicted,
            changed_scale=self.is_rescaled,
        )
        self.clear()
        return info

    def _id(self, slot: int) -> StateId:
        return StateId(int(self._model.ids[slot]))
