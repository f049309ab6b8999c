"""Rows are trusted as far as what was seen fits where they are said to lead."""

import math

import numpy as np
import pytest

from tgm.config import TGMConfig
from tgm.inference.trust import trust_in_exact_rows, trust_in_rows
from tgm.learners.online import OnlineLearner
from tgm.memory.step import Step

BANDWIDTH = 0.6
DEVIATION = BANDWIDTH / 3


def world_of_two() -> OnlineLearner:
    learner = OnlineLearner(2, 2, TGMConfig(bandwidth=BANDWIDTH))
    for place in ([0.0, 0.0], [2.0, 0.0]):
        state = learner.world.add_state(0)
        learner.planner.birth(state)
        for _ in range(4):
            learner.world.states.add(state, np.array(place), 1.0)
    return learner


def go(learner: OnlineLearner, action: int, off: float, *, keep: bool = True) -> None:
    """A step from state 0 to state 1 that is seen `off` deviations from it."""
    arrival = np.array([2.0 + off * DEVIATION, 0.0])
    step = Step(np.zeros(2), [(0, 1.0)], action, -1.0, 0.0, arrival)
    step.entries, step.after = [(0, 1, 1.0)], [(1, 1.0)]
    learner.world.count(step, +1.0)
    if keep:
        learner.world.memory.keep(step, 1)


def trust(learner: OnlineLearner) -> np.ndarray:
    return trust_in_rows(learner.world, 2)


def test_a_step_counts_as_the_chance_of_lying_as_far():
    learner = world_of_two()
    go(learner, 0, 0.0)
    go(learner, 1, 3.0)
    # With two features the chance of lying beyond d deviations is exp(-d^2 / 2); the mean of four
    # points is uncertain by a quarter of their variance.
    assert trust(learner)[0].tolist() == pytest.approx([1.0, math.exp(-4.5 / 1.25)])
    assert trust(learner)[1].tolist() == [0.0, 0.0]


def test_what_is_only_in_the_counts_is_trusted():
    learner = world_of_two()
    go(learner, 1, 3.0)
    go(learner, 1, 3.0, keep=False)
    assert trust(learner)[0, 1] == pytest.approx(1.0 + math.exp(-4.5 / 1.25))


def test_the_least_trusted_is_tried_again_first():
    learner = world_of_two()
    for state in range(2):
        for action in range(2):
            learner.world.transitions.add(state, action, 1 - state, 3.0, -1.0, 0.0)
    go(learner, 0, 0.5)
    go(learner, 1, 4.0)
    learner.planner.see_reward(-1.0)
    rng, alive = np.random.default_rng(0), learner.world.states.alive
    learner.exploration.values(learner.planner, [(0, 1.0)], alive, 50, rng)
    values = learner.planner.sweeper.q
    # All four have three tries and no more: those of state 1 are the least certain, of equal trust.
    assert values[0].max() < learner.planner.highest
    assert (values[1] == learner.planner.highest).all()


def test_exact_rows_are_trusted_without_limit_until_chance_is_seen():
    learner = world_of_two()
    go(learner, 0, 0.0)
    go(learner, 0, 5.0)  # far off: but where states are exact, nothing is misread
    assert np.isinf(trust_in_exact_rows(learner.world, 2)).all()
    learner.world.transitions.add(0, 0, 0, 1.0, 0.0, 0.0)
    found = trust_in_exact_rows(learner.world, 2)
    np.testing.assert_array_equal(found, learner.world.transitions.certainty[:2])


def test_without_kept_steps_trust_is_certainty():
    learner = world_of_two()
    go(learner, 1, 3.0, keep=False)
    certainty = learner.world.transitions.certainty
    assert certainty[0, 1] == 1.0
    found = trust_in_rows(learner.world, 2)
    np.testing.assert_array_equal(found, certainty[:2])
    found += 1.0  # it is a copy
    np.testing.assert_array_equal(trust_in_rows(learner.world, 2), certainty[:2])
