"""What each action does in each state: successors, reward and end, stored sparse."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterable

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.errors import DataError
from tgm.files.arrays import ANY, LARGEST_SUM, ArrayReader, Arrays
from tgm.perception.component_map import ComponentMap

START = -1  # the state before an episode's first one
NO_ACTION = 0  # and what is done in it

Row = dict[int, float]
"""Expected number of times that each next state was seen."""

TRIED_ONCE = 1.5
SURE_VISITS = 3.0  # tries after which a row can surprise
Outcomes = list[tuple[int, float]]
"""(next state, probability), the most likely first."""

CHANGED = 0.01  # a row whose numbers move by less than this need not be planned with again
LEAST_COUNT = 0.5
LEAST_SHARE = 0.02
CERTAIN_END = 0.5  # an action that ends the episode more often than not leads nowhere else

ROUNDING = 1e-6  # by how much sums in a file may miss what they should be

SUMS = ("visits", "reward_sum", "end_sum")
PLANNED = ("successor", "probability", "discounted", "reward", "end", "certainty")


class SparseTransitions:
    """Owner of the counts of (state, action, next state), of rewards and of terminations.

    States are slots of the mixture. Rows are dictionaries: a thousand states would fill a dense
    tensor with zeros. Beside them stand arrays of fixed width for the planner, (n_slots, n_actions)
    and (n_slots, n_actions, width), brought up to date row by row. `touched` holds the rows that
    were counted since the planner looked, `changed` the states whose numbers have moved by it.

    Certainty is what a row is worth as knowledge: the expected tries on its most likely successor
    less those on the second, so that one try which may have come from either of two states is
    worth nothing. A row may be random, so a third of the tries counts in any case.
    """

    def __init__(self, n_actions: int, gamma: float) -> None:
        """Know of no state."""
        self.n_actions = n_actions
        self._gamma = gamma
        self.rows: dict[tuple[int, int], Row] = {}
        self.predecessors: list[set[tuple[int, int]]] = []  # the rows that lead to each state
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
        self.touched: set[tuple[int, int]] = set()
        self._written: dict[tuple[int, int], Outcomes] = {}  # what is in the planner's arrays
        self._retries: set[tuple[int, int]] = set()  # rows that want one more try
        self.surprises: dict[tuple[int, int], int] = {}  # rows that failed, how often in a row
        self.version = 0  # counts the changes that are worth planning with again
        self.dirty: set[tuple[int, int]] = set()
        """Rows that changed since the last record of them, by more than an observation."""

    def make_room(self, n_slots: int) -> None:
        """Have arrays for at least so many states."""
        missing = n_slots - len(self.visits)
        if missing <= 0:
            return
        missing = max(missing, len(self.visits))
        for name in (*SUMS, *PLANNED):
            values = getattr(self, name)
            room = np.zeros((missing, *values.shape[1:]), dtype=values.dtype)
            setattr(self, name, np.concatenate([values, room]))
        self.predecessors.extend(set() for _ in range(missing))

    def add(
        self, state: int, action: int, after: int, weight: float, reward: float, end: float
    ) -> None:
        """Count a step (or, with negative weight, take it back).

        Who does tells `dirty`, unless it is a new observation: records follow those themselves.

        Args:
            state, action, after: where it began (START before an episode), what was done, where
                it led.
            weight: how much it is believed that it was this step.
            reward: what it brought.
            end: 1 if the episode terminated, 0 if not; a time limit is not an end.
        """
        key = state, action
        row = self.rows.setdefault(key, {})
        count = row.get(after, 0.0) + weight
        if count > 1e-9:
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
        self._refresh(state, action)

    def row(self, state: int, action: int) -> Row:
        """The counts of one row; empty if it was never tried."""
        return self.rows.get((state, action), {})

    def apply(self, change: ComponentMap) -> None:
        """Follow a change of components (of slots); costs what is concerned, not what is known."""
        self.make_room(change.n_new)
        changed = change.changed
        concerned = {key for old in changed for key in self.predecessors[old]}
        concerned |= {(old, action) for old in changed for action in range(self.n_actions)}
        rows = {key: self.rows.pop(key) for key in sorted(concerned) if key in self.rows}
        for key, row in rows.items():
            self.surprises.pop(key, None)
            for after in row:
                self.predecessors[after].discard(key)
        self._share_sums(changed)
        wanted = self._retries & concerned
        self._retries -= wanted
        self._retries.update(
            (new, action)
            for state, action in wanted
            for new, _ in changed.get(state, [(state, 1.0)])
        )
        touched = set(concerned)
        for (state, action), row in rows.items():
            for new_state, share in changed.get(state, [(state, 1.0)]):
                new_row = self.rows.setdefault((new_state, action), {})
                touched.add((new_state, action))
                for after, count in row.items():
                    for new_after, part in changed.get(after, [(after, 1.0)]):
                        new_row[new_after] = new_row.get(new_after, 0.0) + count * share * part
                        self.predecessors[new_after].add((new_state, action))
        for state, action in sorted(touched):
            if state != START:
                self.dirty.add((state, action))
                self._refresh(state, action)

    def _share_sums(self, changed: dict[int, list[tuple[int, float]]]) -> None:
        """Visits, rewards and ends go with their states."""
        for values in (self.visits, self.reward_sum, self.end_sum):
            taken = {old: values[old].copy() for old in changed}
            for old in changed:
                values[old] = 0.0
            for old, links in changed.items():
                for new, share in links:
                    values[new] += share * taken[old]

    def to_arrays(self) -> Arrays:
        """Everything; rows in their order, and the planner's arrays, which lag behind the rows."""
        keys, rows = list(self.rows), list(self.rows.values())
        return {
            "row.key": _pairs(keys),
            "row.n_next": np.array([len(row) for row in rows], dtype=np.intp),
            "next.state": np.array([state for row in rows for state in row], dtype=np.intp),
            "next.count": np.array([count for row in rows for count in row.values()]),
            **{name: getattr(self, name) for name in (*SUMS, *PLANNED)},
            "log_fade": np.array([self.log_fade]),
            "changed": np.array(sorted(self.changed), dtype=np.intp),
            "touched": _pairs(sorted(self.touched)),
            "retries": _pairs(sorted(self._retries)),
            "surprise.key": _pairs(list(self.surprises)),
            "surprise.times": np.array(list(self.surprises.values()), dtype=np.intp),
            "dirty": _pairs(sorted(self.dirty)),
        }

    def restore(self, saved: ArrayReader, n_slots: int) -> None:
        """Take over what `to_arrays` gave, for at least so many states."""
        shape = len(saved.floats("visits", ANY, self.n_actions)), self.n_actions
        if shape[0] < n_slots:
            raise DataError(f"array 'visits' has {shape[0]} of {n_slots} states")
        self.predecessors = [set() for _ in range(shape[0])]
        for name in SUMS:
            low = None if name == "reward_sum" else -1e-6
            setattr(self, name, saved.floats(name, *shape, low=low, size=LARGEST_SUM))
        for name in ("reward", "certainty"):
            setattr(self, name, saved.floats(name, *shape, size=LARGEST_SUM))
        self.end = saved.floats("end", *shape, low=-ROUNDING, high=1.0)
        self.successor = saved.whole("successor", *shape, ANY, high=max(shape[0] - 1, 0))
        wide = self.successor.shape
        self.probability = saved.floats("probability", *wide, low=0.0, high=1.0 + 1e-9)
        self.discounted = saved.floats("discounted", *wide, low=0.0, high=1.0 + 1e-9)
        # Values would grow without end if more than all of the future were expected.
        goes_on = self._gamma * (1.0 - self.end[..., None]) * self.probability
        if (self.probability.sum(axis=-1) > 1.0 + ROUNDING).any():
            raise DataError("array 'probability' has a row that sums to more than one")
        if (np.abs(self.discounted - goes_on) > ROUNDING).any():
            raise DataError("array 'discounted' does not fit the probabilities")
        self._restore_rows(saved)
        self.log_fade = saved.number("log_fade")
        self.changed = set(saved.whole("changed", ANY, high=shape[0] - 1).tolist())
        self.touched = set(self._keys(saved, "touched"))
        self._retries = set(self._keys(saved, "retries"))
        times = saved.whole("surprise.times", ANY).tolist()
        keys = self._keys(saved, "surprise.key", len(times))
        self.surprises = dict(zip(keys, times, strict=True))
        self.dirty = set(self._keys(saved, "dirty"))

    def _restore_rows(self, saved: ArrayReader) -> None:
        n_slots = len(self.visits)
        n_next = saved.whole("row.n_next", ANY).tolist()
        states = saved.whole("next.state", sum(n_next), high=n_slots - 1).tolist()
        counts = saved.floats("next.count", sum(n_next), low=0.0).tolist()
        after = zip(states, counts, strict=True)
        for key, length in zip(self._keys(saved, "row.key", len(n_next)), n_next, strict=True):
            self.rows[key] = dict(itertools.islice(after, length))
            for state in self.rows[key]:
                self.predecessors[state].add(key)
            if key[0] != START:
                visits, counted = float(self.visits[key]), sum(self.rows[key].values())
                if counted > visits + ROUNDING * max(1.0, visits):
                    raise DataError(f"array 'next.count' has {counted} of {visits} visits of {key}")
                planned = self.successor[key].tolist(), self.probability[key].tolist()
                outcomes = zip(*planned, strict=True)
                self._written[key] = [(state, share) for state, share in outcomes if share > 0]

    def _keys(self, saved: ArrayReader, name: str, length: int = ANY) -> list[tuple[int, int]]:
        pairs = saved.whole(name, length, 2, low=START)
        if (pairs >= [len(self.visits), self.n_actions]).any() or (pairs[:, 1] < 0).any():
            raise DataError(f"array '{name}' names a state or an action that is not there")
        return [(state, action) for state, action in pairs.tolist()]

    def surprise(self, state: int, action: int, after: int) -> float | None:
        """Compare a sure step, before it is counted, with what its row has always done.

        Returns:
            None if it is as expected or if nothing was expected; otherwise the probability that
            a row that is as it was fails so many times in a row.
        """
        row, visits = self.rows.get((state, action)), float(self.visits[state, action])
        if not row or visits < SURE_VISITS:
            return None
        usual = max(row, key=row.__getitem__)
        if after == usual:
            self.surprises.pop((state, action), None)
            return None
        times = self.surprises.get((state, action), 0) + 1
        self.surprises[state, action] = times
        failure = (visits - row[usual] + 0.25) / (visits + 0.5)
        return max(float(failure**times), sys.float_info.min)

    def forget_row(self, state: int, action: int) -> None:
        """Forget all about one action in one state."""
        self.surprises.pop((state, action), None)
        for after in self.rows.pop((state, action), {}):
            self.predecessors[after].discard((state, action))
        for values in (self.visits, self.reward_sum, self.end_sum):
            values[state, action] = 0.0
        self.dirty.add((state, action))
        self._refresh(state, action)

    def note_try(self, state: int, action: int) -> None:
        """An action was tried just now: a wish for one more try is fulfilled."""
        self._retries.discard((state, action))

    def try_again(self, rows: Iterable[tuple[int, int]]) -> None:
        """Ask for one more try of some rows, where they were tried but once."""
        self.doubt(key for key in rows if key[0] != START and self.visits[key] < TRIED_ONCE)

    def doubt(self, rows: Iterable[tuple[int, int]]) -> None:
        """Ask for one more try of some rows; what is known of them stays known."""
        for state, action in sorted(rows):
            self._retries.add((state, action))
            self._refresh(state, action)

    def doubt_all(self) -> None:
        """Ask for one more try of everything; what is known stays known."""
        self.certainty[:] = 0.0

    def fade(self, log_factor: float) -> None:
        """Count everything seen so far exp(log_factor) times: for worlds that change."""
        self.log_fade += log_factor
        self.dirty.update(key for key in self.rows if key[0] != START)
        factor = math.exp(log_factor)
        for row in self.rows.values():
            for after in row:
                row[after] *= factor
        for values in (self.visits, self.reward_sum, self.end_sum, self.certainty):
            values *= factor

    def _refresh(self, state: int, action: int) -> None:
        """Bring the planner's arrays up to date with one row."""
        key = state, action
        self.touched.add(key)
        visits = float(self.visits[key])
        row = self.rows.get(key)
        if visits <= 1e-9 or not row:
            self.certainty[key] = 0.0
            self._written.pop(key, None)
            self.successor[key] = 0
            self.probability[key] = self.discounted[key] = 0.0
            self.changed.add(state)
            self.version += 1
            return
        end = min(1.0, float(self.end_sum[key]) / visits)
        reward = float(self.reward_sum[key]) / visits
        if key in self.surprises or key in self._retries:
            self.certainty[key] = 0.0
        else:
            self.certainty[key] = visits if end > CERTAIN_END else _certainty(row, visits)
        items = _outcomes(row, visits)
        before = float(self.reward[key])
        moved = (
            _differ(items, self._written.get(key, []))
            or abs(reward - before) > CHANGED * max(abs(reward), abs(before))
            or abs(end - float(self.end[key])) >= CHANGED
        )
        if moved:
            self.reward[key] = reward
            self.end[key] = end
            self._write(state, action, items)
            self._written[key] = items
            self.changed.add(state)
            self.version += 1

    def _write(self, state: int, action: int, items: Outcomes) -> None:
        if len(items) > self.successor.shape[2]:
            self._widen(len(items))
        successor, probability = self.successor[state, action], self.probability[state, action]
        successor[:] = items[0][0]
        probability[:] = 0.0
        for index, (after, share) in enumerate(items):
            successor[index], probability[index] = after, share
        goes_on = self._gamma * (1.0 - self.end[state, action])
        self.discounted[state, action] = probability * goes_on

    def _widen(self, width: int) -> None:
        """Room for rows with more successors."""
        now = self.successor.shape[2]
        extra = ((0, 0), (0, 0), (0, max(width, 2 * now) - now))
        self.successor = np.pad(self.successor, extra)
        self.probability = np.pad(self.probability, extra)
        self.discounted = np.pad(self.discounted, extra)


