"""Estimates of splits, against probabilities multiplied row by row."""

from __future__ import annotations

import numpy as np
import pytest

import tgm
from tgm.temporal.proposals import order_gain


def log_urn(draws, concentration):
    """ln probability of draws of 0 and 1, one after the other: each by the counts before it."""
    counts, total = np.full(2, concentration), 0.0
    for draw in draws:
        total += np.log(counts[draw] / counts.sum())
        counts[draw] += 1.0
    return total


def test_the_gain_of_order_is_that_of_draws_one_by_one():
    halves = np.array([0, 0, 1, 1, 1, 0, 1, 0, 0, 1])
    steps = [np.array([0, 2, 3, 5]), np.array([1, 6, 7, 8])]  # rows 4 and 5 are not neighbours
    want = -log_urn([halves[row + 1] for rows in steps for row in rows], 1.0)
    for rows in steps:
        for half in (0, 1):
            want += log_urn([halves[row + 1] for row in rows if halves[row] == half], 0.4)
    found = order_gain(0.4, np.ones(10), halves.astype(float), steps)
    assert found == pytest.approx(want, abs=1e-12)


def test_rows_of_other_states_have_no_order():
    halves, steps = np.tile([0.0, 1.0], 10), [np.arange(19)]
    assert order_gain(0.5, np.ones(20), halves, steps) > 5.0
    assert order_gain(0.5, np.zeros(20), halves, steps) == 0.0


@pytest.mark.parametrize("seed", [11, 12, 13])
def test_three_states_that_last_are_found_in_a_short_sequence(seed):
    rng = np.random.default_rng(seed)
    states = [0]
    for _ in range(299):
        states.append(
            int(rng.choice([s % 3 for s in range(states[-1], states[-1] + 3)], p=[0.8, 0.1, 0.1]))
        )
    points = np.array([[0, 0], [3, 0], [0, 3]])[states] + rng.normal(size=(300, 2))
    assert tgm.TemporalMixture().fit(points).n_states_ == 3
