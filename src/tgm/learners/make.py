"""Choice of the learner, from the settings and the space of observations."""

from __future__ import annotations

from functools import partial

import numpy as np

from tgm.config import TGMConfig
from tgm.distributions import BoolArray
from tgm.errors import SpaceError
from tgm.learners.kind_search import GaussianLearner, KindSearchLearner
from tgm.learners.learner import Learner
from tgm.learners.limits import MOST_CONTINUOUS
from tgm.learners.mean_shift_learner import MeanShiftLearner
from tgm.learners.online import OnlineLearner
from tgm.learners.scale_search import ScaleSearchLearner


def make_learner(
    n_features: int, n_actions: int, config: TGMConfig, is_categorical: BoolArray | None = None
) -> Learner:
    """A learner that knows nothing yet.

    Args:
        n_features: length of an observation.
        n_actions: number of actions.
        config: the settings.
        is_categorical: (n_features,) which features are names by their space; none if not given.
    """
    if is_categorical is None:
        is_categorical = np.zeros(n_features, dtype=bool)
    if config.structure == "mean_shift":
        if is_categorical.any() or n_features > MOST_CONTINUOUS:
            raise SpaceError(
                f"an observation has {n_features} features, of which {int(is_categorical.sum())} "
                f"are categorical; structure 'mean_shift' wants a Box of at most {MOST_CONTINUOUS}"
                ": use 'evidence'"
            )
        return MeanShiftLearner(n_features, n_actions, config)

    make_gaussian = partial(_gaussian_learner, n_features, n_actions, config)
    return KindSearchLearner(is_categorical, n_actions, config, make_gaussian)


def _gaussian_learner(n_features: int, n_actions: int, config: TGMConfig) -> GaussianLearner:
    if config.bandwidth == "auto":
        return ScaleSearchLearner(n_features, n_actions, config)
    return OnlineLearner(n_features, n_actions, config)
