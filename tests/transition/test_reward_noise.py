"""Random rewards: the evidence for them, and what the rewards of a row are worth then."""

import numpy as np
import pytest
from tests.oracles import (
    expected_reward_by_grid,
    moves_log_probability,
    row_means_log_evidence,
)

from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.perception.component_map import ComponentMap
from tgm.transition import sparse_file
from tgm.transition.chance import MISREAD_PRIOR, RANDOM_ROWS
from tgm.transition.reward_noise import (
    SPREADS,
    RewardNoise,
    first_shares,
    learn_noise,
    log_odds_of_noise,
    probability_of_noise,
)
from tgm.transition.sparse import SparseTransitions

GAMMA = 0.9


def rewards_of_rows(rng, n_rows, spread=1.0, noise=2.0):
    """Rows of 1 to 6 rewards about means of their own."""
    means = rng.normal(3.0, spread, size=n_rows)
    return [list(rng.normal(mean, noise, size=rng.integers(1, 7))) for mean in means]


def sums_of(rows):
    return tuple(
        np.array([sum(reward**power for reward in row) for row in rows]) for power in (0, 1, 2)
    )


@pytest.mark.parametrize(
    "moves", [[], [True], [False], [True, True], [True, False, False, True, False]]
)
def test_the_odds_are_those_of_two_urns(moves):
    tries = np.array([float(len(moves) + 1)])
    odds = log_odds_of_noise(np.array([float(sum(moves))]), tries)
    wrong, right = MISREAD_PRIOR
    by_mistake = moves_log_probability(moves, (2 * wrong, right - wrong))
    expected = moves_log_probability(moves, (1, 1)) - by_mistake
    assert odds[0] == pytest.approx(expected, abs=1e-9)


def test_a_row_that_was_taken_apart_has_no_more_moves_than_tries():
    odds = log_odds_of_noise(np.array([5.0, -0.1]), np.array([2.0, 3.0]))
    np.testing.assert_allclose(odds, log_odds_of_noise(np.array([1.0, 0]), np.array([2.0, 3.0])))


@pytest.mark.parametrize("seed", range(3))
def test_the_spread_of_means_is_weighed_by_the_evidence_of_all_rewards(seed):
    rows = rewards_of_rows(np.random.default_rng(seed), 6)
    tries, total, square = sums_of(rows)
    noise = learn_noise(tries, total, square, np.zeros(6, dtype=bool))
    free = sum(len(row) - 1 for row in rows)
    within = sum((reward - np.mean(row)) ** 2 for row in rows for reward in row)
    assert noise.variance == pytest.approx(within / free)
    evidence = np.array(
        [row_means_log_evidence(rows, noise.variance, s * noise.variance) for s in SPREADS]
    )
    weight = np.exp(evidence - evidence.max())
    spread = float(weight @ SPREADS / weight.sum()) * noise.variance
    assert noise.spread[0] == pytest.approx(spread, rel=1e-3)
    precision = 1.0 / (spread + noise.variance / tries)
    assert noise.centre[0] == pytest.approx(precision @ (total / tries) / precision.sum(), rel=1e-3)


def test_the_expected_reward_is_the_posterior_mean():
    noise = RewardNoise(4.0, np.array([1.0, -2.0]), np.array([0.5, 9.0]))
    rewards = [3.0, 5.5, -1.0]
    for group in (0, 1):
        mean, variance = noise.posterior(
            np.array([3.0]), np.array([sum(rewards)]), np.array([bool(group)])
        )
        expected = expected_reward_by_grid(
            rewards, 4.0, float(noise.centre[group]), float(noise.spread[group])
        )
        assert (mean[0], variance[0]) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_the_unit_of_rewards_does_not_matter(unit):
    rows = rewards_of_rows(np.random.default_rng(5), 8)
    ends = np.arange(8) % 2 == 0
    plain = learn_noise(*sums_of(rows), ends)
    scaled = learn_noise(*sums_of([[unit * r for r in row] for row in rows]), ends)
    assert scaled.variance == pytest.approx(unit**2 * plain.variance)
    np.testing.assert_allclose(scaled.centre, unit * plain.centre, rtol=1e-6)
    np.testing.assert_allclose(scaled.spread, unit**2 * plain.spread, rtol=1e-6)


def test_the_share_of_random_rewards_is_learned_for_rows_that_end_apart():
    """A row tried once is expected to be what the others of its group are."""
    moves, tries = np.array([4.0, 4.0, 4.0, 0.0, 0.0, 0.0]), np.array([5.0, 5, 5, 5, 5, 1])
    ends = np.array([True, True, True, False, False, True])
    probability, shares = probability_of_noise(moves, tries, ends, first_shares())
    assert (probability[:3] > 0.99).all()
    assert (probability[3:5] < 0.01).all()
    assert probability[5] == pytest.approx(shares[1])
    assert shares[1] > 5 * RANDOM_ROWS
    assert shares[0] < RANDOM_ROWS


