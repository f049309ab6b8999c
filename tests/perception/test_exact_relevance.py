"""An exact feature is left out if it is noise and nothing depends on it."""

import numpy as np
import pytest
from tests import oracles

from tgm.perception.exact_relevance import (
    RELEVANCE_NEEDED,
    ExactSteps,
    Tables,
    evidence_by_any_strength,
    evidence_of_rows,
    noise_features,
)

N_BITS = 8


def walk(rng, n=250, n_cells=12, n_bits=N_BITS):
    """A walk along a corridor, and bits that are drawn at each step: before, action, after."""
    cells, actions = [0], rng.integers(0, 2, n)
    for action in actions:
        cells.append(min(n_cells - 1, max(0, cells[-1] + (1 if action else -1))))
    bits = rng.integers(0, 2, (n + 1, n_bits))
    return np.column_stack([cells, bits]).astype(float), actions


def seen(points, actions, reward=None, ended=None):
    n = len(actions)
    reward = np.zeros(n) if reward is None else np.asarray(reward, dtype=float)
    ended = np.zeros(n, dtype=bool) if ended is None else np.asarray(ended, dtype=bool)
    return ExactSteps(points[:-1], actions, reward, points[1:], ended)


def left_out(steps, before=None):
    n_features = steps.before.shape[1]
    before = np.zeros(n_features, dtype=bool) if before is None else before
    return np.flatnonzero(noise_features(steps, before, may_grow=True)).tolist()


NOISE = list(range(1, 1 + N_BITS))


@pytest.mark.parametrize("base", [None, np.array([0.2, 1.5, 0.3])])
def test_the_evidence_of_rows_is_that_of_urns(base):
    rng = np.random.default_rng(0)
    contexts, target = rng.integers(0, 4, (30, 3)), rng.integers(0, 3, 30)
    found = evidence_of_rows(contexts, target, base)
    each = np.full(3, 1 / 3) if base is None else base
    wanted = [
        oracles.rows_log_probability(rows, target.tolist(), each) for rows in contexts.T.tolist()
    ]
    np.testing.assert_allclose(found, wanted)


def test_the_evidence_by_any_strength_is_the_mean_over_urns_like_the_common_row():
    rng = np.random.default_rng(2)
    contexts, target = rng.integers(0, 3, (12, 2)), np.array([0] * 7 + [1] * 4 + [2])
    common = np.array([7 + 1 / 3, 4 + 1 / 3, 1 + 1 / 3]) / 13
    for rows, found in zip(
        contexts.T.tolist(), evidence_by_any_strength(contexts, target), strict=True
    ):
        each = [
            oracles.rows_log_probability(rows, target.tolist(), strength * common)
            for strength in (0.5, 2.0, 8.0, 32.0, 1e6)
        ]
        assert found == pytest.approx(np.log(np.mean(np.exp(each))))


