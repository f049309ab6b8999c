"""What one step did to a learner: the only thing that leaves it for records and callbacks."""

from __future__ import annotations

from typing import NamedTuple

from tgm.perception.component_map import Move
from tgm.perception.observation_model import NO_STATE, StateId

RowId = tuple[StateId, int]
"""State and action."""


class StepInfo(NamedTuple):
    """What happened in one step. A tuple, because a frozen dataclass takes three times as long.

    If nothing changed but that the observation was added to the model, `share` is above 0 and the
    model after follows from the one before: `share` of a point more in `state`, and `weight` more
    in the row from the state before.

    Attributes:
        state: the most likely state, NO_STATE if there is none.
        log_density: ln predictive density of the observation, before it was learned from.
        share: how much of a point the observation is in its state; 0 if more has changed.
        weight: what its transition counts; 0 if more has changed.
        belief: (state, probability), the most likely first; what is missing to one is "none of the
            known states".
        moves: changes of structure that were made or refused.
        changed_states: states whose description has changed by more than this observation.
        changed_rows: rows (state, action) that have changed by more than this step.
        changed_all: everything may have changed; the two above say nothing.
        n_evicted: kept steps that newer ones have replaced.
        changed_scale: what all states share of their width has changed, so that earlier points may
            belong to others now.
    """

    state: StateId = NO_STATE
    log_density: float = 0.0
    share: float = 0.0
    weight: float = 0.0
    belief: tuple[tuple[StateId, float], ...] = ()
    moves: tuple[Move, ...] = ()
    changed_states: frozenset[StateId] = frozenset()
    changed_rows: frozenset[RowId] = frozenset()
    changed_all: bool = False
    n_evicted: int = 0
    changed_scale: bool = False
