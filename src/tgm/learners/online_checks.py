"""Whether the parts of a restored model fit each other; they may come from somebody else's file."""

from __future__ import annotations

from tgm.errors import DataError
from tgm.memory.step_memory import StepMemory
from tgm.perception.gaussian_states import GaussianStates
from tgm.transition.sparse import START, SparseTransitions


def check_names(components: GaussianStates, model: SparseTransitions, memory: StepMemory) -> None:
    """What was restored names states that are there, and a past that is over."""
    alive = components.alive
    named = {state for key, row in model.rows.items() if row for state in (key[0], *row)}
    for step in memory.all():
        named |= step.names
        if not model.log_fade <= step.log_fade <= 0.0:
            raise DataError(f"array 'log_fade' holds {step.log_fade} for a kept step")
    unknown = named - set(alive.tolist()) - {START}
    if unknown:
        raise DataError(f"state {min(unknown)} is named, but is not there")
    if len(alive) and int(model.successor[: alive[-1] + 1].max(initial=0)) > alive[-1]:
        raise DataError("array 'successor' names a state that is not there")
