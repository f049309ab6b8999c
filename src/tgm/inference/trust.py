"""How far each row can be trusted: what it has counted, less what was hardly seen where it led."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincc

from tgm.distributions import FloatArray
from tgm.memory.step_memory import StepMemory
from tgm.perception.gaussian_states import GaussianStates
from tgm.transition.sparse import SparseTransitions


def trust_in_rows(
    components: GaussianStates, model: SparseTransitions, memory: StepMemory, n_slots: int
) -> FloatArray:
    """(n_slots, n_actions) certainty, in which a kept step counts as much as it fits.

    A step fits as the chance that an observation of the state where it is said to have led lies
    as far from the mean, in typical deviations. A misread step does not fit, however sure it was
    when it was read: so it is the first to be doubted.
    """
    trust = model.certainty[:n_slots].copy()
    found = [
        (state, step.action, after, weight, step.arrival)
        for step in memory.all()
        if step.action is not None and not step.retracted
        for state, after, weight in step.entries
        if after == model.successor[state, step.action, 0]
    ]
    if not found:
        return trust
    state, action, after = (np.array([entry[k] for entry in found]) for k in range(3))
    weight = np.array([entry[3] for entry in found])
    offset = np.array([entry[4] for entry in found]) - components.mean[after]
    square = np.einsum("ni,ij,nj->n", offset, components.prior.precision, offset)
    square /= 1.0 + 1.0 / components.weight[after]  # the mean is not sure either
    fit = gammaincc(components.n_features / 2, square / 2)
    np.subtract.at(trust, (state, action), weight * (1.0 - fit))
    return np.asarray(trust)
