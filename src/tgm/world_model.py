"""The world model: everything that is known of a world, as data."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tgm.errors import DataError
from tgm.files.arrays import ArrayReader, Arrays, prefixed
from tgm.memory.step import Belief, Step, relabel
from tgm.memory.step_memory import StepMemory
from tgm.perception.background import Background
from tgm.perception.component_map import ComponentMap
from tgm.perception.observation_model import ObservationModel
from tgm.transition import sparse_file
from tgm.transition.displacement_laws import DisplacementLaws
from tgm.transition.planned_rows import Key
from tgm.transition.rows import Row
from tgm.transition.sparse import START, START_ACTION, SparseTransitions


class WorldModel:
    """States, transitions, displacement laws and kept steps, which name the same slots.

    It decides nothing: a learner says what is added, taken back or changed, and its methods keep
    the parts consistent.

    Attributes:
        states: what each state looks like.
        transitions: what each action does in each state.
        displacements: what each action does to the observation, anywhere.
        memory: the kept steps.
        background: how many observations belonged to no state.
        born: (n_slots or more,) the step at which each state was born.
        newest: the newest step, kept or not; None before the first.
    """

    def __init__(
        self,
        states: ObservationModel,
        transitions: SparseTransitions,
        displacements: DisplacementLaws,
        memory: StepMemory,
    ) -> None:
        """Put the parts together; nothing is known yet."""
        self.states = states
        self.transitions = transitions
        self.displacements = displacements
        self.memory = memory
        self.background = Background()
        self.born = np.zeros(0)
        self.newest: Step | None = None

    @property
    def belief(self) -> Belief:
        """The belief after the newest observation."""
        return [] if self.newest is None else self.newest.after

    def add_state(self, born: float) -> int:
        """The slot of a new state without points, born at a step."""
        state = self.states.birth()
        self.transitions.make_room(state + 1)
        if state >= len(self.born):
            self.born = np.concatenate([self.born, np.zeros(max(16, len(self.born)))])
        self.born[state] = born
        return state

    def apply(self, change: ComponentMap) -> set[Key]:
        """Transitions, memory and belief follow one map; returns the rows that changed by it."""
        rows = self.transitions.apply(change)
        self.memory.apply(change)
        if self.newest is not None and self.newest.kept_in is None:
            self.newest.after = relabel(self.newest.after, change.changed)
        return rows

    def count(self, step: Step, sign: float) -> None:
        """Add a step to the transitions, or take it back as far as it has not faded."""
        count_step(self.transitions, step, sign)

    def row_without(self, key: Key, steps: Sequence[Step]) -> Row:
        """A row without what some steps have added to it; nothing changes."""
        row = self.transitions.row(*key)
        if not steps:
            return row
        left = dict(row)
        for step in steps:
            if step.action != key[1] or step.retracted or step.is_outlier:
                continue
            fade = math.exp(self.transitions.log_fade - step.log_fade)
            for before, after, weight in step.entries:
                if before == key[0] and after in left:
                    left[after] = max(0.0, left[after] - weight * fade)
        return left

    def to_arrays(self) -> Arrays:
        """Everything that matters between two episodes, as named arrays."""
        return {
            "born": self.born[: self.states.n_slots],
            **prefixed("component", self.states.to_arrays()),
            **prefixed("transition", sparse_file.to_arrays(self.transitions)),
            **prefixed("displacement", self.displacements.to_arrays()),
            **prefixed("memory", self.memory.to_arrays(self.states.n_features)),
            **prefixed("background", self.background.to_arrays()),
        }

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave, into a model that knows nothing; checked before use."""
        n_features, n_actions = self.states.n_features, self.transitions.n_actions
        self.states.restore(saved.part("component"))
        n_slots = self.states.n_slots
        sparse_file.restore(self.transitions, saved.part("transition"), n_slots)
        self.displacements.restore(saved.part("displacement"))
        self.memory.restore(saved.part("memory"), n_features, n_actions, n_slots)
        self.background.restore(saved.part("background"))
        self.born = saved.floats("born", n_slots)
        self._check_names()

    def _check_names(self) -> None:
        """What was restored names states that are there, and a past that is over."""
        transitions, alive = self.transitions, self.states.alive
        named = {state for key, row in transitions.rows.items() if row for state in (key[0], *row)}
        for step in self.memory.all():
            named |= step.names
            if not transitions.log_fade <= step.log_fade <= 0.0:
                raise DataError(f"array 'log_fade' holds {step.log_fade} for a kept step")
        unknown = named - set(alive.tolist()) - {START}
        if unknown:
            raise DataError(f"state {min(unknown)} is named, but is not there")
        if len(alive) and int(transitions.successor[: alive[-1] + 1].max(initial=0)) > alive[-1]:
            raise DataError("array 'successor' names a state that is not there")


def count_step(transitions: SparseTransitions, step: Step, sign: float) -> None:
    """Add a step to transitions, or take it back (sign -1) as far as it has not faded."""
    if step.retracted or step.is_outlier:
        return
    if step.log_fade != transitions.log_fade:
        sign *= math.exp(transitions.log_fade - step.log_fade)
    if step.action is None:
        for state, weight in step.after:
            transitions.add(START, START_ACTION, state, sign * weight, 0.0, 0.0)
    else:
        for before, after, weight in step.entries:
            transitions.add(before, step.action, after, sign * weight, step.reward, step.end)
