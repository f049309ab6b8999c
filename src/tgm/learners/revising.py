"""Second looks: kept steps that fit badly are assigned again, states are merged or split."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tgm.config import TGMConfig
from tgm.distributions import FloatArray
from tgm.distributions.small import squared_radius
from tgm.errors import DataError
from tgm.files.arrays import ANY, ArrayReader, Arrays
from tgm.learners.world_editor import WorldEditor
from tgm.memory.step import Step, difference
from tgm.structure.revision import Revision
from tgm.structure.search import StructureSearch
from tgm.transition.planned_rows import Key
from tgm.transition.sparse import START, START_ACTION
from tgm.world_model import WorldModel

REASSIGN = 0.1  # a change of belief after which the next kept step is assigned again as well
REASSIGN_DISTANCE = 2.35  # deviations, in the plane, from its state at which a kept step is
REASSIGN_GROWTH = 1.4  # times the points that its state had when it was assigned
SINGLE = 1.5  # points of a state that was seen once, and tries of the row that led there
LOOK_GROWTH = 1.2  # times the tries of that row at the last look, until the next one
REASSIGN_POINTS = 3.0  # points of a state whose steps are


class Reviser:
    """Looks at the states that have grown: at their kept steps, neighbours and width."""

    def __init__(
        self,
        search: StructureSearch,
        edit: WorldEditor,
        assign_again: Callable[[Step, float], None],
        log_odds_of_outlier: Callable[[FloatArray, Key, float], float],
        config: TGMConfig,
        most_states: int,
    ) -> None:
        """Revise the world of `search` and `edit`.

        Args:
            search: says what is worth changing.
            edit: changes it.
            assign_again: assigns a step that was taken back, whose state was born at a step.
            log_odds_of_outlier: of a point against a new state, by its row and the tries of that.
            config: whether steps are assigned again, and states merged and split.
            most_states: no state is split when there are so many.
        """
        self._search = search
        self._edit = edit
        self._world = edit.world
        self._assign_again = assign_again
        self._log_odds_of_outlier = log_odds_of_outlier
        self._config = config
        self._most_states = most_states
        self._single: dict[int, float] = {}  # states seen once: tries of their row at the last look

    def revise(self, n_steps: int) -> None:
        """Do what the evidence asks for, after so many steps."""
        if self._config.reassign_steps:
            self._reassign_single_steps()
        self._revise_structure(n_steps)
        # Only now: a slot that is free from here on may become another state's.
        for state in [s for s in self._single if not _is_single(self._world, s)]:
            del self._single[state]

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
            far = [
                step
                for step in self._world.memory.into(state)
                if weight > REASSIGN_GROWTH * step.weight_then
                and states.squared_distance(step.arrival, state) > far_away
            ]
            for step in far:
                if step.kept_in == state and states.weight[state] >= 2:
                    self._reassign(step)

    def _reassign_single_steps(self) -> None:
        """The only step into a state is assigned again when its row has done something else since.

        A state that was seen once may have been an outlier: the more often its row leads elsewhere,
        the less likely is a new state, and the more an outlier. Until then it keeps its name.
        """
        world = self._world
        for state in world.states.alive[world.states.weight[world.states.alive] < SINGLE].tolist():
            steps = world.memory.into(state)
            if not steps:
                self._edit.remove_if_empty(state)
            if len(steps) != 1 or (steps[0].action is not None and not steps[0].before):
                continue
            row = START, START_ACTION
            if steps[0].action is not None:
                row = steps[0].before[0][0], steps[0].action
            tries = sum(world.transitions.row(*row).values())
            if tries > SINGLE and tries > LOOK_GROWTH * self._single.get(state, 1.0):
                self._single[state] = tries
                if self._log_odds_of_outlier(steps[0].arrival, row, tries) > 0.0:
                    self._reassign(steps[0])

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
        """The states seen once whose step was assigned again, and when."""
        looked = sorted(self._single.items())
        return {
            "single.state": np.array([state for state, _ in looked], dtype=np.intp),
            "single.tries": np.array([tries for _, tries in looked], dtype=np.float64),
        }

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave, checked; the world is there already."""
        slots = saved.whole("single.state", ANY, high=self._world.states.n_slots - 1).tolist()
        tries = saved.floats("single.tries", len(slots), low=0.0).tolist()
        if slots != sorted(set(slots)):
            raise DataError("array 'single.state' holds a state twice, or out of order")
        if not self._world.states.is_alive[slots].all():
            raise DataError("array 'single.state' names a state that is not there")
        self._single = dict(zip(slots, tries, strict=True))


def _is_single(world: WorldModel, state: int) -> bool:
    return bool(world.states.is_alive[state]) and float(world.states.weight[state]) < SINGLE
