"""Features that are known beforehand: a clock, and an echo of what was seen before.

Every step adds the same to a clock, whatever was done; an echo has the value that another feature
had a step before, as in stacked frames. They are left out as long as nothing is seen to depend on
them: rewards, ends and what follows are weighed in rows by what they say too, against rows without.
A time limit says nothing: an end later than all steps that went on is no end of a place.
"""

from __future__ import annotations

import numpy as np

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.perception.exact_relevance import (
    ExactSteps,
    evidence_by_any_strength,
    joined,
    label,
    label_of_rewards,
    mixed,
)

SAME_PACE = 0.01  # range of the displacements of a clock, in their mean
LEAST_STEPS = 8  # steps that must have added the same
LEAST_TIMES = 3  # different times of departure: with two a feature may tell a beginning from an end
TIME_PARTS = 8  # parts of the time with equally many steps; rows may differ across each border


def have_same_pace(before: FloatArray, after: FloatArray) -> BoolArray:
    """(n_features,) to which features every step from `before` to `after` adds the same."""
    moved = after - before
    return np.asarray(np.ptp(moved, axis=0) < SAME_PACE * np.abs(moved.mean(axis=0)))


def clocks(before: FloatArray, after: FloatArray) -> BoolArray:
    """(n_features,) which features are clocks by steps within episodes, (n, n_features) each."""
    if len(before) < LEAST_STEPS:
        return np.zeros(before.shape[1], dtype=bool)
    found = have_same_pace(before, after)
    for one in np.flatnonzero(found).tolist():
        found[one] = len(np.unique(before[:, one])) >= LEAST_TIMES
    return found


def echoes(before: FloatArray, after: FloatArray) -> IntArray:
    """(n_features,) how many steps ago each feature was another one; 0 for those that are new."""
    n_features = before.shape[1]
    source = np.arange(n_features)
    changes = np.sum(before != after, axis=0) >= LEAST_STEPS
    for one in np.flatnonzero(changes).tolist():
        if len(after) - np.unique(after[:, one], return_counts=True)[1].max() < LEAST_STEPS:
            continue  # nearly always one value: others that hardly vary say the same
        same = np.flatnonzero(np.all(after[:, [one]] == before, axis=0))
        source[one] = same[0] if len(same) else one
    lag, at = np.zeros(n_features, dtype=np.intp), np.arange(n_features)
    for _ in range(n_features):
        lag, at = lag + (source[at] != at), source[at]
    is_closed = source[at] != at  # features that only repeat each other
    return np.where(is_closed, 0, lag)


def nats_of_time(steps: ExactSteps, time: FloatArray) -> float:
    """Nats for rewards, ends or next states that depend on the time of departure.

    Args:
        steps: their only feature is the state.
        time: (n,) of departure; it runs forwards.
    """
    late = steps.ended & (time > time[~steps.ended].max(initial=-np.inf))
    quantiles = np.quantile(time, np.arange(1, TIME_PARTS) / TIME_PARTS)
    ends = np.unique(time)[[1, -1]]  # apart are the first time, and the last one
    borders = np.unique([*ends, *quantiles])
    times = [label(time), *(label(time >= border) for border in borders)]
    return nats_of_labels(steps, times, steps.ended & ~late)


def nats_of_labels(steps: ExactSteps, labels: list[IntArray], ended: BoolArray) -> float:
    """Nats for rewards, ends or next states that depend on one of some labels (n,) too.

    Args:
        steps: their only feature is the state.
        labels: what they may depend on.
        ended: (n,) the ends that depend on something.
    """
    action, goes_on = label(steps.action), ~steps.ended
    code = joined(label(steps.before[:, 0]), action)
    contexts = [action, code] + [joined(one, part) for part in labels for one in (action, code)]
    rows, after = np.stack(contexts, axis=1), label(steps.after[:, 0])
    outcomes = [
        evidence_by_any_strength(rows, label_of_rewards(steps.reward)),
        evidence_by_any_strength(rows, label(ended)),
        evidence_by_any_strength(rows[goes_on], after[goes_on]),
    ]
    return mixed(np.array([mixed(found[2:]) - mixed(found[:2]) for found in outcomes]))
