"""The learner that the settings ask for."""

from __future__ import annotations

from tgm.config import TGMConfig
from tgm.learners.learner import Learner
from tgm.learners.mean_shift_learner import MeanShiftLearner
from tgm.learners.online import OnlineLearner
from tgm.learners.scale_search import ScaleSearchLearner


def make_learner(n_features: int, n_actions: int, config: TGMConfig) -> Learner:
    """A learner that knows nothing yet."""
    if config.structure == "mean_shift":
        return MeanShiftLearner(n_features, n_actions, config)
    if config.bandwidth == "auto":
        return ScaleSearchLearner(n_features, n_actions, config)
    return OnlineLearner(n_features, n_actions, config)
