"""Belief and transitions -> action values -> action."""

from tgm.planning.exploration import epsilon_greedy, greedy, published_epsilon, softmax
from tgm.planning.q_learning import BeliefQLearning, belief_q_update

__all__ = [
    "BeliefQLearning",
    "belief_q_update",
    "epsilon_greedy",
    "greedy",
    "published_epsilon",
    "softmax",
]
