"""What each action does in each state: successors, reward and end, stored sparse."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable

import numpy as np

from tgm.perception.component_map import ComponentMap
from tgm.transition.rows import CHANGED, Outcomes, Row, certainty, differ, outcomes

START = -1  # the state before an episode's first one
START_ACTION = 0  # the action of that state's row

RETRY_BELOW = 1.5  # tries; a row with fewer is worth one more after a doubtful merge
SURE_VISITS = 3.0  # tries after which a row can surprise
SURE_STEP = 0.9  # belief in a step from which a change of the world may be read
MOST_LIKELY = 0.5  # belief in a step above which it is a try of its row
CHANGE_CHANCE = 0.005  # chance of so many failures in a row below which a row has changed
CERTAIN_END = 0.5  # an action that ends the episode more often than not leads nowhere else
NO_COUNT = 1e-9  # tries; what rounding leaves of none

SUMS = ("visits", "reward_sum", "end_sum")
PLANNED = ("successor", "probability", "discounted", "reward", "end", "certainty")

Key = tuple[int, int]
"""State and action: the name of a row."""


class SparseTransitions:
    """Owner of the counts of (state, action, next state), of rewards and of terminations.

    States are slots of the observation model. Rows are dictionaries: a thousand states would fill a
    dense tensor with zeros. Beside them stand arrays of fixed width for the planner,
    (n_slots, n_actions) and (n_slots, n_actions, width), updated row by row. `touched` holds the
    rows that were counted since the planner looked, `changed` the states whose numbers moved.

    Certainty is what a row is worth as knowledge (`rows.certainty`). A row that has surprised, or
    that waits for a retry, has none.
    """

    def __init__(self, n_actions: int, gamma: float) -> None:
        """Know of no state."""
        self.n_actions = n_actions
        self.gamma = gamma
        self.rows: dict[Key, Row] = {}
        self.predecessors: list[set[Key]] = []  # the rows that lead to each state
        self.visits = np.zeros((0, n_actions))
        self.reward_sum = np.zeros((0, n_actions))
        self.end_sum = np.zeros((0, n_actions))
        self.successor = np.zeros((0, n_actions, 2), dtype=np.intp)
        self.probability = np.zeros((0, n_actions, 2))
        self.discounted = np.zeros((0, n_actions, 2))  # gamma P(goes on) P(successor)
        self.reward = np.zeros((0, n_actions))
        self.end = np.zeros((0, n_actions))
        self.certainty = np.zeros((0, n_actions))
        self.log_fade = 0.0  # ln of the factor by which the first step has faded
        self.changed: set[int] = set()
        self.touched: set[Key] = set()
        self.planned: dict[Key, Outcomes] = {}  # what the planner's arrays hold
        self.retries: set[Key] = set()  # rows that wait for one more try
        self.surprises: dict[Key, int] = {}  # rows that failed, how often in a row
        self.version = 0  # counts the changes that are worth planning with again

    def make_room(self, n_slots: int) -> None:
        """Have arrays for at least so many states."""
        missing = n_slots - len(self.visits)
        if missing <= 0:
            return
        missing = max(missing, len(self.visits))
        for name in (*SUMS, *PLANNED):
            values = getattr(self, name)
            more = np.zeros((missing, *values.shape[1:]), dtype=values.dtype)
            setattr(self, name, np.concatenate([values, more]))
        self.predecessors.extend(set() for _ in range(missing))

    # --- counting -------------------------------------------------------------------------------

    def observe(
        self,
        state: int,
        action: int,
        after: int,
        weight: float,
        reward: float,
        end: float,
        *,
        may_surprise: bool = True,
    ) -> float | None:
        """Count a new step; a sure one that shows that its row has changed replaces the row.

        Args:
            state, action, after, weight, reward, end: see `add`.
            may_surprise: whether this is all that the step may have been.

        Returns:
            None, or the probability that an unchanged row fails as often as this one did, if it is
            so small that the row was forgotten before the step was counted.
        """
        key, change = (state, action), None
        if may_surprise and weight >= SURE_STEP:
            chance = self.surprise(state, action, after)
            if chance is not None and chance <= CHANGE_CHANCE:
                self.forget_row(state, action)
                change = chance
        if weight > MOST_LIKELY and self.retries:
            self.retries.discard(key)
        self.add(state, action, after, weight, reward, end)
        return change

    def add(
        self, state: int, action: int, after: int, weight: float, reward: float, end: float
    ) -> None:
        """Count a step (or, with negative weight, take it back).

        Args:
            state, action, after: where it began (START before an episode), what was done, where
                it led.
            weight: the belief that it was this step.
            reward: the reward of the step.
            end: 1 if the episode terminated, 0 if not; a time limit is not an end.
        """
        key = state, action
        row = self.rows.setdefault(key, {})
        count = row.get(after, 0.0) + weight
        if count > NO_COUNT:
            row[after] = count
            self.predecessors[after].add(key)
        else:
            row.pop(after, None)
            self.predecessors[after].discard(key)
        if state == START:
            return
        self.visits[key] += weight
        self.reward_sum[key] += weight * reward
        self.end_sum[key] += weight * end
        self._refresh(key)

    def row(self, state: int, action: int) -> Row:
        """The counts of one row; empty if it was never tried."""
        return self.rows.get((state, action), {})

    def has_rows(self, state: int) -> bool:
        """Whether any row leads from or to a state."""
        actions = range(self.n_actions)
        return bool(self.predecessors[state]) or any(self.row(state, a) for a in actions)

    def surprise(self, state: int, action: int, after: int) -> float | None:
        """Compare a sure step, before it is counted, with the usual outcome of its row.

        Returns:
            None if it is as expected or if nothing was expected; otherwise the probability that
            an unchanged row fails so many times in a row.
        """
        key = state, action
        row, visits = self.rows.get(key), float(self.visits[key])
        if not row or visits < SURE_VISITS:
            return None
        usual = max(row, key=row.__getitem__)
        if after == usual:
            self.surprises.pop(key, None)
            return None
        times = self.surprises[key] = self.surprises.get(key, 0) + 1
        # Krichevsky and Trofimov's estimate of how often the row fails.
        failure = (visits - row[usual] + 0.25) / (visits + 0.5)
        return max(float(failure**times), sys.float_info.min)

    def forget_row(self, state: int, action: int) -> None:
        """Forget all about one action in one state."""
        key = state, action
        self.surprises.pop(key, None)
        for after in self.rows.pop(key, {}):
            self.predecessors[after].discard(key)
        for values in (self.visits, self.reward_sum, self.end_sum):
            values[key] = 0.0
        self._refresh(key)

    # --- doubts -----------------------------------------------------------------------------------

    def retry_if_hardly_tried(self, rows: Iterable[Key]) -> None:
        """Ask for one more try of the rows that were tried at most once."""
        self.retry(key for key in rows if key[0] != START and self.visits[key] < RETRY_BELOW)

    def retry(self, rows: Iterable[Key]) -> None:
        """Ask for one more try of some rows; what is known of them stays known."""
        for key in sorted(rows):
            self.retries.add(key)
            self._refresh(key)

    def doubt_all(self, *, but: Key | None = None) -> None:
        """Ask for one more try of everything but one row; what is known stays known."""
        self.certainty[:] = 0.0
        if but is not None:
            self._refresh(but)

    def fade(self, log_factor: float) -> None:
        """Count everything seen so far exp(log_factor) times: for worlds that change."""
        self.log_fade += log_factor
        factor = math.exp(log_factor)
        for row in self.rows.values():
            for after in row:
                row[after] *= factor
        for values in (self.visits, self.reward_sum, self.end_sum, self.certainty):
            values *= factor

    # --- changes of structure ---------------------------------------------------------------------

    def apply(self, change: ComponentMap) -> set[Key]:
        """Follow a change of states (slots), at a cost that depends on what it concerns.

        Returns:
            the rows of states that are different now.
        """
        self.make_room(change.n_new)
        changed = change.changed
        concerned = self.rows_concerning(changed)
        rows = {key: self.rows.pop(key) for key in sorted(concerned) if key in self.rows}
        for key, row in rows.items():
            self.surprises.pop(key, None)
            for after in row:
                self.predecessors[after].discard(key)
        self._share_sums(changed)
        waiting = self.retries & concerned
        self.retries -= waiting
        self.retries.update(
            (new, action)
            for state, action in waiting
            for new, _ in changed.get(state, [(state, 1.0)])
        )
        touched = concerned | self._share_rows(rows, changed)
        touched = {key for key in touched if key[0] != START}
        for key in sorted(touched):
            self._refresh(key)
        return touched

    def rows_concerning(self, states: Iterable[int]) -> set[Key]:
        """The rows from or to some states."""
        return {
            key
            for state in states
            for key in (
                *self.predecessors[state],
                *((state, action) for action in range(self.n_actions)),
            )
        }

    def _share_rows(
        self, rows: dict[Key, Row], changed: dict[int, list[tuple[int, float]]]
    ) -> set[Key]:
        """Counts go with their states; returns the rows that got some."""
        touched = set()
        for (state, action), row in rows.items():
            for new_state, share in changed.get(state, [(state, 1.0)]):
                key = new_state, action
                new_row = self.rows.setdefault(key, {})
                touched.add(key)
                for after, count in row.items():
                    for new_after, part in changed.get(after, [(after, 1.0)]):
                        new_row[new_after] = new_row.get(new_after, 0.0) + count * share * part
                        self.predecessors[new_after].add(key)
        return touched

    def _share_sums(self, changed: dict[int, list[tuple[int, float]]]) -> None:
        """Visits, rewards and ends go with their states."""
        for values in (self.visits, self.reward_sum, self.end_sum):
            taken = {old: values[old].copy() for old in changed}
            for old in changed:
                values[old] = 0.0
            for old, links in changed.items():
                for new, share in links:
                    values[new] += share * taken[old]

    # --- the planner's arrays ---------------------------------------------------------------------

    def _refresh(self, key: Key) -> None:
        """Bring the planner's arrays up to date with one row."""
        self.touched.add(key)
        visits, row = float(self.visits[key]), self.rows.get(key)
        if visits <= NO_COUNT or not row:
            self._clear(key)
            return
        end = min(1.0, float(self.end_sum[key]) / visits)
        reward = float(self.reward_sum[key]) / visits
        if len(row) == 1:  # the usual case: one successor
            ((after, sure),) = row.items()
            items = [(after, 1.0)]
        else:
            sure, items = certainty(row, visits), outcomes(row, visits)
        if key in self.surprises or key in self.retries:
            sure = 0.0
        elif end > CERTAIN_END:
            sure = visits
        self.certainty[key] = sure
        before, planned = float(self.reward[key]), self.planned.get(key, [])
        if (
            (items != planned and differ(items, planned))
            or abs(reward - before) > CHANGED * max(abs(reward), abs(before))
            or abs(end - float(self.end[key])) >= CHANGED
        ):
            self.reward[key] = reward
            self.end[key] = end
            self._write(key, items)

    def _clear(self, key: Key) -> None:
        """Nothing is known of a row (any more)."""
        self.certainty[key] = 0.0
        self.planned.pop(key, None)
        self.successor[key] = 0
        self.probability[key] = self.discounted[key] = 0.0
        self.changed.add(key[0])
        self.version += 1

    def _write(self, key: Key, items: Outcomes) -> None:
        if len(items) > self.successor.shape[2]:
            self._widen(len(items))
        successor, probability = self.successor[key], self.probability[key]
        successor[:] = items[0][0]
        probability[:] = 0.0
        for index, (after, share) in enumerate(items):
            successor[index], probability[index] = after, share
        self.discounted[key] = probability * (self.gamma * (1.0 - self.end[key]))
        self.planned[key] = items
        self.changed.add(key[0])
        self.version += 1

    def _widen(self, width: int) -> None:
        """Have columns for rows with more successors."""
        now = self.successor.shape[2]
        extra = ((0, 0), (0, 0), (0, max(width, 2 * now) - now))
        self.successor = np.pad(self.successor, extra)
        self.probability = np.pad(self.probability, extra)
        self.discounted = np.pad(self.discounted, extra)
