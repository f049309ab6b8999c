"""The kept steps into each state, with what each of them added to the model."""

from __future__ import annotations

from collections import deque

import numpy as np

from tgm.errors import DataError
from tgm.files.arrays import ANY, ArrayReader, Arrays, prefixed
from tgm.memory import step_table
from tgm.memory.step import Shares, Step, Way
from tgm.perception.component_map import ComponentMap

NO_SLOT = -1  # the state before a step where none is believed in


class StepMemory:
    """Owner of the kept steps: at most `limit` for each state, whatever the length of the run."""

    def __init__(self, limit: int) -> None:
        """Remember nothing yet."""
        self._limit = limit
        self._steps: dict[int, deque[Step]] = {}
        # Which kept steps name a state. Dictionaries, because they keep their order.
        self._steps_by_state: dict[int, dict[Step, None]] = {}
        self._ways: dict[tuple[int, int, int | None], Way] = {}  # that kept steps show
        self._n_steps = 0
        self.n_evicted = 0  # steps that newer ones have replaced, since the counter was read

    def __len__(self) -> int:
        return self._n_steps

    def into(self, state: int) -> list[Step]:
        """The kept steps into one state, oldest first."""
        return list(self._steps.get(state, ()))

    def steps_naming(self, state: int) -> list[Step]:
        """The kept steps from or into a state, as far as is believed."""
        return list(self._steps_by_state.get(state, ()))

    def all(self) -> list[Step]:
        """All kept steps: state by state, oldest first."""
        return [step for steps in self._steps.values() for step in steps]

    def keep(self, step: Step, state: int) -> None:
        """Keep a step into a state; above the limit an old one is evicted, but stays counted."""
        steps, naming = self._steps.get(state), self._steps_by_state
        if steps is None:
            steps = self._steps[state] = deque()
        steps.append(step)
        way, entries = self._note(step, state), step.entries
        names: frozenset[int] | set[int] = way.states  # the usual case
        is_usual = len(step.before) == len(entries) == len(step.after) == 1
        if not is_usual or (entries[0][1], entries[0][0]) != way.key[:2]:
            names = _states_named(step)
        step.names = names
        for named in names:
            kept = naming.get(named)
            if kept is None:
                kept = naming[named] = {}
            kept[step] = None
        if len(steps) > self._limit:
            self._evict(steps)

    def _note(self, step: Step, home: int) -> Way:
        """A step is kept in its state; returns the way that it shows."""
        key = home, step.before[0][0] if step.before else NO_SLOT, step.action
        way = self._ways.get(key)
        if way is None:
            way = self._ways[key] = Way(key, frozenset(key[:2]))
        way.n_steps += 1
        step.kept_in, step.way = home, way
        self._n_steps += 1
        return way

    def _evict(self, steps: deque[Step]) -> None:
        """Drop the oldest step that is not the only one to show its way: that may be misread."""
        for oldest in steps:
            if oldest.way is not None and oldest.way.n_steps > 1:
                break
        else:
            oldest = steps[0]
        self.take_out(oldest)
        self.n_evicted += 1
        oldest.next = None  # so that a chain of kept steps does not keep all later ones alive

    def take_out(self, step: Step) -> None:
        """Remove a kept step; what it added stays in the counts."""
        way = step.way
        if step.kept_in is None or way is None:
            return
        self._steps[step.kept_in].remove(step)
        naming = self._steps_by_state
        for named in step.names:
            naming[named].pop(step, None)
        way.n_steps -= 1
        if not way.n_steps:
            del self._ways[way.key]
        step.kept_in = step.way = None
        self._n_steps -= 1

    def to_arrays(self, n_features: int) -> Arrays:
        """The kept steps, where each is kept, and in which order those that name a state stand."""
        steps = self.all()
        place = {id(step): index for index, step in enumerate(steps)}
        naming = [place[id(step)] for named in self._steps_by_state.values() for step in named]
        return {
            **prefixed("step", step_table.to_arrays(steps, n_features)),
            "home.state": np.array(list(self._steps), dtype=np.intp),
            "home.count": np.array([len(kept) for kept in self._steps.values()], dtype=np.intp),
            "naming.state": np.array(list(self._steps_by_state), dtype=np.intp),
            "naming.count": np.array(
                [len(named) for named in self._steps_by_state.values()], np.intp
            ),
            "naming.step": np.array(naming, dtype=np.intp),
            "n_evicted": np.array([self.n_evicted]),
        }

    def restore(self, saved: ArrayReader, n_features: int, n_actions: int, n_slots: int) -> None:
        """Take over what `to_arrays` gave; its states are slots below `n_slots`."""
        steps = step_table.from_arrays(saved.part("step"), n_features, n_actions, n_slots)
        homes = saved.whole("home.state", ANY, high=n_slots - 1).tolist()
        counts = saved.whole("home.count", len(homes), high=self._limit).tolist()
        named_states = saved.whole("naming.state", ANY, high=n_slots - 1).tolist()
        lengths = saved.whole("naming.count", len(named_states), high=len(steps)).tolist()
        order = saved.whole("naming.step", sum(lengths), high=len(steps) - 1).tolist()
        for name, states in (("home.state", homes), ("naming.state", named_states)):
            if len(set(states)) != len(states):
                raise DataError(f"array '{name}' holds a state twice")
        if sum(counts) != len(steps):
            raise DataError(f"{len(steps)} kept steps, but {sum(counts)} are said to be kept")
        kept, named = iter(steps), iter(order)
        for home, count in zip(homes, counts, strict=True):
            self._steps[home] = deque(next(kept) for _ in range(count))
            for step in self._steps[home]:
                self._note(step, home)
                if all(state != home for state, _ in step.after):
                    raise DataError("array 'home.state' keeps a step where it did not lead")
        for state, length in zip(named_states, lengths, strict=True):
            self._steps_by_state[state] = {steps[next(named)]: None for _ in range(length)}
            for step in self._steps_by_state[state]:
                step.names |= {state}
        if any(not _states_named(step) <= step.names for step in steps):
            raise DataError("array 'naming.step' does not fit the kept steps")
        self._n_steps = len(steps)
        self.n_evicted = saved.count("n_evicted")

    def apply(self, change: ComponentMap) -> None:
        """Follow a change of components; steps of merged states are kept together."""
        changed = change.changed
        concerned = {step: None for old in changed for step in self.steps_naming(old)}
        for step in concerned:
            self.relabel(step, changed, changed)

    def forget_row(self, state: int, action: int) -> None:
        """Kept steps no longer count for an action in a state that was forgotten."""
        for step in self.steps_naming(state):
            if step.action == action:
                step.entries = [entry for entry in step.entries if entry[0] != state]
                step.retracted = True

    def relabel(self, step: Step, before: Shares, after: Shares) -> None:
        """Relabel a kept step and keep it where it belongs now."""
        home = step.kept_in
        self.take_out(step)
        step.relabel(before, after)
        if step.after and home is not None:
            self.keep(step, step.after[0][0])


def _states_named(step: Step) -> set[int]:
    """The states that a step was in or led to, as far as is believed."""
    named = {state for state, _ in step.before}
    named.update([state for state, _ in step.after])
    for state, reached, _ in step.entries:
        named.add(state)
        named.add(reached)
    return named
