"""The Dirichlet: batches, hand-worked numbers, and divergences that are never negative."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import random_belief

from tgm.distributions import dirichlet


def test_dirichlet_works_over_leading_axes():
    concentration = np.random.default_rng(0).gamma(2.0, size=(4, 3, 5))
    other = concentration[::-1, ::-1]
    assert dirichlet.log_normaliser(concentration).shape == (4, 3)
    assert dirichlet.kl(concentration, other)[1, 2] == pytest.approx(
        dirichlet.kl(concentration[1, 2], other[1, 2])
    )
    np.testing.assert_allclose(dirichlet.mean(concentration).sum(axis=-1), 1)
    np.testing.assert_array_equal(dirichlet.mean(np.array([1.0, 3.0])), [0.25, 0.75])
    np.testing.assert_array_equal(
        dirichlet.expected_log(concentration)[3, 0], dirichlet.expected_log(concentration[3, 0])
    )


def test_normaliser_and_logarithms_by_hand():
    # Gamma(2) Gamma(3) / Gamma(5) = 2 / 24; psi(2) - psi(5) = -(1/2 + 1/3 + 1/4)
    assert dirichlet.log_normaliser(np.array([2.0, 3.0])) == pytest.approx(math.log(2 / 24))
    expected = dirichlet.expected_log(np.array([2.0, 3.0]))
    np.testing.assert_allclose(expected, [-13 / 12, -7 / 12])


def test_divergence_by_hand_and_its_direction():
    # Of Beta(2, 1), density 2 x: E[ln 2 x] = ln 2 - 1/2. Of the uniform: E[-ln 2 x] = 1 - ln 2.
    line, flat = np.array([2.0, 1.0]), np.array([1.0, 1.0])
    assert dirichlet.kl(line, flat) == pytest.approx(math.log(2) - 0.5)
    assert dirichlet.kl(flat, line) == pytest.approx(1 - math.log(2))


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_divergences_are_zero_for_equals_and_never_negative(seed, n):
    rng = np.random.default_rng(seed)
    p, q = (random_belief(rng, n, 1) for _ in range(2))
    assert dirichlet.kl(p.d, q.d) >= -1e-12
    assert abs(dirichlet.kl(p.d, p.d)) < 1e-12
