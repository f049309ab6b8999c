"""What has changed in an agent since its last record, gathered from what its steps report."""

from __future__ import annotations

from typing import Any

from tgm.learners.step_info import RowId, StepInfo
from tgm.perception.observation_model import NO_STATE, StateId


class UnrecordedChanges:
    """Owner of the states and rows that the next record must show.

    While there are any, the observations that change little are gathered too: a reader can follow
    those only in states that it knows.
    """

    def __init__(self) -> None:
        """Everything: nothing was recorded yet."""
        self.states: set[StateId] = set()
        self.rows: set[RowId] = set()
        self.is_everything = True

    def __bool__(self) -> bool:
        return self.is_everything or bool(self.states) or bool(self.rows)

    def add(self, info: StepInfo, before: StateId, action: int) -> None:
        """What a step has changed; `before` is the state before it, `action` below 0 at a reset."""
        self.is_everything = self.is_everything or info.changed_all
        self.states |= info.changed_states
        self.rows |= info.changed_rows
        if info.share > 0.0:
            self.states.add(info.state)
            if info.weight > 0.0 and action >= 0 and before != NO_STATE:
                self.rows.add((before, action))

    def clear(self) -> None:
        """All of it is recorded now."""
        self.states, self.rows, self.is_everything = set(), set(), False

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "states": sorted(self.states),
            "rows": sorted(self.rows),
            "is_everything": self.is_everything,
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> UnrecordedChanges:
        """What `to_dict` gave."""
        changes = cls()
        changes.states = {StateId(int(name)) for name in values["states"]}
        changes.rows = {(StateId(int(name)), int(action)) for name, action in values["rows"]}
        changes.is_everything = bool(values["is_everything"])
        return changes
