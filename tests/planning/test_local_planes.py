"""Planes of moving least squares: what acting reads from the values at support points."""

import numpy as np
import pytest
from tests.oracles import weighted_plane

from tgm.planning import local_planes
from tgm.planning.interpolation import Interpolation
from tgm.planning.local_planes import plane_values


@pytest.fixture(params=[1, 2, 4])
def interpolation(request):
    rng = np.random.default_rng(request.param)
    return Interpolation(rng.uniform(size=(5**request.param, request.param)), 0.2)


def test_linear_functions_are_exact_for_all_points_of_a_row(interpolation, monkeypatch):
    monkeypatch.setattr(local_planes, "FLAT_PLANE", 0.0)
    points = interpolation.points
    rng = np.random.default_rng(0)
    slopes, z = rng.normal(size=(2, points.shape[1])), rng.uniform(size=(7, 3, points.shape[1]))
    found = plane_values(interpolation, tuple(points @ one + 2.0 for one in slopes), z)
    assert found.shape == (7, 2, 3)
    np.testing.assert_allclose(found, np.stack([z @ one + 2.0 for one in slopes], 1), atol=1e-8)


def test_a_plane_is_that_of_weighted_least_squares_about_the_mean(interpolation):
    rng = np.random.default_rng(1)
    values = rng.normal(size=len(interpolation.points))
    z = rng.uniform(size=(5, 2, interpolation.points.shape[1]))
    found = plane_values(interpolation, (values,), z)[:, 0]
    ridge = local_planes.FLAT_PLANE * interpolation.spacing**2
    for row, expected in zip(z, found, strict=True):
        index, weights = interpolation.kernel(row.mean(axis=0)[None])
        near = interpolation.points[index[0]]
        plane = weighted_plane(near, values[index[0]], weights[0], ridge)
        np.testing.assert_allclose([plane(one) for one in row], expected, rtol=1e-8)


def test_the_kernel_falls_with_the_distance_and_sums_to_one(interpolation):
    z = np.random.default_rng(2).uniform(size=(20, interpolation.points.shape[1]))
    index, weights = interpolation.kernel(z)
    distance = np.linalg.norm(interpolation.points[index] - z[:, None], axis=2)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert (np.diff(weights, axis=1) <= 0.0).all()
    # Of a Gaussian the log of the weights falls with the square of the distance.
    fall, square = np.log(weights[:, :1] / weights), np.square(distance)
    beyond = square - square[:, :1]
    np.testing.assert_allclose(fall * beyond[:, -1:], beyond * fall[:, -1:], atol=1e-9)


def test_points_in_line_have_no_slope_across_it():
    along = np.linspace(0.0, 1.0, 9)
    interpolation = Interpolation(np.column_stack([along, np.full(9, 0.5)]), 0.1)
    across = plane_values(interpolation, (along,), np.array([[[0.5, 0.4], [0.5, 0.6]]]))[0, 0]
    assert across[0] == pytest.approx(across[1])
    assert across[0] == pytest.approx(0.5, abs=0.01)
