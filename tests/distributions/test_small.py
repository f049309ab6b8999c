"""Closed forms for two features, and NumPy for others: the same answers."""

import numpy as np
import pytest
from tests.oracles import random_covariance

from tgm.distributions.small import (
    inverse,
    log_det,
    second_order,
    square_as_product,
    squared_length,
)


@pytest.mark.parametrize("n_features", [1, 2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_small_matrices_are_what_numpy_says(n_features, seed):
    rng = np.random.default_rng((seed, n_features))
    matrix = random_covariance(rng, n_features)
    point, centre = rng.normal(size=(2, n_features))
    assert log_det(matrix) == pytest.approx(np.linalg.slogdet(matrix)[1], rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(inverse(matrix) @ matrix, np.eye(n_features), atol=1e-10)
    square = float((point - centre) @ matrix @ (point - centre))
    assert squared_length(point - centre, matrix) == pytest.approx(square, rel=1e-12)
    product = np.array(square_as_product(matrix, centre)) @ second_order(point)
    assert product == pytest.approx(square, rel=1e-9)


def test_a_determinant_too_small_for_the_closed_form_is_left_to_numpy():
    matrix = np.array([[1.0, 1.0], [1.0, 1.0]])
    assert log_det(matrix) == -np.inf
    with pytest.raises(np.linalg.LinAlgError):
        inverse(matrix)
