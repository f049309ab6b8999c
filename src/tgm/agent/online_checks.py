"""Whether the parts of a restored model fit each other; they may come from somebody else's file."""

from __future__ import annotations

import numpy as np

from tgm.errors import DataError
from tgm.memory.step_memory import StepMemory
from tgm.perception.online_components import OnlineComponents
from tgm.transition.state_actions import START, StateActionModel

ROUNDING = 1e-6  # by how much a share of the whole may be below zero
RESOLUTION = 1e-9  # of a mean, relative to its size


def check_names(components: OnlineComponents, model: StateActionModel, memory: StepMemory) -> None:
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


def check_kept_points(components: OnlineComponents, memory: StepMemory) -> None:
    """Kept points were added to their states, so that each of them can be taken back.

    If they could not, the covariance of a state would not be positive definite after that. What
    is left of a state without them, with the mean m of the whole, is the matrix of the sums of 1,
    x - m and (x - m)(x - m)^T over all other points: it has no eigenvalue below zero. The prior
    covariance leaves some room.
    """
    for slot in components.alive.tolist():
        weight, mean, scatter = components.moments(slot)
        variances = (scatter + components.prior.inverse_scale).diagonal()
        variances = variances + weight * (RESOLUTION * mean) ** 2
        unit = np.sqrt(np.concatenate([[weight], variances]))
        left = np.zeros((len(unit), len(unit)))
        left[0, 0], left[1:, 1:] = weight, scatter + components.prior.inverse_scale
        for step in memory.naming(slot):
            for state, share in step.after:
                if state == slot:
                    sums = np.concatenate([[1.0], step.arrival - mean])
                    left -= share * np.outer(sums, sums)
        if np.linalg.eigvalsh(left / np.outer(unit, unit))[0] < -ROUNDING:
            raise DataError(f"the kept points of state {int(components.ids[slot])} are not its own")
