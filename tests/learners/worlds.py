"""Small lives of a learner, told step by step."""

import numpy as np

from tgm.config import TGMConfig
from tgm.learners.online import OnlineLearner

HERE, THERE = np.zeros(2), np.array([2.0, 0.0])


def two_places(**settings) -> OnlineLearner:
    """Action 0 goes to the other place; action 1 ends every second episode. Six episodes."""
    learner = OnlineLearner(2, 2, TGMConfig(bandwidth=0.5, **settings))
    for episode in range(6):
        learner.begin(HERE)
        learner.observe(0, 1.0, THERE, terminated=False)
        learner.observe(0, 2.0, HERE, terminated=False)
        learner.observe(1, 4.0 * (episode % 2), HERE, terminated=episode % 2 == 0)
    return learner
