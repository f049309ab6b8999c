"""Weights of local maximum entropy: an averager that is exact for linear functions."""

import numpy as np
import pytest

from tgm.planning.interpolation import Interpolation


@pytest.fixture(params=[1, 2, 4])
def interpolation(request):
    """A lattice with jitter, as one point per cell is."""
    n_features, n_each = request.param, 6
    rng = np.random.default_rng(n_features)
    lattice = np.stack(np.meshgrid(*[np.arange(n_each)] * n_features), axis=-1)
    points = (lattice.reshape(-1, n_features) + rng.uniform(0.2, 0.8, size=n_features)) / n_each
    return Interpolation(points + 0.2 * rng.uniform(size=points.shape) / n_each, 1 / n_each)


def test_weights_are_an_average(interpolation):
    n_features = interpolation.points.shape[1]
    z = np.random.default_rng(5).uniform(-0.5, 1.5, size=(200, n_features))  # outside too
    index, weights = interpolation.weights(z)
    assert index.shape == weights.shape
    assert (weights >= 0.0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)


def test_linear_functions_are_exact_inside(interpolation):
    n_features = interpolation.points.shape[1]
    rng = np.random.default_rng(6)
    z, slope = rng.uniform(0.3, 0.7, size=(200, n_features)), rng.normal(size=n_features)
    index, weights = interpolation.weights(z)
    found = (weights * (interpolation.points @ slope)[index]).sum(axis=1)
    np.testing.assert_allclose(found, z @ slope, atol=1e-3)


def test_one_point_carries_everything():
    index, weights = Interpolation(np.array([[0.5, 0.5]]), 0.1).weights(np.array([[0.0, 1.0]]))
    assert index.tolist() == [[0]]
    assert weights.tolist() == [[1.0]]


def test_a_weight_does_not_depend_on_what_else_is_asked(interpolation):
    z = np.random.default_rng(7).uniform(-0.2, 1.2, size=(50, interpolation.points.shape[1]))
    together = interpolation.weights(z)[1]
    alone = np.concatenate([interpolation.weights(one[None])[1] for one in z])
    np.testing.assert_allclose(together, alone, atol=1e-12)
