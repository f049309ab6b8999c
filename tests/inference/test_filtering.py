"""Predict and condition, against the enumeration of every path."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import enumerated_filter

from tgm.inference.filtering import condition, condition_step, predict


def random_world(seed: int, n_states: int = 3, n_steps: int = 4):
    rng = np.random.default_rng(seed)
    start = rng.dirichlet(np.ones(n_states))
    rows = rng.dirichlet(np.ones(n_states), size=(n_steps, n_states))
    log_likelihood = rng.normal(scale=4.0, size=(n_steps + 1, n_states))
    return start, rows, log_likelihood


@given(st.integers(0, 2**32 - 1))
def test_the_belief_after_some_steps_is_that_of_all_paths(seed):
    start, rows, log_likelihood = random_world(seed)
    belief, total = condition(start, log_likelihood[0])
    for row, observed in zip(rows, log_likelihood[1:], strict=True):
        belief, log_density = condition(predict(belief, row), observed)
        total = total + log_density
    expected, probability = enumerated_filter(start, rows, np.exp(log_likelihood))
    np.testing.assert_allclose(belief, expected, rtol=1e-9)
    assert total == pytest.approx(math.log(probability), abs=1e-9)


def test_densities_beyond_floats_are_no_obstacle():
    expected = np.array([0.5, 0.25, 0.25])
    for shift in (-1e6, 0.0, 1e6):
        belief, log_density = condition(expected, np.array([shift, shift + math.log(2), -math.inf]))
        np.testing.assert_allclose(belief, [0.5, 0.5, 0.0])
        assert log_density == pytest.approx(shift)


def test_several_observations_at_once_are_one_by_one():
    rng = np.random.default_rng(0)
    expected, log_likelihood = rng.dirichlet(np.ones(4), size=5), rng.normal(size=(5, 4))
    beliefs, densities = condition(expected, log_likelihood)
    for index in range(5):
        belief, density = condition(expected[index], log_likelihood[index])
        np.testing.assert_allclose(beliefs[index], belief)
        assert densities[index] == pytest.approx(density)


def test_what_is_not_believed_before_leads_nowhere():
    rows = np.array([[0.9, 0.1], [0.2, 0.8]])
    np.testing.assert_allclose(predict(np.array([0.5, 0.0]), rows), [0.45, 0.05])
    assert not predict(np.zeros(2), rows).any()


@pytest.mark.parametrize("n_before", [1, 3])
@pytest.mark.parametrize("n_after", [1, 2, 5, 6, 7, 8, 12, 14, 15, 20])
def test_a_step_is_predicted_and_conditioned_with_outliers(n_before, n_after):
    rng = np.random.default_rng(n_after)
    belief, share = rng.dirichlet(np.ones(n_before)), 0.03
    rows = rng.dirichlet(0.1 * np.ones(n_after), size=n_before)
    log_likelihood = -30.0 * rng.random(n_after + 1)
    joint, after, log_density = condition_step(
        belief.tolist(), rows.tolist(), share, log_likelihood.tolist()
    )
    expected = np.append((1.0 - share) * predict(belief, rows), share)
    wanted, total = condition(expected, log_likelihood)
    assert (after, log_density) == (wanted.tolist(), total)  # to the bit
    all_ways = belief[:, None] * rows * (1.0 - share) * np.exp(log_likelihood[:-1])
    np.testing.assert_allclose(joint, all_ways / np.exp(total))
