"""Sparse transitions in another form: a dense tensor."""

from __future__ import annotations

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.transition.sparse import SparseTransitions


def dense(transitions: SparseTransitions, slots: IntArray) -> FloatArray:
    """(n_actions, n_states, n_states) counts between the states in `slots`."""
    index = {int(slot): position for position, slot in enumerate(slots)}
    counts = np.zeros((transitions.n_actions, len(slots), len(slots)))
    for (state, action), row in transitions.rows.items():
        if state in index:
            for after, count in row.items():
                counts[action, index[state], index[after]] = count
    return counts
