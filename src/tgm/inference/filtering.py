"""The belief about the state: predict with an action, condition on an observation.

There is one belief. The learner uses these two functions at every step, `TGMAgent.predict` uses
them through the same `StepFilter`, and what they gave is recorded for the page.
"""

from __future__ import annotations

import numpy as np

from tgm.distributions import FloatArray

NOTHING = 1e-300  # a probability that is as good as zero, and has a logarithm
FEW = 15  # numbers; so many are faster one by one
IN_ORDER = 7  # numbers; NumPy adds up so few of them in their order


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
    top = np.maximum.reduce(log_joint, axis=-1, keepdims=True)
    joint = np.exp(log_joint - top)
    total = np.add.reduce(joint, axis=-1, keepdims=True)
    return joint / total, np.log(total[..., 0]) + top[..., 0]


def condition_step(
    belief: list[float], rows: list[list[float]], outlier_share: float, log_likelihood: list[float]
) -> tuple[list[list[float]], list[float], float]:
    """What is believed after a step: predict and condition, where the point may be an outlier.

    P(i, j | x) = P(j | x) P(i | j), P(i | j) = b_i P(j | i, a) / P(j)

    Args:
        belief: (n_before,) b, the probability of each state before.
        rows: (n_before, n_after) P(j | i, a), if the point is no outlier.
        outlier_share: probability that it is one.
        log_likelihood: (n_after + 1,) ln p(x | j), with that of an outlier last.

    Returns:
        (n_before, n_after) P(i, j | x), (n_after + 1,) P(j | x) with "an outlier" last, and
        ln p(x).
    """
    if len(belief) == 1 and len(log_likelihood) <= FEW:  # most steps
        expected = [(1.0 - outlier_share) * (belief[0] * p) for p in rows[0]]
        few, log_density = _condition_few([*expected, outlier_share], log_likelihood)
        return [few[:-1]], few, log_density
    before, table = np.array(belief), np.array(rows)
    expected = [*((1.0 - outlier_share) * predict(before, table)).tolist(), outlier_share]
    after, log_total = condition(np.array(expected), np.array(log_likelihood))
    joint = after[None, :-1]
    if len(belief) > 1:
        joint = before[:, None] * table / np.maximum(before @ table, NOTHING) * after[:-1]
    return joint.tolist(), after.tolist(), float(log_total)


def _condition_few(expected: list[float], log_likelihood: list[float]) -> tuple[list[float], float]:
    """`condition` of at most FEW states, in plain numbers: the same to the bit, in half the time.

    log and exp are NumPy's here too: others may round differently.
    """
    logs = np.log([p if p > NOTHING else NOTHING for p in expected]).tolist()
    log_joint = [log + more for log, more in zip(logs, log_likelihood, strict=True)]
    top = max(log_joint)
    joint = np.exp([log - top for log in log_joint]).tolist()
    total = _sum(joint)
    return [p / total for p in joint], float(np.log(total)) + top


def _sum(numbers: list[float]) -> float:
    """The sum of at most FEW numbers, rounded as by NumPy: it adds up the first eight in pairs."""
    total, rest = 0.0, numbers
    if len(numbers) > IN_ORDER:
        (a, b, c, d, e, f, g, h), rest = numbers[:8], numbers[8:]
        total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for number in rest:  # `sum` of Python 3.12 rounds otherwise
        total += number
    return total
