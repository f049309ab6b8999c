"""Steps and changes of structure, applied to a world model: all its parts and the values follow."""

from __future__ import annotations

from typing import NamedTuple

from tgm.distributions import FloatArray
from tgm.learners.change_log import ChangeLog
from tgm.memory.step import Step, relabel
from tgm.perception.component_map import ComponentMap, MoveKind
from tgm.perception.state_slots import LEAST_WEIGHT, NO_WEIGHT
from tgm.planning.model_planner import ModelPlanner
from tgm.structure.revision import Refusal, Revision
from tgm.structure.search import StructureSearch
from tgm.transition.planned_rows import Key
from tgm.transition.rows import NO_COUNT
from tgm.transition.sparse import START
from tgm.world_model import WorldModel


class _Tries(NamedTuple):
    """Tries of one transition, and what each of them brought."""

    before: int
    action: int
    after: int
    weight: float
    reward: float
    end: float


class WorldEditor:
    """Applies what the learner decides to the world model, the values and the search's list.

    Everything that it changes is in the log.
    """

    def __init__(
        self, world: WorldModel, planner: ModelPlanner, search: StructureSearch, log: ChangeLog
    ) -> None:
        """Edit `world`; planner and search follow."""
        self.world = world
        self._planner = planner
        self._search = search
        self._log = log

    def add_state(self, born: float) -> int:
        """The slot of a new state without points, born at a step."""
        state = self.world.add_state(born)
        self._planner.birth(state)
        self._search.birth(state)
        self._log.state(state)
        return state

    def learn_scale(self, first: FloatArray) -> None:
        """Empirical Bayes: the common covariance follows the scatter within states.

        `first` (n_features, n_features) is the first guess of it.
        """
        states, laws = self.world.states, self.world.displacements
        states.set_state_density(laws.log_state_density)
        states.learn_scale(first, laws.typical_step)
        self._log.scale()

    def fade(self, log_factor: float) -> None:
        """In a world that changes, count what was seen so far exp(log_factor) times."""
        self.world.transitions.fade(log_factor)
        self._planner.forget_certainty()
        self._log.row_keys(self.world.transitions.rows)

    def follow_change(self, state: int, action: int, gain: float) -> None:
        """An action does something else since now: its kept steps count for it no longer."""
        self._log.row_keys([(state, action)])
        self._log.move("change", (state,), f"action {action} does not do what it did", gain)
        self.world.memory.forget_row(state, action)

    def doubt_rows(self, *, but: Key) -> None:
        """Ask for one more try of every row but one."""
        self.world.transitions.doubt_all(but=but)
        self._planner.forget_certainty()

    def withdraw(self, step: Step) -> float:
        """Take back what a kept step added; returns the birth of the state that it was kept in.

        A state of which nothing is left is removed.
        """
        world, states = self.world, self.world.states
        assert step.kept_in is not None
        born = float(world.born[step.kept_in])
        self._log.step(step)
        world.count(step, -1.0)
        world.memory.take_out(step)
        for state, weight in step.after:
            states.take_back(state, step.arrival, weight)
            self.remove_if_empty(state)
        return born

    def remove_if_empty(self, state: int) -> None:
        """Remove a state that has no points and no rows."""
        states = self.world.states
        # What was added to a state that had nothing left, and taken back, leaves rounding.
        if not states.is_alive[state] or states.weight[state] > LEAST_WEIGHT + NO_WEIGHT:
            return
        if not self.world.transitions.has_rows(state):
            self.remove(state, "nothing is left of it")

    def remove(self, state: int, cause: str) -> None:
        """Remove a state, with what little it is named in."""
        self._log.move("removal", (state,), cause)
        self._remove(state, ComponentMap.of_removal(self.world.states.n_slots, state))

    def merge(self, revision: Revision) -> None:
        """Make the second state of a revision part of the first."""
        one, other = revision.states
        self._log.move("merge", revision.states, "one state explains both", revision.gain)
        moved = self.world.memory.into(other)
        self.world.states.set_moments(one, revision.moments[one])
        self._log.state(one)
        self._remove(other, revision.change)
        for step in moved:  # they were weighed now, and are assigned again when more is known
            step.weight_then = float(self.world.states.weight[one])
        self.world.transitions.retry_if_hardly_tried(revision.retries)
        self._search.touched.add(one)

    def split(self, revision: Revision) -> None:
        """Make the second state of a revision from a part of the first.

        Each kept step is taken back and counted again for the right half. What is left in between
        is only in the counts: a row that always does the same does not need it, see `_give_back`.
        """
        world, (state, child) = self.world, revision.states
        born = self.add_state(float(world.born[state]))
        assert born == child
        for relabelling in revision.relabellings:
            self._log.step(relabelling.step)
            world.count(relabelling.step, -1.0)
        folded = self._take_out(state)
        self._log.row_keys(world.transitions.apply(revision.change))
        self._planner.apply(revision.change)
        for relabelling in revision.relabellings:
            step = relabelling.step
            world.memory.relabel(step, relabelling.before, relabelling.after)
            world.count(step, +1.0)
            self._log.step(step)
        self._give_back(revision, folded)
        newest = world.newest
        if newest is not None and newest.kept_in is None and revision.halves is not None:
            newest.after = relabel(newest.after, {state: revision.halves(newest.arrival)})
        for half in revision.states:
            world.states.set_moments(half, revision.moments[half])
            self._log.state(half)
        self._log.move("split", revision.states, "two states explain it", revision.gain)

    def _take_out(self, state: int) -> list[_Tries]:
        """Take all counts from and into a state out of the rows, but of where episodes begin."""
        transitions, found = self.world.transitions, []
        out_of = {(state, action) for action in range(transitions.n_actions)}
        rows = out_of | transitions.predecessors[state]
        for key in sorted(key for key in rows if key[0] != START):
            row = transitions.row(*key)
            reached = list(row.items()) if key[0] == state else [(state, row[state])]
            for after, count in reached:
                visits = float(transitions.visits[key])
                if min(visits, count) <= NO_COUNT:
                    continue
                reward = float(transitions.reward_sum[key]) / visits
                end = min(1.0, transitions.ended.get(key, {}).get(after, 0.0) / count)
                found.append(_Tries(*key, after, count, reward, end))
                transitions.add(*key, after, -count, reward, end)
                self._log.row_keys([key])
        return found

    def _give_back(self, revision: Revision, folded: list[_Tries]) -> None:
        """Count what no kept step stands for again, in random rows: for the half that these show.

        From which half it is, or into which it led, is not known, and one kept step may be
        misread. A row that always does the same is as well known without: its kept steps are one
        for each place from which it was entered, at least.
        """
        transitions, (state, child) = self.world.transitions, revision.states
        share = dict(revision.change.changed.get(state, ())).get(child, 0.0)
        parts: list[_Tries] = []
        for tries in folded:
            before, action, after = tries[:3]
            if after != state:
                part = revision.part_from.get((action, after), share)
            else:  # what stays is shared out as the points are
                part = revision.part_into.get((before, action), share)
            for half, weight in ((state, 1.0 - part), (child, part)):
                names = {state: half}
                source, reached = names.get(before, before), names.get(after, after)
                if weight * tries.weight > NO_COUNT and transitions.is_random[source, action]:
                    parts.append(_Tries(source, action, reached, weight * tries.weight, *tries[4:]))
        for tries in parts:
            transitions.add(*tries)
            self._log.row_keys([tries[:2]])

    def refuse(self, kind: MoveKind, refusal: Refusal) -> None:
        """A change of structure was weighed and refused: that is logged too."""
        self._log.move(kind, refusal.states, refusal.cause, refusal.gain, accepted=False)

    def _remove(self, state: int, change: ComponentMap) -> None:
        """A state is gone: all parts follow the map."""
        self._log.state(state)
        self._log.row_keys(self.world.apply(change))
        self._planner.apply(change)
        self.world.states.remove(state)
