"""Random rewards in rows: noted, planned with as a posterior mean, and forgotten again."""

import numpy as np
import pytest
from tests.transition.made import make

from tgm.transition.reward_noise import RewardNoise


def noisy(n_states: int = 12, deviation: float = 1.0):
    """A model of rows that were tried ten times each, with rewards at random about -1 or 5."""
    model, rng = make(n_states + 1), np.random.default_rng(0)
    for state in range(n_states):
        for _ in range(10):
            mean = 5.0 if state == 0 else -1.0
            model.observe(state, 0, state + 1, 1.0, mean + deviation * rng.normal(), 0.0)
    return model


def test_another_reward_at_the_same_outcome_is_noted():
    model = make()
    for outcome, reward in ((1, -1.0), (2, 4.0), (1, -1.0), (2, 4.0), (1, -1.0 + 1e-12)):
        model._note_reward((0, 0), outcome, reward)
    assert model.reward_moves[0, 0] == 0.0
    model._note_reward((0, 0), 1, 3.0)
    model._note_reward((0, 0), 1, 3.0)
    assert model.reward_moves[0, 0] == 1.0
    assert model.last_reward == {(0, 0): {1: 3.0, 2: 4.0}}


def test_rewards_that_never_vary_leave_no_noise():
    model = noisy(deviation=0.0)
    version = model.version
    model.learn_noise()
    assert model.noise is None
    assert model.version == version
    assert model.reward_error(3) is None
    assert model.range_of_rewards() is None
    assert model.reward[1, 0] == -1.0


def test_random_rewards_are_planned_with_as_a_posterior_mean():
    model = noisy()
    model.changed.clear()
    version = model.version
    model.learn_noise()
    assert model.noise_chance[:12, 0].min() > 0.9
    assert model.noise_chance[:, 1].max() == 0.0  # never tried
    assert model.noise.variance == pytest.approx(1.0, rel=0.3)
    mean, variance = model.noise.posterior(
        model.visits, model.reward_sum, np.zeros(model.visits.shape, dtype=bool)
    )
    tried = model.visits > 0
    off = np.abs(model.reward - mean)[tried] / np.sqrt(variance)[tried]
    assert off.max() <= 0.1  # standard errors by which a reward must move to be planned with
    assert model.changed
    assert model.version == version + 1
    error = model.reward_error(5)
    assert error.shape == (5, 2)
    np.testing.assert_allclose(error, (model.noise_chance * np.sqrt(variance))[:5])
    low, high = model.range_of_rewards()
    all_errors = model.reward_error(len(model.visits))
    assert low == pytest.approx((model.reward - all_errors)[tried].min())
    assert high == pytest.approx((model.reward + all_errors)[tried].max())
    assert high > 5.0 - 1.0
    assert low < -1.0


def test_one_more_try_moves_the_posterior_mean_of_its_row():
    model = noisy()
    model.learn_noise()
    model.observe(3, 0, 4, 1.0, 30.0, 0.0)
    visits, total = model.visits[3, 0], model.reward_sum[3, 0]
    mean, _ = model.noise.posterior(visits, total, np.asarray(False))
    assert model.reward[3, 0] == pytest.approx(float(mean), rel=0.01)
    assert model._posterior_reward((3, 0)) == pytest.approx(float(mean))
    assert model._posterior_reward((3, 1)) is None


def test_a_row_that_ends_at_most_tries_is_of_the_group_that_ends():
    model = make()
    noise = RewardNoise(1.0, np.array([0.0, 100.0]), np.array([1.0, 1.0]))
    model.noise = noise
    model.noise_chance[:2, 0] = 1.0
    for state, n_ends in ((0, 1), (1, 2)):
        for number in range(3):
            model.add(state, 0, 1, 1.0, 0.0, float(number < n_ends))
    assert model._ends()[:2, 0].tolist() == [False, True]
    model.noise_chance[:2, 0] = 1.0
    assert model._posterior_reward((0, 0)) == pytest.approx(0.0)
    assert model._posterior_reward((1, 0)) == pytest.approx(100.0 / 4)


@pytest.mark.parametrize(("chance", "is_noisy"), [(0.49, False), (0.51, True)])
def test_rewards_are_taken_for_random_if_that_is_likelier(chance, is_noisy):
    model = noisy()
    model.learn_noise()
    model.noise_chance[2, 0] = chance
    assert (model._posterior_reward((2, 0)) is not None) == is_noisy
    assert model._noisy()[2, 0] == is_noisy


def test_random_rows_say_nothing_of_noise_in_rewards():
    model = noisy()
    model.is_random[4, 0] = True
    model.learn_noise()
    assert model.noise_chance[4, 0] == 0.0
    assert model.noise_chance[5, 0] > 0.9


def test_a_row_whose_rewards_settle_is_planned_with_its_mean_again():
    model = noisy()
    model.learn_noise()
    assert model._noisy()[1, 0]
    model.reward_moves[1, 0] = 0.0
    for _ in range(300):
        model.observe(1, 0, 2, 1.0, 7.0, 0.0)
    model.reward_moves[1, 0] = 0.0
    model.learn_noise()
    assert not model._noisy()[1, 0]
    mean = model.reward_sum[1, 0] / model.visits[1, 0]
    assert model.reward[1, 0] == pytest.approx(mean, rel=0.01)
