"""How far each row can be trusted: its certainty, less the kept steps that do not fit."""

from __future__ import annotations

import numpy as np

from tgm.distributions import FloatArray
from tgm.transition.sparse import START
from tgm.world_model import WorldModel


def trust_in_exact_rows(world: WorldModel, n_slots: int) -> FloatArray:
    """(n_slots, n_actions) the same where states are exact, so that no step was misread.

    Infinite as long as no row of the world has led to two places: in a world without chance one
    try of a row is enough.
    """
    transitions = world.transitions
    if any(len(row) > 1 for (state, _), row in transitions.rows.items() if state != START):
        return np.asarray(transitions.certainty[:n_slots].copy())
    return np.full((n_slots, transitions.n_actions), np.inf)


def trust_in_rows(world: WorldModel, n_slots: int) -> FloatArray:
    """(n_slots, n_actions) certainty, in which a kept step counts as much as it fits.

    A step fits as the chance that an observation of the state to which it is said to have led lies
    as far from its mean. A misread step does not fit, however sure it was when it was assigned: so
    its row is retried first.
    """
    transitions = world.transitions
    trust = transitions.certainty[:n_slots].copy()
    usual = transitions.successor[:, :, 0].tolist()
    found = [
        (state, step.action, after, weight, step.arrival)
        for step in world.memory.all()
        if step.action is not None and not step.retracted
        for state, after, weight in step.entries
        if after == usual[state][step.action]
    ]
    if not found:
        return trust
    states, actions, reached, weights, arrivals = zip(*found, strict=True)
    points = np.concatenate(arrivals).reshape(len(found), -1)
    fit = world.states.fit(points, np.array(reached))
    np.subtract.at(trust, (np.array(states), np.array(actions)), np.array(weights) * (1.0 - fit))
    return np.asarray(trust)
