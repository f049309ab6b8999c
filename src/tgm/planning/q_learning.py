"""Q-learning over beliefs (section 5.2)."""

from __future__ import annotations

import numpy as np

from tgm.distributions import FloatArray
from tgm.perception.component_map import ComponentMap


def belief_q_update(
    q: FloatArray,
    belief: FloatArray,
    action: int,
    reward: float,
    transition: FloatArray,
    *,
    terminated: bool,
    learning_rate: float,
    gamma: float,
) -> FloatArray:
    """New values of `action` in every state after one step.

    q(a, s) += alpha Q(s) [ r + gamma sum_s' P(s' | s, a) max_a' q(a', s') - q(a, s) ]

    The future term is dropped where the episode terminated, and only there (erratum 10: a time
    limit is not an end of the world).

    Args:
        q: (n_actions, n_states) action values.
        belief: (n_states,) Q(s), the belief in which the action was taken.
        action, reward, terminated: the step that was made in this belief.
        transition: (n_states, n_states) P(next state | state) for this action.

    Returns:
        (n_states,) the new row q[action].
    """
    target: FloatArray | float = reward
    if not terminated:
        target = reward + gamma * (transition @ q.max(axis=0))
    return np.asarray(q[action] + learning_rate * belief * (target - q[action]))


class BeliefQLearning:
    """Owner of the action values q, (n_actions, n_states); they start at zero."""

    def __init__(self, n_actions: int, learning_rate: float, gamma: float) -> None:
        """Start without states."""
        self.q = np.zeros((n_actions, 0))
        self._learning_rate = learning_rate
        self._gamma = gamma

    def observe(
        self,
        belief: FloatArray,
        action: int,
        reward: float,
        transition: FloatArray,
        *,
        terminated: bool,
    ) -> None:
        """Learn from one step; transition is (n_actions, n_states, n_states)."""
        self.q[action] = belief_q_update(
            self.q,
            belief,
            action,
            reward,
            transition[action],
            terminated=terminated,
            learning_rate=self._learning_rate,
            gamma=self._gamma,
        )

    def apply(self, change: ComponentMap) -> None:
        """Follow a change of components; newborn states start at zero, the others keep their q.

        Erratum 11: the values of components that are not fixed were reset at every learning step.
        """
        self.q = change.carry_values(self.q, newborn=0.0)
