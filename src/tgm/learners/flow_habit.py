"""What is done by habit: the greedy plan as a table, while life is as good as can be."""

from __future__ import annotations

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.distributions.threads import one_thread
from tgm.errors import DataError
from tgm.learners.flow_forecast import Place
from tgm.planning.flow_planner import Plan
from tgm.planning.imagination import IMAGINED
from tgm.planning.policy_table import PolicyTable

DISTRUST = 3  # times as many good steps are wanted after each that was worse, lived or imagined
WIDTHS = (1.0, 0.5, 1.5)  # of slopes, in the finest spacings: the first that loses nothing is taken


class Habit:
    """Actions of a table that was made of the greedy plan.

    Attributes:
        table: None if there is none.
        width: of its slopes, a number of WIDTHS.
        wanted: steps for which life must have been as good as can be before the table acts.
    """

    def __init__(self) -> None:
        """No habit yet."""
        self.table: PolicyTable | None = None
        self.width, self.wanted = 0, IMAGINED
        self._acts = False  # whether the last action was its

    def form(self, plan: Plan, starts: FloatArray, least: float, lived_well: int) -> None:
        """Make the table of the greedy plan, if there is none and it loses nothing in imagination.

        Args:
            plan: the greedy one.
            starts: (n, n_features) observations from which episodes are imagined.
            least: a reward that is as good as the highest one.
            lived_well: steps for which life was as good as can be.
        """
        if self.table is None and lived_well >= self.wanted:
            with one_thread():
                for self.width, width in enumerate(WIDTHS):
                    table = PolicyTable.of(plan, width)
                    if table.loses_nothing(plan, starts, least):
                        self.table = table
                        return
            self.wanted *= DISTRUST

    def choose(self, place: Place, lived_well: int) -> int | None:
        """The action of the table; None if the plan is to be asked.

        Args:
            place: where the agent is, by the greedy plan.
            lived_well: steps for which life was as good as can be.
        """
        if self._acts and lived_well == 0:
            self.wanted *= DISTRUST
        self._acts = self.table is not None and lived_well >= self.wanted
        if self.table is None or not self._acts:
            return None
        return self.table.action(place.nearest, place.local[0])

    def to_numbers(self) -> IntArray:
        """(3,) whether there is a table, its width, and how many steps are wanted."""
        return np.array([self.table is not None, self.width, self.wanted])

    def restore(self, saved: IntArray, plan: Plan) -> None:
        """Take over what `to_numbers` gave, with the greedy plan."""
        is_formed, self.width, self.wanted = saved.tolist()
        if self.width >= len(WIDTHS):
            raise DataError(f"array 'habit' names width {self.width} of {len(WIDTHS)}")
        if is_formed:
            with one_thread():
                self.table = PolicyTable.of(plan, WIDTHS[self.width])
