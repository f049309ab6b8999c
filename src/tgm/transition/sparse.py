"""What each action does in each state: successors, reward and end, stored sparse."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from tgm.perception.component_map import ComponentMap
from tgm.transition.chance import WORLD_OF_CHANCE, gain_of_change
from tgm.transition.noisy_rows import SUMS
from tgm.transition.planned_rows import PLANNED, Key, share_rows
from tgm.transition.rows import CHANGED, NO_COUNT, NO_ROW, Row
from tgm.transition.weighed_rows import ENDED, START, WeighedRows

__all__ = ["ENDED", "START", "START_ACTION", "SUMS", "SparseTransitions"]

START_ACTION = 0  # the action of that state's row

RETRY_BELOW = 1.5  # tries; a row with fewer is worth one more after a doubtful merge
SURE_VISITS = 3.0  # tries after which a row can surprise
SURE_STEP = 0.9  # belief in a step from which a change may be read
MOST_LIKELY = 0.5  # belief in a step above which it is a try of its row
LEAST_RUN = 2  # unusual outcomes in a row that may show a change; one may have been misread
LONGEST_RUN = 50  # unusual outcomes in a row that are remembered


class SparseTransitions(WeighedRows):
    """Owner of the counts of (state, action, next state), of rewards and of terminations.

    States are slots of the observation model. Rows are dictionaries: a thousand states would fill a
    dense tensor with zeros. `WeighedRows` says what each of them is.
    """

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
            None, or the nats by which a change explains the row better than chance or misreading,
            if they are enough; then the row was forgotten before the step was counted.
        """
        key, change, outcome = (state, action), None, ENDED if end else after
        if not end and weight >= SURE_STEP and self._repeats(key, after, weight, reward):
            return None
        if may_surprise and weight >= SURE_STEP:
            gain = self.surprise(state, action, outcome)
            if gain is not None and gain > self._cost_of_forgetting(key):
                self.forget_row(state, action)
                change = gain
        if weight > MOST_LIKELY and self.retries:
            self.retries.discard(key)
        if weight >= SURE_STEP and self.last_reward.get(key, NO_ROW).get(outcome) != reward:
            self._note_reward(key, outcome, reward)
        self.add(state, action, after, weight, reward, end)
        if change is not None and self.share_random >= WORLD_OF_CHANCE:
            self.retry([key])  # one try says little of a row that may be random
        return change

    def _repeats(self, key: Key, after: int, weight: float, reward: float) -> bool:
        """Count a step that did what its row has always done, and what is planned with.

        The usual case: only the tries change. False if it is another one; then nothing was counted.
        """
        row = self.rows.get(key)
        if row is None or after not in row or key in self.ended:
            return False
        if self.last_reward.get(key, NO_ROW).get(after) != reward:
            return False
        visits, brought = self.visits.item(key) + weight, weight * reward
        total = self.reward_sum.item(key) + brought
        if not self._does_the_same(key, row, visits, total):
            return False
        row[after] = self.certainty[key] = row[after] + weight
        self.visits[key], self.reward_sum[key] = visits, total
        self.reward_square[key] = self.reward_square.item(key) + brought * reward
        self.touched.add(key)
        self.unweighed.add(key)
        self.counted.add(key)
        return True

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
        self.counted.add(key)
        row = self.rows.get(key)
        if row is None:
            row = self.rows[key] = {}
        count = row.get(after, 0.0) + weight
        if count > NO_COUNT:
            if after not in row:
                self.predecessors[after].add(key)
            row[after] = count
        else:
            row.pop(after, None)
            self.predecessors[after].discard(key)
        if state == START:
            return
        if end:
            self.end_sum[key] += weight * end
            self.end_reward[key] += weight * end * reward
            ended = self.ended.setdefault(key, {})
            ended[after] = ended.get(after, 0.0) + weight * end
            if ended[after] <= NO_COUNT:
                del ended[after]
                if not ended:
                    del self.ended[key]
        visits = self.visits[key] = self.visits.item(key) + weight
        brought = weight * reward
        total = self.reward_sum[key] = self.reward_sum.item(key) + brought
        self.reward_square[key] = self.reward_square.item(key) + brought * reward
        if self._does_the_same(key, row, visits, total):
            (self.certainty[key],) = row.values()
            self.touched.add(key)
            self.unweighed.add(key)
        else:
            self._refresh(key)

    def _does_the_same(self, key: Key, row: Row, visits: float, reward_sum: float) -> bool:
        """Whether a row does what is planned with, as always: then only its tries have changed."""
        if len(row) != 1 or key in self.runs or key in self.retries or visits <= NO_COUNT:
            return False
        if self.share_random >= WORLD_OF_CHANCE:
            return False
        planned = self.planned.get(key)
        if planned is None or len(planned) != 1 or planned[0] != (next(iter(row)), 1.0):
            return False
        if key in self.ended:
            # Where rewards are random, another one moves what is expected of the row.
            is_end = self.ended[key] == row and self.end.item(key) == 1.0
            if not is_end or self.noise is not None:
                return False
        reward, before = reward_sum / visits, self.reward.item(key)
        # Equal in most worlds, where the rest need not be computed.
        return reward == before or abs(reward - before) <= CHANGED * max(abs(reward), abs(before))

    def row(self, state: int, action: int) -> Row:
        """The counts of one row; empty if it was never tried."""
        return self.rows.get((state, action), {})

    def has_rows(self, state: int) -> bool:
        """Whether any row leads from or to a state."""
        actions = range(self.n_actions)
        return bool(self.predecessors[state]) or any(self.row(state, a) for a in actions)

    def surprise(self, state: int, action: int, outcome: int) -> float | None:
        """Compare a sure step, before it is counted, with the usual outcome of its row.

        `outcome` is where it led, or ENDED.

        Returns:
            None if it is as expected or if nothing was expected; otherwise the nats by which a
            change explains the tries since the usual outcome was seen last.
        """
        key = state, action
        if self.visits.item(key) < SURE_VISITS:
            return None
        row = self.rows[key]
        if len(row) == 1 and key not in self.runs:
            if key not in self.ended:
                is_usual = outcome in row
            else:
                is_usual = outcome == ENDED and self.ended[key] == row
            if is_usual:
                return None
        counts = self._outcome_counts(key)
        run = self.runs.get(key, [])
        for seen in run:
            counts[seen] = counts.get(seen, 0.0) - 1.0
        usual = max(counts, key=counts.__getitem__)
        if outcome == usual:
            self.runs.pop(key, None)
            return None
        run = self.runs[key] = [*run, outcome][-LONGEST_RUN:]
        if len(run) < LEAST_RUN:
            return -math.inf
        return gain_of_change(counts, run, self._places, self.share_random)

    def _cost_of_forgetting(self, key: Key) -> float:
        """Nats that a change must win: ln of the tries after which the row would be known again.

        That is one where there is no chance. A random row needs as many as it had, and so may any
        row of a world of chance; to wait for one more surprise costs one try.
        """
        is_chance = self.is_random[key] or self.share_random >= WORLD_OF_CHANCE
        return math.log(max(float(self.visits[key]), 1.0)) if is_chance else 0.0

    def forget_row(self, state: int, action: int) -> None:
        """Forget all about one action in one state."""
        key = state, action
        self.runs.pop(key, None)
        self.ended.pop(key, None)
        self.last_reward.pop(key, None)
        for after in self.rows.pop(key, {}):
            self.predecessors[after].discard(key)
        for name in SUMS:
            getattr(self, name)[key] = 0.0
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
        """Ask for one more try of all rows but one, and but random ones; what is known stays known.

        One try of a random row does not say whether it has changed.
        """
        self.certainty[~self.is_random] = 0.0
        if but is not None:
            self._refresh(but)

    def fade(self, log_factor: float) -> None:
        """Count everything seen so far exp(log_factor) times: for worlds that change."""
        self.log_fade += log_factor
        factor = math.exp(log_factor)
        for row in (*self.rows.values(), *self.ended.values()):
            for after in row:
                row[after] *= factor
        for name in (*SUMS, "certainty"):
            values = getattr(self, name)
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
        ended = {key: self.ended.pop(key) for key in rows if key in self.ended}
        for key, row in rows.items():
            self.runs.pop(key, None)
            self.last_reward.pop(key, None)
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
        touched = concerned | share_rows(rows, changed, self.rows)
        self.counted |= touched
        for key in touched:
            for after in self.rows.get(key, {}):
                self.predecessors[after].add(key)
        share_rows(ended, changed, self.ended)
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

    def _share_sums(self, changed: dict[int, list[tuple[int, float]]]) -> None:
        """Visits, rewards and ends go with their states."""
        for values in [getattr(self, name) for name in SUMS]:
            taken = {old: values[old].copy() for old in changed}
            for old in changed:
                values[old] = 0.0
            for old, links in changed.items():
                for new, share in links:
                    values[new] += share * taken[old]
