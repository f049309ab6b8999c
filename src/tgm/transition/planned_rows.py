"""What the planner sees of the rows of a transition model, in arrays of fixed width."""

from __future__ import annotations

import numpy as np

from tgm.distributions import BoolArray, IntArray
from tgm.transition.rows import CHANGED, Outcomes, Row, differ

PLANNED = (
    "successor",
    "probability",
    "discounted",
    "reward",
    "end",
    "certainty",
    "log_chance",
    "is_random",
    "noise_chance",
)

Key = tuple[int, int]
"""State and action: the name of a row."""


class PlannedRows:
    """Arrays (n_slots, n_actions) and (n_slots, n_actions, width), updated row by row.

    Attributes:
        successor, probability: where each row leads if the episode goes on; probability 0 fills up.
        discounted: gamma P(goes on) P(successor).
        reward, end: expected reward, probability that the episode ends.
        certainty: what each row is worth as knowledge, in tries.
        is_random: rows that are taken for random.
        log_chance: nats by which the tries of each row speak for its being random.
        noise_chance: probability that the rewards of each row are random.
        changed: states whose numbers moved since the planner looked.
        touched: rows that were counted since the planner looked.
        planned: what the arrays hold of each row.
        version: counts the changes that are worth planning with again.
    """

    def __init__(self, n_actions: int, gamma: float) -> None:
        """Know of no state."""
        self.n_actions = n_actions
        self.gamma = gamma
        self.successor = np.zeros((0, n_actions, 2), dtype=np.intp)
        self.probability = np.zeros((0, n_actions, 2))
        self.discounted = np.zeros((0, n_actions, 2))
        self.reward = np.zeros((0, n_actions))
        self.end = np.zeros((0, n_actions))
        self.certainty = np.zeros((0, n_actions))
        self.log_chance = np.zeros((0, n_actions))
        self.is_random: BoolArray = np.zeros((0, n_actions), dtype=bool)
        self.noise_chance = np.zeros((0, n_actions))
        self.changed: set[int] = set()
        self.touched: set[Key] = set()
        self.planned: dict[Key, Outcomes] = {}
        self.version = 0

    def n_outcomes(self, n_slots: int) -> IntArray:
        """(n_slots, n_actions) number of outcomes of each row; that the episode ends is one."""
        onward = (self.probability[:n_slots] > 0.0).sum(axis=-1)
        end = self.end[:n_slots]
        return np.asarray(np.where(end < 1.0, onward, 0) + (end > 0.0))

    def _plan_with(self, key: Key, items: Outcomes, reward: float, end: float) -> None:
        """Write a row into the arrays, if it differs enough from what they hold."""
        before, planned = self.reward.item(key), self.planned.get(key, [])
        if (
            (items != planned and differ(items, planned))
            or abs(reward - before) > CHANGED * max(abs(reward), abs(before))
            or abs(end - self.end.item(key)) >= CHANGED
        ):
            self.reward[key] = reward
            self.end[key] = end
            self._write(key, items)

    def _clear(self, key: Key) -> None:
        """Nothing is known of a row (any more)."""
        self.certainty[key] = self.log_chance[key] = self.noise_chance[key] = 0.0
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


def share_rows(
    rows: dict[Key, Row], changed: dict[int, list[tuple[int, float]]], into: dict[Key, Row]
) -> set[Key]:
    """Counts go with their states into other rows; returns the rows that got some."""
    touched = set()
    for (state, action), row in rows.items():
        for new_state, share in changed.get(state, [(state, 1.0)]):
            key = new_state, action
            new_row = into.setdefault(key, {})
            touched.add(key)
            for after, count in row.items():
                for new_after, part in changed.get(after, [(after, 1.0)]):
                    new_row[new_after] = new_row.get(new_after, 0.0) + count * share * part
    return touched