def test_the_odds_of_noise_are_those_of_urns_and_of_the_share_of_noise():
    points, actions = walk(np.random.default_rng(1), n=40, n_cells=3, n_bits=3)
    odds = Tables(seen(points, actions)).odds_of_noise()
    share = 1.0 / (1.0 + np.exp(-odds))
    prior = np.log((1.0 + share.sum()) / (1.0 + (1.0 - share).sum()))
    for feature, column in enumerate(points.T.astype(int).tolist()):
        nats = oracles.nats_for_noise(column[:-1], actions.tolist(), column[1:])
        assert odds[feature] == pytest.approx(prior + nats, abs=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_bits_of_noise_are_left_out_and_the_place_is_kept(seed):
    points, actions = walk(np.random.default_rng(seed))
    assert left_out(seen(points, actions)) == NOISE


def one_that_stays(kind, rng, points, actions):
    """(n + 1,) a feature that must not be left out."""
    n = len(points)
    return {
        "of an episode": np.repeat(rng.integers(0, 2, n), 10)[:n],
        "time": np.arange(n) % 10,
        "the action": np.concatenate([[0], actions]),
        "rare": np.arange(n) % 20 == 7,
        "sees the place": points[:, 0] >= 6,
        "many values": rng.integers(0, 40, n),
    }[kind]


@pytest.mark.parametrize(
    "kind", ["of an episode", "time", "the action", "rare", "sees the place", "many values"]
)
def test_a_feature_that_is_no_noise_or_can_not_be_judged_stays(kind):
    rng = np.random.default_rng(0)
    points, actions = walk(rng)
    points = np.column_stack([points, one_that_stays(kind, rng, points, actions)])
    assert left_out(seen(points, actions)) == NOISE


def test_a_bit_that_decides_the_reward_stays():
    points, actions = walk(np.random.default_rng(0))
    reward = points[:-1, 3] == actions
    assert left_out(seen(points, actions, reward)) == [1, 2, 4, 5, 6, 7, 8]


def test_a_bit_that_decides_amounts_of_reward_stays():
    rng = np.random.default_rng(0)
    points, actions = walk(rng)
    reward = points[:-1, 3] + rng.normal(0.0, 0.5, len(actions))
    assert left_out(seen(points, actions, reward)) == [1, 2, 4, 5, 6, 7, 8]


def test_a_bit_that_decides_the_end_stays():
    rng = np.random.default_rng(0)
    points, actions = walk(rng)
    ended = (points[:-1, 3] == 1) & (rng.random(len(actions)) < 0.2)
    assert left_out(seen(points, actions, ended=ended)) == [1, 2, 4, 5, 6, 7, 8]


def test_two_bits_that_decide_the_reward_together_stay():
    points, actions = walk(np.random.default_rng(0))
    reward = (points[:-1, 3] != points[:-1, 5]) == actions
    assert left_out(seen(points, actions, reward)) == [1, 2, 4, 6, 7, 8]


def test_a_bit_that_opens_a_door_stays():
    rng = np.random.default_rng(0)
    points, actions = walk(rng)
    cell = 0
    for step, action in enumerate(actions):
        is_shut = cell == 2 and action and points[step, 3] == 1
        cell = cell if is_shut else min(3, max(0, cell + (1 if action else -1)))
        points[step + 1, 0] = cell
    assert left_out(seen(points, actions)) == [1, 2, 4, 5, 6, 7, 8]


@pytest.mark.parametrize("is_paid", [True, False])
def test_a_bit_that_another_one_depends_on_stays(is_paid):
    points, actions = walk(np.random.default_rng(0))
    points[1:, 4] = points[:-1, 3]  # a bit is seen again one step later,
    reward = is_paid & (points[:-1, 4] == actions)  # and may decide the reward then
    assert left_out(seen(points, actions, reward)) == [1, 2, 5, 6, 7, 8]


def test_a_bit_comes_back_when_something_depends_on_it():
    points, actions = walk(np.random.default_rng(0))
    is_noise = np.arange(1 + N_BITS) > 0
    reward = np.where(np.arange(len(actions)) < 200, 0.0, points[:-1, 3] == actions)
    found = noise_features(seen(points, actions, reward), is_noise, may_grow=False)
    assert np.flatnonzero(found).tolist() == [1, 2, 4, 5, 6, 7, 8]
    points[:, 5] = np.arange(len(points)) // 9 % 2  # or when it is seen to persist
    found = noise_features(seen(points, actions, reward), is_noise, may_grow=False)
    assert np.flatnonzero(found).tolist() == [1, 2, 4, 6, 7, 8]


def test_one_bit_is_no_clear_case_and_too_many_features_are_kept():
    rng = np.random.default_rng(0)
    points, actions = walk(rng, n=40, n_bits=1)
    odds = Tables(seen(points, actions)).odds_of_noise()
    assert 0.0 < odds[1] < RELEVANCE_NEEDED
    assert left_out(seen(points, actions)) == []
    points, actions = walk(rng, n=64, n_bits=128)
    assert left_out(seen(points, actions)) == []