def _pairs(keys: list[tuple[int, int]]) -> IntArray:
    """(n, 2) states and actions."""
    return np.array(keys, dtype=np.intp).reshape(-1, 2)


def _differ(one: Outcomes, other: Outcomes) -> bool:
    """Whether two rows are worth planning with anew."""
    if one == other:
        return False
    return len(one) != len(other) or any(
        state != known or abs(share - before) >= CHANGED
        for (state, share), (known, before) in zip(one, other, strict=True)
    )


def _outcomes(row: Row, visits: float) -> Outcomes:
    """(next state, probability) of the outcomes to plan with, the most likely first.

    Less than half an observation, or than one in fifty, is a mistake rather than an outcome to hope
    for.
    """
    if len(row) == 1:
        return [(next(iter(row)), 1.0)]
    items = sorted(row.items(), key=lambda item: (-item[1], item[0]))
    least = min(items[0][1], max(LEAST_COUNT, LEAST_SHARE * visits))
    items = [(after, count) for after, count in items if count >= least]
    total = sum(count for _, count in items)
    return [(after, count / total) for after, count in items]


def _certainty(row: Row, visits: float) -> float:
    if len(row) == 1:
        return next(iter(row.values()))
    first, second = sorted(row.values(), reverse=True)[:2]
    return max(first - second, visits / 3 if visits >= 3 else 0.0)


def row_log_evidence(
    counts: Iterable[float], concentrations: Iterable[float], total: float
) -> float:
    """ln evidence of counts under a Dirichlet.

    Args:
        counts: of some outcomes; those not named were not seen.
        concentrations: of these outcomes, before the counts.
        total: concentration of all outcomes.
    """
    evidence, seen = math.lgamma(total), 0.0
    for count, concentration in zip(counts, concentrations, strict=True):
        evidence += math.lgamma(concentration + count) - math.lgamma(concentration)
        seen += count
    return evidence - math.lgamma(total + seen)


def dense(model: SparseTransitions, slots: IntArray) -> FloatArray:
    """(n_actions, n_states, n_states) counts between the states in `slots`."""
    index = {int(slot): position for position, slot in enumerate(slots)}
    counts = np.zeros((model.n_actions, len(slots), len(slots)))
    for (state, action), row in model.rows.items():
        if state in index:
            for after, count in row.items():
                counts[action, index[state], index[after]] = count
    return counts