def tried(rewards, end=0.0, model=None, key=(0, 0)):
    """A model in which one row brought these rewards."""
    if model is None:
        model = SparseTransitions(2, GAMMA)
        model.make_room(3)
    for reward in rewards:
        model.observe(*key, 1, 1.0, reward, end)
    return model


def test_the_same_rewards_are_no_noise():
    model = tried([1.0] * 9)
    tried([0.1 + 0.2, 0.3, 0.3, 0.1 + 0.2] * 3, model=model, key=(1, 0))  # rounding
    model.learn_noise()
    assert model.noise is None
    assert model.reward_error(3) is None
    assert not model.reward_moves.any()
    assert model.reward[0, 0] == 1.0


def test_rewards_that_go_with_outcomes_are_no_noise():
    """A slip that misses the goal has another reward, each time the same."""
    model = SparseTransitions(2, GAMMA)
    model.make_room(3)
    for end in (0.0, 1.0) * 8:
        model.observe(0, 0, 2 if end else 1, 1.0, 10.0 * end, end)
    model.learn_noise()
    assert model.noise is None


def test_one_misread_reward_in_many_is_no_noise():
    model = tried([1.0] * 6 + [5.0] + [1.0] * 6)
    for key in ((0, 1), (1, 0), (1, 1)):
        tried([1.0] * 4, model=model, key=key)
    for _ in range(9):
        model.learn_noise()
    assert model.reward_moves[0, 0] == 2.0
    assert model.noise is None
    assert model.reward[0, 0] == pytest.approx(17.0 / 13.0)


def test_a_noisy_row_of_few_tries_is_drawn_to_the_others():
    rng = np.random.default_rng(0)
    model = None
    for action in (0, 1):
        for state in (0, 1):
            model = tried(rng.normal(1.0, 3.0, size=20), model=model, key=(state, action))
    tried([7.0], model=model, key=(2, 0))
    model.changed.clear()
    model.learn_noise()
    assert 2 in model.changed  # to be planned with again
    assert model.noise.variance == pytest.approx(9.0, rel=0.5)
    assert model.reward[2, 0] < 5.0
    error = model.reward_error(3)
    assert error[2, 0] > 1.1 * error[0, 0] > 0.0
    assert error[2, 1] == 0.0  # never tried
    low, high = model.range_of_rewards()
    assert low < model.reward[0, 0] < model.reward[2, 0] < high


def test_a_row_that_changes_its_state_forgets_its_last_rewards():
    model = tried([1.0, 2.0, 3.0])
    assert model.last_reward == {(0, 0): {1: 3.0}}
    model.apply(ComponentMap(3, 3, np.array([0, 0, 2]), np.arange(3), np.ones(3)))
    assert model.last_reward == {}
    assert model.reward_moves[0, 0] == 2.0
    model.forget_row(0, 0)
    assert not model.reward_moves.any()


def noisy_model():
    rng = np.random.default_rng(1)
    model = tried(rng.normal(1.0, 3.0, size=20))
    tried(rng.normal(2.0, 3.0, size=9), 1.0, model, (2, 1))
    model.learn_noise()
    assert model.noise is not None
    return model


def test_what_is_known_of_random_rewards_survives_a_file():
    model = noisy_model()
    copy = SparseTransitions(2, GAMMA)
    sparse_file.restore(copy, ArrayReader(sparse_file.to_arrays(model)), 3)
    for both in (model, copy):
        tried([4.0, 4.5], model=both)
        both.learn_noise()
    assert copy.last_reward == model.last_reward
    assert copy.noise.variance == model.noise.variance
    for name in ("reward", "reward_moves", "noise_chance", "noise_shares"):
        np.testing.assert_array_equal(getattr(copy, name), getattr(model, name))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("noise", lambda values: values[:2]),
        ("noise", lambda values: -values),
        ("noise_shares", lambda values: values * 0.0),
        ("noise_chance", lambda values: values + 1.5),
        ("last_reward.state", lambda values: values + 100),
    ],
)
def test_a_file_with_impossible_noise_is_refused(name, change):
    arrays = sparse_file.to_arrays(noisy_model())
    arrays[name] = change(arrays[name])
    with pytest.raises(DataError):
        sparse_file.restore(SparseTransitions(2, GAMMA), ArrayReader(arrays), 3)
