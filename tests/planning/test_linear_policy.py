"""A policy that is linear in the features: the action of the highest score."""

import numpy as np

from tgm.planning.linear_policy import LinearPolicy

RNG = np.random.default_rng(0)
WEIGHTS, POINTS = RNG.normal(size=(3, 5)), RNG.normal(size=(50, 4))


def test_the_action_has_the_highest_score():
    by_hand = [max(range(3), key=lambda a: WEIGHTS[a, 0] + WEIGHTS[a, 1:] @ x) for x in POINTS]
    assert LinearPolicy(WEIGHTS).actions(POINTS).tolist() == by_hand


def test_what_it_does_is_worth_more_than_all_else_and_nothing_else_changes():
    policy, values = LinearPolicy(WEIGHTS), np.round(RNG.normal(size=(50, 3)))
    led = policy.leads(POINTS, values)
    actions = policy.actions(POINTS)
    assert (led.argmax(axis=1) == actions).all()
    assert (np.sort(led, axis=1)[:, -2] < led.max(axis=1)).all()  # ties are none any more
    np.testing.assert_allclose(led.max(axis=1), values.max(axis=1), rtol=1e-15, atol=1e-300)
    others = np.arange(3) != actions[:, None]
    np.testing.assert_array_equal(led[others], values[others])
