"""Rewards of a world that flows: the form that the evidence chooses, and what is expected."""

import numpy as np
import pytest

from tgm.transition.flow_rewards import RewardLaw, has_found
from tgm.transition.flow_units import Steps

N = 60


def steps(seed: int = 0):
    rng = np.random.default_rng(seed)
    return rng.uniform(size=(N, 2)), rng.integers(3, size=N), rng.uniform(size=(N, 2))


FORMS = {
    "constant": (0, lambda z, a, x: np.full(N, -2.0)),
    "linear in the arrival": (1, lambda z, a, x: 3.0 * x[:, 0] - x[:, 1]),
    "linear in the departure": (1, lambda z, a, x: z[:, 1] - 4.0),
    "of the action": (1, lambda z, a, x: np.array([0.0, 5.0, -1.0])[a]),
    "quadratic": (2, lambda z, a, x: x[:, 0] * x[:, 1] + 0.5 * np.square(x[:, 0])),
}


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("name", FORMS)
def test_the_simplest_form_that_explains_rewards_is_chosen(name, unit):
    form, reward = FORMS[name]
    z, actions, arrival = steps()
    rewards, nobody = unit * reward(z, actions, arrival), np.zeros(N, dtype=bool)
    law = RewardLaw.of(z, actions, arrival, rewards, nobody, 3)
    assert law.forms == (form, 0)
    found = law.expected(z, actions, arrival, np.zeros(N))
    np.testing.assert_allclose(found, rewards, atol=2e-3 * unit)


def test_noise_is_a_constant():
    z, actions, arrival = steps()
    rewards = np.random.default_rng(1).normal(7.0, 1.0, size=N)
    law = RewardLaw.of(z, actions, arrival, rewards, np.zeros(N, dtype=bool), 3)
    assert law.forms == (0, 0)
    # What is believed before, zero, is worth a ten-thousandth of a step.
    assert law.weights[0].item() == pytest.approx(rewards.sum() / (N + 1e-4), rel=1e-9)


def test_steps_that_end_have_rewards_of_their_own():
    z, actions, arrival = steps()
    ended = arrival[:, 0] > 0.8
    rewards = np.where(ended, 100.0, -1.0)
    law = RewardLaw.of(z, actions, arrival, rewards, ended, 3)
    assert law.forms == (0, 0)
    assert [weights.item() for weights in law.weights] == [-1.0, 100.0]
    p_end = np.array([0.0, 0.25, 1.0])
    found = law.expected(z[:3], actions[:3], arrival[:3], p_end)
    np.testing.assert_allclose(found, [-1.0, 24.25, 100.0])


def test_an_end_that_was_never_seen_is_worth_nothing():
    z, actions, arrival = steps()
    law = RewardLaw.of(z, actions, arrival, np.ones(N), np.zeros(N, dtype=bool), 3)
    assert law.expected(z[:1], actions[:1], arrival[:1], np.ones(1)).tolist() == [0.0]


def test_without_steps_there_are_no_rewards():
    z, actions, arrival = steps()
    assert RewardLaw(3).expected(z, actions, arrival, np.full(N, 0.5)).tolist() == [0.0] * N


def test_two_levels_of_which_one_is_within_thresholds():
    rng, n = np.random.default_rng(0), 400
    arrival, actions = rng.uniform(-1.0, 1.0, size=(n, 2)), rng.integers(3, size=n)
    inside = (np.abs(arrival[:, 0]) < 0.4) & (arrival[:, 1] > 0.1)
    nobody = np.zeros(n, dtype=bool)
    for is_high in (inside, ~inside):
        reward = 2.0 * is_high - 0.1 * np.abs(actions - 1)
        law = RewardLaw.of(arrival, actions, arrival, reward, nobody, 3, np.eye(2))
        assert law.forms == (3, 0)
        found = law.expected(arrival, actions, arrival, np.zeros(n))
        np.testing.assert_allclose(found, reward, atol=2e-3)
        assert law.noise < 1e-3
        assert law.regions[0].n_finite == 3
    # Without directions, or with a boundary that is none of them, there is no region.
    assert RewardLaw.of(arrival, actions, arrival, reward, nobody, 3).forms != (3, 0)
    across = 1.0 * (arrival.prod(axis=1) > 0.0)
    assert RewardLaw.of(arrival, actions, arrival, across, nobody, 3, np.eye(2)).forms != (3, 0)


def test_noise_of_rewards_is_what_is_not_expected():
    z, actions, arrival = steps()
    rewards = np.random.default_rng(1).normal(7.0, 3.0, size=N)
    law = RewardLaw.of(z, actions, arrival, rewards, np.zeros(N, dtype=bool), 3)
    assert law.noise == pytest.approx(rewards.std(), rel=0.2)
    assert RewardLaw(3).noise == 0.0


def test_what_matters_is_more_than_the_costs_of_actions():
    def found(action, reward, ended):
        n = len(action)
        seen = np.zeros((n, 1))
        return has_found(
            Steps(seen, np.array(action), np.array(reward), seen, np.array(ended, dtype=bool))
        )

    assert not found([0, 1, 0], [-0.1, 0.0, -0.1], [0, 0, 0])  # actions cost
    assert not found([0, 1, 0], [-0.1, 0.0, -0.1], [0, 0, 1])  # an end is to do nothing
    assert found([0, 1, 0], [-0.1, 0.0, 0.9], [0, 0, 0])
    assert found([0, 0, 0], [-1.0, -1.0, -1.0], [0, 0, 1])  # to go on costs
    assert found([0, 1, 0], [1.0, 0.9, 1.0], [0, 1, 0])
    assert not found([0, 0, 0], [-1.0, -1.0, -1.0], [0, 0, 0])
