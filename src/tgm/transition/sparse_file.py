"""Sparse transitions as named arrays, and back."""

from __future__ import annotations

import itertools

import numpy as np

from tgm.distributions import IntArray
from tgm.errors import DataError
from tgm.files.arrays import ANY, LARGEST_SUM, ArrayReader, Arrays
from tgm.files.schema import SUM_ROUNDING
from tgm.transition.planned_rows import PLANNED, Key
from tgm.transition.reward_noise import GROUPS, RewardNoise
from tgm.transition.rows import Row
from tgm.transition.sparse import ENDED, START, SUMS, SparseTransitions


def to_arrays(transitions: SparseTransitions) -> Arrays:
    """Everything; rows in their order, and the planner's arrays, which lag behind the rows."""
    transitions.weigh_all()
    noise = transitions.noise
    keys, rows, runs = list(transitions.rows), list(transitions.rows.values()), transitions.runs
    return {
        "row.key": _pairs(keys),
        "row.n_next": np.array([len(row) for row in rows], dtype=np.intp),
        "next.state": np.array([state for row in rows for state in row], dtype=np.intp),
        "next.count": np.array([count for row in rows for count in row.values()]),
        **{name: getattr(transitions, name) for name in (*SUMS, *PLANNED)},
        "log_fade": np.array([transitions.log_fade]),
        "changed": np.array(sorted(transitions.changed), dtype=np.intp),
        "touched": _pairs(sorted(transitions.touched)),
        "retries": _pairs(sorted(transitions.retries)),
        "share_random": np.array([transitions.share_random]),
        "evenness": np.array([transitions.evenness]),
        "favour": np.array([transitions.favour]),
        **_listed("ended", transitions.ended),
        **_listed("last_reward", transitions.last_reward),
        "noise": np.array([] if noise is None else [noise.variance, *noise.centre, *noise.spread]),
        "noise_shares": transitions.noise_shares,
        "run.key": _pairs(list(runs)),
        "run.length": np.array([len(run) for run in runs.values()], dtype=np.intp),
        "run.outcome": np.array([x for run in runs.values() for x in run], dtype=np.intp),
    }


def restore(transitions: SparseTransitions, saved: ArrayReader, n_slots: int) -> None:
    """Take over what `to_arrays` gave, for at least so many states."""
    n_actions = transitions.n_actions
    shape = len(saved.floats("visits", ANY, n_actions)), n_actions
    if shape[0] < n_slots:
        raise DataError(f"array 'visits' has {shape[0]} of {n_slots} states")
    transitions.predecessors = [set() for _ in range(shape[0])]
    for name in SUMS:
        low = -SUM_ROUNDING if name in ("visits", "end_sum", "reward_moves") else None
        size = LARGEST_SUM**2 if name == "reward_square" else LARGEST_SUM
        setattr(transitions, name, saved.floats(name, *shape, low=low, size=size))
    _restore_planned(transitions, saved, shape)
    _restore_rows(transitions, saved)
    transitions.log_fade = saved.number("log_fade")
    transitions.changed = set(saved.whole("changed", ANY, high=shape[0] - 1).tolist())
    transitions.touched = set(_keys(saved, "touched", shape))
    transitions.retries = set(_keys(saved, "retries", shape))
    transitions.is_random = saved.flags("is_random", *shape)
    transitions.share_random = saved.number("share_random")
    if not 0.0 < transitions.share_random < 1.0:
        raise DataError(f"array 'share_random' is {transitions.share_random}, not from 0 to 1")
    transitions.evenness = saved.number("evenness", low=0.0)
    transitions.favour = saved.number("favour", low=0.0)
    _restore_ended(transitions, saved, shape)
    _restore_runs(transitions, saved, shape)
    _restore_noise(transitions, saved, shape)


def _restore_planned(
    transitions: SparseTransitions, saved: ArrayReader, shape: tuple[int, int]
) -> None:
    """The planner's arrays; values would grow without end if rows summed to more than one."""
    for name in ("reward", "certainty", "log_chance"):
        setattr(transitions, name, saved.floats(name, *shape, size=LARGEST_SUM))
    transitions.end = saved.floats("end", *shape, low=-SUM_ROUNDING, high=1.0)
    transitions.successor = saved.whole("successor", *shape, ANY, high=max(shape[0] - 1, 0))
    wide = transitions.successor.shape
    transitions.probability = saved.floats("probability", *wide, low=0.0, high=1.0 + 1e-9)
    transitions.discounted = saved.floats("discounted", *wide, low=0.0, high=1.0 + 1e-9)
    goes_on = transitions.gamma * (1.0 - transitions.end[..., None]) * transitions.probability
    if (transitions.probability.sum(axis=-1) > 1.0 + SUM_ROUNDING).any():
        raise DataError("array 'probability' has a row that sums to more than one")
    if (np.abs(transitions.discounted - goes_on) > SUM_ROUNDING).any():
        raise DataError("array 'discounted' does not fit the probabilities")


