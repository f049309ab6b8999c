"""Kept steps as named arrays, and back."""

from __future__ import annotations

import numpy as np

from tgm.errors import DataError
from tgm.files.arrays import ANY, LARGEST_POINT, ArrayReader, Arrays
from tgm.memory.step import Belief, Step

NONE = -1  # no action, no follower


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
    arrivals = saved.floats("arrival", ANY, n_features, size=LARGEST_POINT)
    n = len(arrivals)
    departures = saved.floats("departure", n, n_features, size=LARGEST_POINT)
    has_departure = saved.flags("has_departure", n).tolist()
    actions = saved.whole("action", n, low=NONE, high=n_actions - 1).tolist()
    rewards = saved.floats("reward", n).tolist()
    ends = saved.floats("end", n, low=0.0, high=1.0).tolist()
    fades = saved.floats("log_fade", n).tolist()
    then = saved.floats("weight_then", n).tolist()
    void = saved.flags("retracted", n).tolist()
    following = saved.whole("next", n, low=NONE, high=n - 1).tolist()
    before = _beliefs(saved, "before", n, n_slots)
    after = _beliefs(saved, "after", n, n_slots)
    entries = _entries(saved, n, n_slots)
    steps = [
        Step(
            departures[i] if has_departure[i] else None,
            before[i],
            None if actions[i] == NONE else actions[i],
            rewards[i],
            ends[i],
            arrivals[i],
            fades[i],
            entries[i],
            after[i],
            then[i],
            retracted=void[i],
        )
        for i in range(n)
    ]
    for step, index in zip(steps, following, strict=True):
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
    """Each step follows one at most, and no step itself: who goes along them comes to an end."""
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


def _beliefs(saved: ArrayReader, name: str, n: int, n_slots: int) -> list[Belief]:
    counts = saved.whole(f"{name}.count", n).tolist()
    states = saved.whole(f"{name}.state", sum(counts), high=n_slots - 1).tolist()
    shares = saved.floats(f"{name}.share", sum(counts), low=0.0, high=1.0 + 1e-6).tolist()
    pairs = iter(zip(states, shares, strict=True))
    return [[next(pairs) for _ in range(count)] for count in counts]


def _entries(saved: ArrayReader, n: int, n_slots: int) -> list[list[tuple[int, int, float]]]:
    counts = saved.whole("entry.count", n).tolist()
    total = sum(counts)
    states = saved.whole("entry.states", total, 2, high=n_slots - 1).tolist()
    weights = saved.floats("entry.weight", total, low=0.0).tolist()
    triples = ((one, other, w) for (one, other), w in zip(states, weights, strict=True))
    return [[next(triples) for _ in range(count)] for count in counts]
