"""The settings and the space decide which learner is made."""

import numpy as np
import pytest

from tgm.config import TGMConfig
from tgm.errors import SpaceError
from tgm.learners.kind_search import KindSearchLearner
from tgm.learners.limits import MOST_CONTINUOUS
from tgm.learners.make import make_learner
from tgm.learners.mean_shift_learner import MeanShiftLearner
from tgm.learners.online import OnlineLearner
from tgm.learners.scale_search import ScaleSearchLearner

AMOUNT = np.array([0.5, 0.25])


def test_the_paper_has_its_own_learner_of_amounts():
    learner = make_learner(2, 3, TGMConfig.paper())
    assert isinstance(learner, MeanShiftLearner)
    assert learner.transitions.n_actions == 3
    assert isinstance(make_learner(MOST_CONTINUOUS, 3, TGMConfig.paper()), MeanShiftLearner)


@pytest.mark.parametrize(("n_features", "n_names"), [(2, 1), (2, 2), (MOST_CONTINUOUS + 1, 0)])
def test_and_not_of_names_nor_of_too_many_features(n_features, n_names):
    is_name = np.arange(n_features) < n_names
    with pytest.raises(SpaceError, match=f"{n_features} features, of which {n_names}"):
        make_learner(n_features, 3, TGMConfig.paper(), is_name)


@pytest.mark.parametrize(
    ("bandwidth", "kind"), [("auto", ScaleSearchLearner), (0.5, OnlineLearner)]
)
def test_a_bandwidth_that_is_given_needs_no_search(bandwidth, kind):
    learner = make_learner(2, 3, TGMConfig(bandwidth=bandwidth))
    assert isinstance(learner, KindSearchLearner)
    learner.begin(AMOUNT)
    assert isinstance(learner.inner, kind)
    assert learner.transition_counts.shape[0] == 3
    assert learner.means.tolist() == [AMOUNT.tolist()]
