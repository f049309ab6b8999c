"""Parts of sparse transitions in another form: a copy of some rows, a dense tensor."""

from __future__ import annotations

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.transition.sparse import START, SUMS, SparseTransitions


def excerpt(transitions: SparseTransitions, state: int, n_slots: int) -> SparseTransitions:
    """A copy of the rows from and to one state, for so many slots: to try a change on it."""
    copy = SparseTransitions(transitions.n_actions, transitions.gamma)
    copy.make_room(max(n_slots, len(transitions.visits)))
    copy.evenness = transitions.evenness
    copy.log_fade, copy.share_random = transitions.log_fade, transitions.share_random
    for key in transitions.rows_concerning([state]) & transitions.rows.keys():
        copy.rows[key] = dict(transitions.rows[key])
        if key in transitions.ended:
            copy.ended[key] = dict(transitions.ended[key])
        for after in transitions.rows[key]:
            copy.predecessors[after].add(key)
        if key[0] != START:
            for name in SUMS:
                getattr(copy, name)[key] = getattr(transitions, name)[key]
    return copy


def dense(transitions: SparseTransitions, slots: IntArray) -> FloatArray:
    """(n_actions, n_states, n_states) counts between the states in `slots`."""
    index = {int(slot): position for position, slot in enumerate(slots)}
    counts = np.zeros((transitions.n_actions, len(slots), len(slots)))
    for (state, action), row in transitions.rows.items():
        if state in index:
            for after, count in row.items():
                counts[action, index[state], index[after]] = count
    return counts
