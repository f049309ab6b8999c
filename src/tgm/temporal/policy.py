"""Plans in a learned world: values of actions in states, and what to do where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tgm.distributions import FloatArray

MOST_SWEEPS = 100_000
CLOSE_ENOUGH = 1e-10  # of the largest value
TRIED_IN_LOG = 0.5  # tries from which an action is known in a state


@dataclass(frozen=True, eq=False)
class Plan:
    """Values of a world model.

    Attributes:
        q_values: (n_states, n_actions) expected discounted reward of each action, then of the best
            ones; -inf where an action was never tried, unless none was.
        actions: (n_states,) the best action, as the log calls it.
        values: (n_states,) of the best action.
    """

    q_values: FloatArray
    actions: tuple[Any, ...]
    values: FloatArray


def plan(
    transition: FloatArray,
    reward: FloatArray,
    end: FloatArray,
    tries: FloatArray,
    action_values: tuple[Any, ...],
    gamma: float,
) -> Plan:
    """Value iteration among actions that were tried.

    Args:
        transition: (n_actions, n_states, n_states) rows sum to one.
        reward: (n_actions, n_states) expected.
        end: (n_actions, n_states) probability that the episode ends.
        tries: (n_actions, n_states) how often each action was tried in each state.
        action_values: (n_actions,) what the log calls the actions.
        gamma: discount of a step, below 1.
    """
    is_known = tries >= TRIED_IN_LOG
    is_known |= ~is_known.any(axis=0)
    values = np.zeros(transition.shape[1])
    goes_on = gamma * (1.0 - end)
    for _ in range(MOST_SWEEPS):
        q = reward + goes_on * (transition @ values)
        best = np.where(is_known, q, -np.inf).max(axis=0)
        is_over = np.abs(best - values).max() <= CLOSE_ENOUGH * max(1.0, np.abs(best).max())
        values = best
        if is_over:
            break
    q = np.where(is_known, reward + goes_on * (transition @ values), -np.inf)
    chosen = tuple(action_values[index] for index in q.argmax(axis=0).tolist())
    return Plan(q.T, chosen, q.max(axis=0))
