"""The competition of scales: which learners are tried, and which one answers."""

from types import SimpleNamespace

import numpy as np
import pytest

from tgm.learners.scale_rivals import STRAINED, Rival, best_rival
from tgm.structure.scale_choice import ScaleChoice
from tgm.structure.scale_evidence import FirstSteps

STEPS = FirstSteps(np.random.default_rng(0).normal(size=(20, 3)), np.zeros(20, dtype=np.intp))
STRAINED_FEATURES = np.array([True, False, False])


def choice(first: float, relevant=(True, True, True)) -> ScaleChoice:
    deviation = np.array([first, 1.0, 1.0])
    return ScaleChoice(deviation, np.ones(3), np.array(relevant), np.zeros(3))


def rival(scale: ScaleChoice, log_evidence: float, covariance=None, weight=(2.0,)) -> Rival:
    """A rival whose states have so many points each; a free slot holds one that is not counted."""
    points, alive = np.array([*weight, 1.0]), np.arange(len(weight))
    states = SimpleNamespace(prior_covariance=covariance, weight=points, alive=alive)
    world = SimpleNamespace(states=states)
    return Rival(scale, SimpleNamespace(log_evidence=log_evidence, world=world), [])


def competition(evidence: dict[float, float]):
    """Learners whose evidence depends on the first deviation, and what was tried."""
    tried: list[float] = []

    def learn(scale: ScaleChoice) -> Rival:
        first = round(float(scale.deviation[0]), 6)
        tried.append(first)
        np.testing.assert_array_equal(scale.deviation[1:], 1.0)
        return rival(scale, evidence.get(first, -5.0))

    return learn, tried


def test_narrower_scales_are_tried_while_they_are_better():
    learn, tried = competition({0.75: 10.0, 0.5625: 20.0})
    best = best_rival(rival(choice(1.0), 0.0), None, STRAINED_FEATURES, STEPS, learn)
    assert best.choice.deviation[0] == pytest.approx(0.5625)
    assert tried == pytest.approx([0.75, 0.5625, 0.421875, 0.28125])


def test_one_that_is_much_narrower_may_be_better_where_the_next_one_is_not():
    learn, _ = competition({0.5: 10.0})
    best = best_rival(rival(choice(1.0), 0.0), None, STRAINED_FEATURES, STEPS, learn)
    assert best.choice.deviation[0] == pytest.approx(0.5)


def test_half_the_width_is_tried_however_far_behind_three_quarters_are():
    learn, tried = competition({0.75: -100.0, 0.5: 10.0})
    best = best_rival(rival(choice(1.0), 0.0), None, STRAINED_FEATURES, STEPS, learn)
    assert best.choice.deviation[0] == pytest.approx(0.5)
    assert tried == pytest.approx([0.75, 0.5, 0.375, 0.25])


def test_a_rival_must_be_clearly_better():
    learn, tried = competition({0.75: 2.9, 0.5: 2.9})
    now = rival(choice(1.0), 0.0)
    assert best_rival(now, None, STRAINED_FEATURES, STEPS, learn) is None
    assert len(tried) == 2


@pytest.mark.parametrize(("nats", "is_chosen"), [(-2.9, False), (2.9, False), (3.1, True)])
def test_clearly_better_is_by_three_nats(nats, is_chosen):
    learn, _ = competition({})
    now, proposed = rival(choice(1.0), 0.0), rival(choice(1.2), nats)
    found = best_rival(now, proposed, STRAINED_FEATURES, STEPS, learn)
    assert found is (proposed if is_chosen else None)


@pytest.mark.parametrize(
    ("relevant", "nats"), [((True, True, True), 9.0), ((True, False, True), 7.0)]
)
def test_a_state_that_was_seen_once_costs_a_nat_for_each_number(relevant, nats):
    """Two more of them, with two or three numbers each, and the three nats of before."""
    learn, _ = competition({})
    now = rival(choice(1.0, relevant), 0.0, weight=(1.0, 5.0))
    for more, is_chosen in ((-0.1, False), (0.1, True)):
        narrow = rival(choice(0.5, relevant), nats + more, weight=(1.0, 1.0, 1.0, 2.0))
        found = best_rival(now, narrow, np.zeros(3, dtype=bool), STEPS, learn)
        assert (found is narrow) == is_chosen


def test_a_wider_scale_wins_where_the_narrow_one_sees_most_states_once():
    learn, _ = competition({})
    now, wide = rival(choice(0.5), 0.0, weight=(1.0,) * 5), rival(choice(1.0), -5.0)
    assert best_rival(now, wide, STRAINED_FEATURES, STEPS, learn) is wide


def test_the_scale_of_the_small_model_is_one_of_the_rivals():
    learn, _ = competition({})
    now, proposed = rival(choice(1.0), 0.0), rival(choice(1.2), 10.0)
    assert best_rival(now, proposed, STRAINED_FEATURES, STEPS, learn) is proposed
    worse = rival(choice(1.2), -10.0)
    assert best_rival(now, worse, STRAINED_FEATURES, STEPS, learn) is None


def test_features_that_tell_no_states_apart_count_with_their_common_density():
    one = rival(choice(1.0, relevant=(True, True, False)), -30.0)
    assert one.log_evidence(STEPS) == pytest.approx(
        -30.0 + STEPS.log_common(np.array([False, False, True])).sum()
    )


def test_states_wider_than_their_scale_are_strained():
    covariance = np.diag([(1.01 * STRAINED * 2.0) ** 2, 1.0])
    one = rival(choice(2.0, relevant=(True, False, True)), 0.0, covariance)
    assert one.strained.tolist() == [True, False, False]


def test_states_that_are_narrow_for_a_typical_step_are_not_strained():
    """A fifth of a typical step: places of a smaller deviation do not overlap."""
    for learned, is_strained in ((0.19, False), (0.21, True)):
        one = rival(choice(0.1), 0.0, np.diag([learned**2, 1.0, 1.0]))
        assert one.strained.tolist() == [is_strained, False, False]