def _restore_rows(transitions: SparseTransitions, saved: ArrayReader) -> None:
    shape = transitions.visits.shape[0], transitions.n_actions
    n_next = saved.whole("row.n_next", ANY).tolist()
    states = saved.whole("next.state", sum(n_next), high=shape[0] - 1).tolist()
    counts = saved.floats("next.count", sum(n_next), low=0.0).tolist()
    after = zip(states, counts, strict=True)
    for key, length in zip(_keys(saved, "row.key", shape, len(n_next)), n_next, strict=True):
        row = transitions.rows[key] = dict(itertools.islice(after, length))
        for state in row:
            transitions.predecessors[state].add(key)
        if key[0] != START:
            visits, counted = float(transitions.visits[key]), sum(row.values())
            if counted > visits + SUM_ROUNDING * max(1.0, visits):
                raise DataError(f"array 'next.count' has {counted} of {visits} visits of {key}")
            outcomes = zip(
                transitions.successor[key].tolist(),
                transitions.probability[key].tolist(),
                strict=True,
            )
            transitions.planned[key] = [(state, share) for state, share in outcomes if share > 0]


def _restore_ended(
    transitions: SparseTransitions, saved: ArrayReader, shape: tuple[int, int]
) -> None:
    counts = saved.floats("ended.count", ANY, low=0.0).tolist()
    states = saved.whole("ended.state", len(counts), high=shape[0] - 1).tolist()
    keys = _keys(saved, "ended.key", shape, len(counts))
    for key, state, count in zip(keys, states, counts, strict=True):
        tries = transitions.row(*key).get(state, 0.0)
        if key[0] == START or count > tries + SUM_ROUNDING * max(1.0, tries):
            raise DataError(f"array 'ended.count' has {count} of {tries} tries of {key}")
        transitions.ended.setdefault(key, {})[state] = count


def _restore_runs(
    transitions: SparseTransitions, saved: ArrayReader, shape: tuple[int, int]
) -> None:
    lengths = saved.whole("run.length", ANY).tolist()
    outcomes = iter(saved.whole("run.outcome", sum(lengths), low=ENDED, high=shape[0] - 1).tolist())
    for key, length in zip(_keys(saved, "run.key", shape, len(lengths)), lengths, strict=True):
        transitions.runs[key] = list(itertools.islice(outcomes, length))


def _restore_noise(
    transitions: SparseTransitions, saved: ArrayReader, shape: tuple[int, int]
) -> None:
    """What is known of random rewards, and the last reward of each outcome."""
    rewards = saved.floats("last_reward.count", ANY, size=LARGEST_SUM).tolist()
    outcomes = saved.whole("last_reward.state", len(rewards), low=ENDED, high=shape[0] - 1).tolist()
    keys = _keys(saved, "last_reward.key", shape, len(rewards))
    for key, outcome, reward in zip(keys, outcomes, rewards, strict=True):
        transitions.last_reward.setdefault(key, {})[outcome] = reward
    transitions.noise_chance = saved.floats("noise_chance", *shape, low=0.0, high=1.0)
    transitions.noise_shares = saved.floats("noise_shares", len(GROUPS), low=0.0, high=1.0)
    if not ((transitions.noise_shares > 0.0) & (transitions.noise_shares < 1.0)).all():
        raise DataError("array 'noise_shares' has a share that is not between 0 and 1")
    numbers = saved.floats("noise", ANY, size=LARGEST_SUM**2)
    if len(numbers) not in (0, 1 + 2 * len(GROUPS)):
        wanted = 1 + 2 * len(GROUPS)
        raise DataError(f"array 'noise' has {len(numbers)} numbers, not 0 or {wanted}")
    if len(numbers):
        centre, spread = numbers[1:].reshape(2, len(GROUPS))
        if min(float(numbers[0]), *spread.tolist()) <= 0.0:
            raise DataError("array 'noise' has a variance that is not positive")
        transitions.noise = RewardNoise(float(numbers[0]), centre, spread)


def _listed(name: str, rows: dict[Key, Row]) -> Arrays:
    """(row, next state, count) of all rows, as three arrays of one length."""
    return {
        f"{name}.key": _pairs([key for key, row in rows.items() for _ in row]),
        f"{name}.state": np.array([s for row in rows.values() for s in row], dtype=np.intp),
        f"{name}.count": np.array([c for row in rows.values() for c in row.values()], dtype=float),
    }


def _pairs(keys: list[Key]) -> IntArray:
    """(n, 2) states and actions."""
    return np.array(keys, dtype=np.intp).reshape(-1, 2)


def _keys(saved: ArrayReader, name: str, shape: tuple[int, int], length: int = ANY) -> list[Key]:
    pairs = saved.whole(name, length, 2, low=START)
    if (pairs >= list(shape)).any() or (pairs[:, 1] < 0).any():
        raise DataError(f"array '{name}' names a state or an action that is not there")
    return [(state, action) for state, action in pairs.tolist()]
