"""What the agent measures in: a state's width and a step's length."""

import numpy as np
import pytest

from tgm.structure.scale import AUTO_RADIUS, RADIUS, Scale


@pytest.mark.parametrize("n_features", [1, 3])
def test_a_bandwidth_is_the_radius_of_a_state_and_half_a_step(n_features):
    scale = Scale.of_bandwidth(0.6, n_features)
    deviation = np.sqrt(np.diag(scale.covariance))
    assert deviation * scale.radius == pytest.approx([0.6] * n_features)
    assert scale.radius == RADIUS
    np.testing.assert_allclose(scale.step_square, 1.2**2 * np.eye(n_features))


def test_each_feature_has_its_own_deviation_and_step():
    scale = Scale.of_deviations(np.array([0.1, 4.0]), np.array([1.0, 30.0]))
    np.testing.assert_allclose(scale.covariance, [[0.01, 0.0], [0.0, 16.0]])
    np.testing.assert_allclose(scale.step_square, [[1.0, 0.0], [0.0, 900.0]])
    assert scale.radius == AUTO_RADIUS
