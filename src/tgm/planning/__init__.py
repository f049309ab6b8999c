"""Belief and transitions -> action values -> action."""

from tgm.planning.exploration.epsilon_greedy import epsilon_greedy, published_epsilon
from tgm.planning.exploration.greedy import greedy
from tgm.planning.exploration.softmax import softmax
from tgm.planning.exploration.strategy import draw
from tgm.planning.q_learning import BeliefQLearning, belief_q_update

__all__ = [
    "BeliefQLearning",
    "belief_q_update",
    "draw",
    "epsilon_greedy",
    "greedy",
    "published_epsilon",
    "softmax",
]
