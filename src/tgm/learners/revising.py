"""Second looks: kept steps that fit badly are assigned again, states are merged or split."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tgm.config import TGMConfig
from tgm.distributions.small import squared_radius
from tgm.errors import DataError
from tgm.files.arrays import ANY, ArrayReader, Arrays
from tgm.inference.outlier_evidence import OutlierEvidence, row_of
from tgm.learners.world_editor import WorldEditor
from tgm.memory.step import Step, difference
from tgm.structure.revision import Revision
from tgm.structure.search import StructureSearch
from tgm.transition.planned_rows import Key
from tgm.transition.rows import LEAST_OUTCOME_COUNT, NO_ROW
from tgm.world_model import WorldModel

REASSIGN = 0.1  # a change of belief after which the next kept step is assigned again as well
REASSIGN_DISTANCE = 2.35  # deviations, in the plane, from its state at which a kept step is
REASSIGN_GROWTH = 1.4  # times the points that its state had when it was assigned
DOUBTFUL = 7.0  # points; with fewer, all that was seen of a state may have been outliers
LOOK_GROWTH = 1.2  # times the tries of these rows at the last look, until the next one
LEAST_LEFT = 2.0  # points of a state from which a step is taken out: it must not vanish
REASSIGN_POINTS = 3.0  # points of a state whose steps are


class Reviser:
    """Looks at the states that have grown: at their kept steps, neighbours and width."""

    def __init__(
        self,
        search: StructureSearch,
        edit: WorldEditor,
        assign_again: Callable[[Step, float], None],
        outliers: OutlierEvidence,
        config: TGMConfig,
        most_states: int,
    ) -> None:
        """Revise the world of `search` and `edit`.

        Args:
            search: says what is worth changing.
            edit: changes it.
            assign_again: assigns a step that was taken back, whose state was born at a step.
            outliers: weighs whether all that was seen of a state were outliers.
            config: whether steps are assigned again, and states merged and split.
            most_states: no state is split when there are so many.
        """
        self._search = search
        self._edit = edit
        self._world = edit.world
        self._assign_again = assign_again
        self._outliers = outliers
        self._config = config
        self._most_states = most_states
        self._doubted: dict[int, float] = {}  # state: tries of the rows into it at the last look
        # States of few points that are none, as long as these rows are not tried again.
        self._are_none: set[int] = set()

    def revise(self, n_steps: int) -> None:
        """Make the changes of structure that raise the evidence."""
        if self._config.reassign_steps:
            self._dissolve_outliers()
        self._revise_structure(n_steps)
        # Only now: a slot that is free from here on may become another state's.
        for state in [s for s in self._doubted if not _is_doubtful(self._world, s)]:
            del self._doubted[state]

    def _revise_structure(self, n_steps: int) -> None:
        """Assign far steps of the states that have grown again, and merge or split these."""
        states, search = self._world.states, self._search
        due = search.due()
        if due and self._config.reassign_steps:
            self._reassign_far_steps(due)
        if not due or not self._config.moves:
            return
        states.set_state_density(self._world.displacements.log_state_density)
        # Reassigning may have touched others, or left nothing of these.
        due = sorted(state for state in search.touched.union(due) if states.is_alive[state])
        search.touched.clear()
        for one, other in search.neighbours(due):
            if states.is_alive[one] and states.is_alive[other]:
                merge = search.merge(one, other, n_steps)
                if isinstance(merge, Revision):
                    self._edit.merge(merge)
                else:
                    self._edit.refuse("merge", merge)
        for state in due:
            if states.is_alive[state] and states.n_alive < self._most_states:
                split = search.split(state, n_steps)
                if isinstance(split, Revision):
                    self._edit.split(split)
                    search.discount(split, n_steps)
                    self._reassign_halves(split)
                elif split is not None:
                    self._edit.refuse("split", split)

    def _reassign_far_steps(self, due: list[int]) -> None:
        """Steps that came when a state was young and lie far from it now are assigned again."""
        states = self._world.states
        # Later most of the kept steps are new ones, which were assigned when much was known.
        latest = 2 * self._config.kept_per_state
        far_away = squared_radius(states.n_features, REASSIGN_DISTANCE)
        for state in due:
            weight = float(states.weight[state])
            if not states.is_alive[state] or not REASSIGN_POINTS <= weight <= latest:
                continue
            steps = self._world.memory.into(state)
            early = [step for step in steps if weight > REASSIGN_GROWTH * step.weight_then]
            squares = states.squared_distances([step.arrival for step in early], state)
            for step, square in zip(early, squares, strict=True):
                is_far = square > far_away and step.kept_in == state
                if is_far and states.weight.item(state) >= LEAST_LEFT:
                    self._reassign(step)

    def _reassign_halves(self, split: Revision) -> None:
        """Kept steps of a state that was split were shared out by where they were seen.

        Now there are rows that say more of it, if rows say what is expected: they are assigned
        again.
        """
        states, config = self._world.states, self._config
        if not (config.reassign_steps and config.filtering):
            return
        for step in [relabelling.step for relabelling in split.relabellings]:
            if step.kept_in is not None and states.weight[step.kept_in] >= LEAST_LEFT:
                self._reassign(step)

    def _dissolve_outliers(self) -> None:
        """States that were rarely seen are dissolved if all that was seen were outliers.

        The more often the rows into a state lead elsewhere, the less likely it is one, and the
        more its points are outliers. Until then it keeps its name.
        """
        states, transitions = self._world.states, self._world.transitions
        if not self._outliers.are_possible:
            return
        known, self._are_none = self._are_none, set()
        for state in states.alive[states.weight[states.alive] < DOUBTFUL].tolist():
            if transitions.counted:
                changed = self._with_other_tries()
                known -= changed
                self._are_none -= changed
            if state in known:
                self._are_none.add(state)
                continue
            steps = self._world.memory.into(state)
            if not steps:
                self._edit.remove_if_empty(state)
            elif self._is_worth_a_look(state, steps) and self._outliers.log_odds(state, steps) > 0:
                self._dissolve(state, steps)

    def _with_other_tries(self) -> set[int]:
        """The states to which rows lead that were tried, or have changed, since the last call.

        They are few, while in a large world many states have few points.
        """
        transitions = self._world.transitions
        counted, rows = transitions.counted, transitions.rows
        found = {state for key in counted for state in rows.get(key, NO_ROW)}
        counted.clear()
        return found

    def _is_worth_a_look(self, state: int, steps: list[Step]) -> bool:
        """Whether rows into a state have led elsewhere, more often than at the last look."""
        world = self._world
        # Counts without kept steps cannot be taken back.
        if world.states.weight.item(state) > len(steps) + LEAST_OUTCOME_COUNT:
            return False
        if any(step.action is not None and not step.before for step in steps):
            return False
        counts = world.transitions.rows
        rows: set[Key] = {row_of(step) for step in steps}
        tries = sum([sum(counts.get(row, NO_ROW).values()) for row in rows])
        doubted_at = self._doubted.get(state, 0.0)
        if tries <= len(steps) + LEAST_OUTCOME_COUNT or tries <= LOOK_GROWTH * doubted_at:
            self._are_none.add(state)
            return False
        # The newest step is judged with the next.
        if world.newest in steps or self._outliers.goes_on(steps):
            return False
        self._doubted[state] = tries
        return True

    def _dissolve(self, state: int, steps: list[Step]) -> None:
        """All steps into a state were outliers: it is removed, and what followed assigned again."""
        world = self._world
        self._outliers.unlearn_ways(steps)
        for step in steps:
            self._edit.withdraw(step)
        followers = [(step, step.kept_next) for step in steps]  # only now: all of them are out
        born = [0.0 if next_ is None else self._edit.withdraw(next_) for _, next_ in followers]
        if world.states.is_alive[state]:
            self._edit.remove(state, "all that was seen of it were outliers")
        for step in steps:
            if step.end:  # how an episode ended is known, whatever was seen of where
                self._assign_again(step, 0.0)
            else:
                self._outliers.leave_out(step)
        for (step, follower), born_next in zip(followers, born, strict=True):
            self._reassign_followers(step, follower, born_next)

    def _reassign(self, step: Step) -> None:
        """Take a kept step back and assign it again, without itself, and those that followed.

        The next one always; then on, as long as the belief about where a step led has changed.
        """
        home = step.kept_in
        born = self._edit.withdraw(step)
        follower = step.kept_next  # only now: its state may be gone
        born_next = 0.0 if follower is None else self._edit.withdraw(follower)
        if home is not None:
            self._edit.remove_if_empty(home)
        self._assign_again(step, born)
        self._reassign_followers(step, follower, born_next)

    def _reassign_followers(self, step: Step, follower: Step | None, born_next: float) -> None:
        """Assign the step that followed again, which was taken back, and so on."""
        while follower is not None:
            follower.before = step.after
            self._assign_again(follower, born_next)
            step, follower = follower, follower.kept_next
            if follower is not None:
                if difference(step.after, follower.before) < REASSIGN:
                    break
                born_next = self._edit.withdraw(follower)

    # --- files ------------------------------------------------------------------------------------

    def to_arrays(self) -> Arrays:
        """The states that were looked at whether they are outliers, and when."""
        looked = sorted(self._doubted.items())
        return {
            "doubted.state": np.array([state for state, _ in looked], dtype=np.intp),
            "doubted.tries": np.array([tries for _, tries in looked], dtype=np.float64),
        }

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave, checked; the world is there already."""
        slots = saved.whole("doubted.state", ANY, high=self._world.states.n_slots - 1).tolist()
        tries = saved.floats("doubted.tries", len(slots), low=0.0).tolist()
        if slots != sorted(set(slots)):
            raise DataError("array 'doubted.state' holds a state twice, or out of order")
        if not self._world.states.is_alive[slots].all():
            raise DataError("array 'doubted.state' names a state that is not there")
        self._doubted = dict(zip(slots, tries, strict=True))


def _is_doubtful(world: WorldModel, state: int) -> bool:
    return bool(world.states.is_alive[state]) and float(world.states.weight[state]) < DOUBTFUL
