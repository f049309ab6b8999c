"""The belief about the state: predict with an action, condition on an observation.

There is one belief. The learner uses these two functions at every step, `TGMAgent.predict` uses
them through the same `StepFilter`, and what they gave is recorded for the page.
"""

from __future__ import annotations

import numpy as np

from tgm.distributions import FloatArray

NOTHING = 1e-300  # a probability that is as good as zero, and has a logarithm


def predict(belief: FloatArray, rows: FloatArray) -> FloatArray:
    """What is expected after an action.

    P(j) = sum_i b_i P(j | i, a)

    Args:
        belief: (n_before,) b, the probability of each state before.
        rows: (n_before, n_after) P(j | i, a), where each action leads from each of them.

    Returns:
        (n_after,) the probability of each state after the action.
    """
    return np.asarray(belief @ rows)


def condition(expected: FloatArray, log_likelihood: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What is believed after an observation.

    P(j | x) = P(j) p(x | j) / p(x),  p(x) = sum_j P(j) p(x | j)

    Args:
        expected: (..., n_states) P(j), before the observation.
        log_likelihood: (..., n_states) ln p(x | j), -inf where it is impossible; not for all that
            is expected.

    Returns:
        (..., n_states) the probability of each state given the observation, and (...,) ln p(x).
    """
    log_joint = np.log(np.maximum(expected, NOTHING)) + log_likelihood
    top = log_joint.max(axis=-1, keepdims=True)
    joint = np.exp(log_joint - top)
    total = joint.sum(axis=-1, keepdims=True)
    return joint / total, np.log(total[..., 0]) + top[..., 0]
