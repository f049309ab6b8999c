"""Which plan takes over: that of better imagined episodes, in noise with legs."""

import numpy as np
import pytest

from tgm.learners import flow_comparison
from tgm.learners.flow_comparison import better_at_first, better_later

PLACES = np.zeros((3, 2))


class Model:
    def __init__(self, has_noise):
        self.has_noise = has_noise


class Worth:
    """A plan of which is known what it is worth."""

    most_imagined, outlook = 0.0, None

    def __init__(self, worth, *, noise=False):
        self.worth, self.model = worth, Model(noise)

    def imagined_return(self, outlook, places, enough=0.0):
        return self.worth


@pytest.fixture(autouse=True)
def legs(monkeypatch):
    """With legs every plan is worth 5 more."""

    def more(plan):
        return Worth(plan.worth + 5.0, noise=plan.model.has_noise)

    monkeypatch.setattr(flow_comparison, "with_legs", more)


@pytest.mark.parametrize(("known", "is_better"), [(-55.2, True), (-55.05, False), (-40.0, False)])
def test_late_a_plan_takes_over_only_if_it_is_clearly_better(known, is_better):
    plan = Worth(-55.0)
    found, worth = better_later(known, plan, PLACES, 0.1)
    assert (found is plan) == is_better
    assert (found is None) != is_better
    assert worth == (-55.0 if is_better else known)


@pytest.mark.parametrize(("noise", "worth"), [(True, -50.0), (False, -55.0)])
def test_in_noise_a_plan_with_legs_may_take_over(noise, worth):
    plan = Worth(-55.0, noise=noise)
    assert better_later(-57.0, plan, PLACES, 0.1)[1] == worth
    assert better_at_first(None, plan, PLACES, 0.1)[1] == worth


def test_with_nothing_to_gain_there_are_no_legs():
    plan = Worth(0.0, noise=True)
    assert better_at_first(None, plan, PLACES, 0.1) == (plan, 0.0)


@pytest.mark.parametrize(("known", "stays"), [(-54.95, False), (-54.85, True)])
def test_at_first_the_best_plan_stays_only_if_it_is_clearly_better(known, stays):
    best, plan = Worth(known), Worth(-55.0)
    found, worth = better_at_first(best, plan, PLACES, 0.1)
    assert (found is None) == stays
    assert worth == (known if stays else -55.0)
