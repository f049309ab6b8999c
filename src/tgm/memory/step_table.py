"""Kept steps as named arrays, and back."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from tgm.distributions import IntArray
from tgm.errors import DataError
from tgm.files.arrays import ArrayReader, Arrays
from tgm.files.schema import LARGEST_POINT, SUM_ROUNDING, Schema, Total, flags, floats, whole
from tgm.memory.step import Belief, Step

NONE = -1  # no action, no follower


def _belief_fields(name: str) -> Schema:
    total = Total(f"{name}.count")
    return {
        f"{name}.count": whole("n_steps"),
        f"{name}.state": whole(total, below="n_slots"),
        f"{name}.share": floats(total, low=0.0, high=1.0 + SUM_ROUNDING),
    }


SCHEMA: Schema = {
    "arrival": floats("n_steps", "n_features", size=LARGEST_POINT),
    "departure": floats("n_steps", "n_features", size=LARGEST_POINT),
    "has_departure": flags("n_steps"),
    "action": whole("n_steps", low=NONE, below="n_actions"),
    "reward": floats("n_steps"),
    "end": floats("n_steps", low=0.0, high=1.0),
    "log_fade": floats("n_steps"),
    "weight_then": floats("n_steps"),
    "retracted": flags("n_steps"),
    "next": whole("n_steps", low=NONE, below="n_steps"),
    **_belief_fields("before"),
    **_belief_fields("after"),
    "entry.count": whole("n_steps"),
    "entry.states": whole(Total("entry.count"), 2, below="n_slots"),
    "entry.weight": floats(Total("entry.count"), low=0.0),
}


def to_arrays(steps: list[Step], n_features: int) -> Arrays:
    """Steps in their order; a follower is named by its place, and only if it is among them."""
    place = {id(step): index for index, step in enumerate(steps)}
    nowhere = np.zeros(n_features)
    departures = [nowhere if step.departure is None else step.departure for step in steps]
    entries = [entry for step in steps for entry in step.entries]
    return {
        "arrival": np.array([step.arrival for step in steps]).reshape(-1, n_features),
        "departure": np.array(departures).reshape(-1, n_features),
        "has_departure": np.array([step.departure is not None for step in steps], dtype=bool),
        "action": np.array(
            [NONE if step.action is None else step.action for step in steps], dtype=np.intp
        ),
        "reward": np.array([step.reward for step in steps], dtype=np.float64),
        "end": np.array([step.end for step in steps], dtype=np.float64),
        "log_fade": np.array([step.log_fade for step in steps], dtype=np.float64),
        "weight_then": np.array([step.weight_then for step in steps], dtype=np.float64),
        "retracted": np.array([step.retracted for step in steps], dtype=bool),
        "next": np.array([place.get(id(step.next), NONE) for step in steps], dtype=np.intp),
        **_belief_arrays("before", [step.before for step in steps]),
        **_belief_arrays("after", [step.after for step in steps]),
        "entry.count": np.array([len(step.entries) for step in steps], dtype=np.intp),
        "entry.states": np.array([entry[:2] for entry in entries], dtype=np.intp).reshape(-1, 2),
        "entry.weight": np.array([entry[2] for entry in entries], dtype=np.float64),
    }


def from_arrays(saved: ArrayReader, n_features: int, n_actions: int, n_slots: int) -> list[Step]:
    """What `to_arrays` gave, checked: its states are slots below `n_slots`."""
    arrays = saved.read(SCHEMA, n_features=n_features, n_actions=n_actions, n_slots=n_slots)
    columns = {name: array.tolist() for name, array in arrays.items() if array.ndim == 1}
    departures = [
        departure if has_departure else None
        for departure, has_departure in zip(
            arrays["departure"], columns["has_departure"], strict=True
        )
    ]
    actions = [None if action == NONE else action for action in columns["action"]]
    fields = (
        departures,
        _beliefs(columns, "before"),
        actions,
        columns["reward"],
        columns["end"],
        arrays["arrival"],
        columns["log_fade"],
        _entries(columns, arrays["entry.states"]),
        _beliefs(columns, "after"),
        columns["weight_then"],
    )
    steps = [Step(*row) for row in zip(*fields, strict=True)]
    for step, retracted in zip(steps, columns["retracted"], strict=True):
        step.retracted = retracted
    for step, index in zip(steps, columns["next"], strict=True):
        step.next = None if index == NONE else steps[index]
        _check_start(step)
    _check_order(steps)
    return steps


def _check_start(step: Step) -> None:
    """Nothing comes before the start of an episode, and nothing else is without an action."""
    is_start = step.action is None
    if is_start != (step.departure is None) or (is_start and (step.before or step.entries)):
        raise DataError("array 'action' does not fit: a start has a past, or a step has none")
    if step.next is not None and step.next.action is None:
        raise DataError("array 'next' has the start of an episode follow a step")


def _check_order(steps: list[Step]) -> None:
    """Each step follows one at most, and no step itself: so every chain ends."""
    followers = {step.next for step in steps if step.next is not None}
    if len(followers) != sum(step.next is not None for step in steps):
        raise DataError("array 'next' has one step follow two")
    n_reached = 0
    for step in steps:
        if step not in followers:
            n_reached += 1
            while step.next is not None:
                step, n_reached = step.next, n_reached + 1
    if n_reached != len(steps):
        raise DataError("array 'next' leads round in a circle")


def _belief_arrays(name: str, beliefs: list[Belief]) -> Arrays:
    return {
        f"{name}.count": np.array([len(belief) for belief in beliefs], dtype=np.intp),
        f"{name}.state": np.array([s for belief in beliefs for s, _ in belief], dtype=np.intp),
        f"{name}.share": np.array([p for belief in beliefs for _, p in belief], dtype=np.float64),
    }


def _beliefs(columns: dict[str, list[Any]], name: str) -> list[Belief]:
    pairs = zip(columns[f"{name}.state"], columns[f"{name}.share"], strict=True)
    return [list(islice(pairs, count)) for count in columns[f"{name}.count"]]


def _entries(columns: dict[str, list[Any]], states: IntArray) -> list[list[tuple[int, int, float]]]:
    triples = zip(*states.T.tolist(), columns["entry.weight"], strict=True)
    return [list(islice(triples, count)) for count in columns["entry.count"]]
