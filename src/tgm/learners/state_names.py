"""Names of states across learners that have learned from the same events."""

from __future__ import annotations

from collections import Counter

import numpy as np

from tgm.distributions import IntArray
from tgm.learners.online import OnlineLearner
from tgm.perception.observation_model import NO_STATE, StateId


def labels_of(names: list[StateId]) -> IntArray:
    """(n,) states as whole numbers from 0; observations without a state share one."""
    return np.unique(np.array(names), return_inverse=True)[1].astype(np.intp)


def rename(
    learner: OnlineLearner, names: list[StateId], old_names: list[StateId], next_id: int
) -> list[StateId]:
    """Give the states of a learner the ids under which their observations were known before.

    Args:
        learner: has learned from the same events.
        names, old_names: the state of each event, in this learner and in the one before; NO_STATE
            for one that is gone there, whose id does not come back.
        next_id: the first id that was never used.

    Returns:
        the state of each event under its new name.
    """
    states = learner.world.states
    new_id: dict[StateId, StateId] = {}
    alive = set(states.ids[states.alive].tolist())
    pairs = Counter(zip(names, old_names, strict=True))
    for (name, old), _ in sorted(pairs.items(), key=lambda item: (-item[1], item[0])):
        if old != NO_STATE and name in alive - new_id.keys() and old not in new_id.values():
            new_id[name] = old
    for name in [*states.ids[states.alive].tolist(), *names]:
        if name != NO_STATE and name not in new_id:
            new_id[name] = StateId(next_id)
            next_id += 1
    for slot in states.alive.tolist():
        states.ids[slot] = new_id[StateId(states.ids.item(slot))]
    states.next_id = next_id
    return [new_id.get(name, NO_STATE) for name in names]
