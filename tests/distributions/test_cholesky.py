"""Factors of positive definite matrices against their inverses, and matrices that have none."""

import numpy as np
import pytest
from tests.oracles import random_covariance

from tgm.distributions.cholesky import factorise
from tgm.errors import DataError


@pytest.fixture
def matrices():
    rng = np.random.default_rng(0)
    return np.array([random_covariance(rng, 3) for _ in range(4)])


def test_a_factor_whitens_and_inverts(matrices):
    factor = factorise(matrices, "a")
    white = factor.whitening @ matrices @ factor.whitening.swapaxes(-1, -2)
    np.testing.assert_allclose(white, np.tile(np.eye(3), (4, 1, 1)), atol=1e-10)
    np.testing.assert_allclose(factor.inverse, np.linalg.inv(matrices))
    np.testing.assert_allclose(factor.log_det, np.linalg.slogdet(matrices)[1])
    np.testing.assert_array_equal(factor.whitening, np.tril(factor.whitening))


def test_forms_are_those_of_the_inverse(matrices):
    rng = np.random.default_rng(1)
    vectors, others = rng.normal(size=(4, 3)), rng.normal(size=(4, 3, 3))
    others += others.swapaxes(-1, -2)
    factor, inverse = factorise(matrices, "a"), np.linalg.inv(matrices)
    wanted = [v @ m @ v for v, m in zip(vectors, inverse, strict=True)]
    np.testing.assert_allclose(factor.quadratic(vectors), wanted)
    wanted = [np.trace(m @ b) for m, b in zip(inverse, others, strict=True)]
    np.testing.assert_allclose(factor.trace_with(others), wanted)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1.0, 2.0], [2.0, 1.0]], r"a\[1\] is not positive definite: .* is -1, .* above zero"),
        ([[0.0, 0.0], [0.0, 1.0]], r"a\[1\] is not positive definite: .* is 0"),
        ([[np.nan, 0.0], [0.0, 1.0]], r"a\[1\] has entries that are not finite: \[\[nan"),
        ([[np.inf, 0.0], [0.0, 1.0]], r"a\[1\] has entries that are not finite: \[\[inf"),
    ],
)
def test_what_has_no_factor_is_named_with_its_place(matrix, message):
    with pytest.raises(DataError, match=message):
        factorise(np.array([np.eye(2), matrix]), "a")
