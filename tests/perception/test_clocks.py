"""A clock is seen by its pace, and left out unless something depends on the time."""

import numpy as np
import pytest
from tests import oracles

from tgm.perception.clocks import (
    LEAST_STEPS,
    TIME_PARTS,
    clocks,
    echoes,
    have_same_pace,
    nats_of_time,
)
from tgm.perception.exact_relevance import RELEVANCE_NEEDED, ExactSteps

N_CELLS = 6


def walk(n, seed, change=10**9):
    """Episodes of 20 steps in a ring of cells; later than `change` the actions are exchanged."""
    rng = np.random.default_rng(seed)
    times = np.tile(np.arange(20.0), n // 20 + 1)[:n]
    cells, actions = rng.integers(0, N_CELLS, n), rng.integers(0, 2, n)
    moves = np.where(times < change, 2 * actions - 1, 1 - 2 * actions)
    after = (cells + moves) % N_CELLS
    reward = (after == 0).astype(float)
    ended = times == 19.0
    return ExactSteps(cells[:, None] * 1.0, actions, reward, after[:, None] * 1.0, ended), times


def test_every_step_adds_the_same_to_a_clock():
    before = np.column_stack([np.arange(10.0), np.arange(10.0) * -0.02, np.arange(10.0) ** 2])
    after = before + np.array([1.0, -0.02, 1.0])
    after[:, 2] = np.arange(1.0, 11.0) ** 2
    assert have_same_pace(before, after).tolist() == [True, True, False]
    after[3, 0] += 0.011
    assert have_same_pace(before, after).tolist() == [False, True, False]
    standing = np.full((10, 1), 3.0)
    assert not have_same_pace(standing, standing).any()


def test_a_pace_of_too_few_steps_or_times_is_none():
    before = np.arange(float(LEAST_STEPS))[:, None]
    assert clocks(before, before + 1.0).tolist() == [True]
    assert clocks(before[1:], before[1:] + 1.0).tolist() == [False]
    twice = np.tile([[0.0], [1.0]], (8, 1))
    assert clocks(twice, twice + 1.0).tolist() == [False]
    thrice = np.tile([[0.0], [1.0], [2.0]], (8, 1))
    assert clocks(thrice, thrice + 1.0).tolist() == [True]


def stacked(values, n):
    """Frames of values (n_steps, k), the oldest first, as they were before and after each step."""
    frames = np.concatenate([values[i : len(values) - n + 1 + i] for i in range(n)], axis=1)
    return frames[:-1], frames[1:]


def test_an_echo_says_what_another_feature_was():
    values = np.random.default_rng(0).normal(size=(20, 2))
    assert echoes(*stacked(values, 1)).tolist() == [0, 0]
    assert echoes(*stacked(values, 3)).tolist() == [2, 2, 1, 1, 0, 0]
    before, after = stacked(values, 3)
    after[5, 0] += 1e-9
    assert echoes(before, after).tolist() == [0, 2, 1, 1, 0, 0]


def test_what_hardly_changes_or_only_repeats_itself_is_no_echo():
    values = np.zeros((20, 1))
    values[-LEAST_STEPS + 1 :: 2] = 1.0  # it changes once less than is needed
    assert echoes(*stacked(values, 2)).tolist() == [0, 0]
    start = np.zeros((40, 2))  # a pixel that is lit where episodes begin, and one that never is
    start[::4, 0] = 1.0
    assert echoes(start, np.zeros((40, 2))).tolist() == [0, 0]
    ring = np.tile(np.eye(3), (16, 1))
    assert echoes(ring[:-1], ring[1:]).tolist() == [0, 0, 0]


@pytest.mark.parametrize("change", [10, 10**9])
def test_the_nats_of_time_are_those_of_urns(change):
    steps, times = walk(45, 1, change)
    ended = steps.ended.copy()
    ended[7] = True  # one end at another time, so that others are no end of the time alone
    steps = steps._replace(ended=ended)
    counted = ended & ~(times > times[~ended].max())
    after = [None if end else int(one) for one, end in zip(steps.after[:, 0], ended, strict=True)]
    seen = np.unique([one for one in after if one is not None]).tolist()
    outcomes = [
        steps.reward.astype(int).tolist(),
        counted.astype(int).tolist(),
        [None if one is None else seen.index(one) for one in after],
    ]
    wanted = oracles.nats_of_time(
        steps.before[:, 0].tolist(), steps.action.tolist(), outcomes, times.tolist(), TIME_PARTS
    )
    assert nats_of_time(steps, times) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [60, 250, 1000])
def test_nothing_depends_on_the_time_of_a_walk_although_it_ends_then(n, seed):
    steps, times = walk(n, seed)
    assert nats_of_time(steps, times) < 0.5
    assert nats_of_time(steps, times + 1e6) < 0.5


@pytest.mark.parametrize("seed", range(5))
def test_actions_that_are_exchanged_depend_on_the_time(seed):
    assert nats_of_time(*walk(120, seed, change=10)) > RELEVANCE_NEEDED


@pytest.mark.parametrize("seed", range(5))
def test_a_reward_at_one_time_depends_on_it(seed):
    steps, times = walk(100, seed)
    assert nats_of_time(steps._replace(reward=1.0 * (times == 4.0)), times) > RELEVANCE_NEEDED


@pytest.mark.parametrize("seed", range(5))
def test_an_end_before_the_last_time_depends_on_it(seed):
    steps, times = walk(300, seed)
    ended = (times == 10.0) & (np.random.default_rng(seed).random(300) < 0.5)
    assert nats_of_time(steps._replace(ended=ended), times) > RELEVANCE_NEEDED


def test_what_can_be_done_at_the_first_time_alone_depends_on_the_time():
    """A chain of 60 steps, as bsuite's umbrella: only the first action decides what is carried."""
    rng = np.random.default_rng(0)
    times = np.tile(np.arange(60.0), 8)
    actions = rng.integers(2, size=len(times))
    carried = np.repeat(actions.reshape(8, 60)[:, 0], 60).astype(float)
    before, after = np.where(times == 0.0, 0.0, carried), carried
    ended, reward = times == 59.0, rng.integers(2, size=len(times)).astype(float)
    steps = ExactSteps(before[:, None], actions, reward, after[:, None], ended)
    assert nats_of_time(steps, times) > 10.0
