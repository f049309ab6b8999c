"""The belief about a mixture: an update is that of any order, and files are checked."""

from dataclasses import replace

import numpy as np
import pytest
from campaigns.formulas import as_mixture
from scipy.special import digamma
from tests import oracles
from tests.perception.test_variational import assert_same_mixture, broad_prior

from tgm.distributions import Moments
from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.perception.mixture import Mixture, concatenate


def random_mixture(seed: int = 0) -> Mixture:
    return as_mixture(oracles.random_belief(np.random.default_rng(seed), 3, 2))


def test_taking_and_joining_mixtures():
    mixture = random_mixture()
    joined = concatenate([mixture.take(np.array([1, 2])), mixture.take(np.array([0]))])
    assert_same_mixture(joined, mixture.take(np.array([1, 2, 0])), 0)


@pytest.mark.parametrize("concentration", [np.array([1.0]), np.array([1.0, 0.0])])
def test_impossible_weights_are_named(concentration):
    with pytest.raises(DataError, match="weight_concentration"):
        Mixture(concentration, broad_prior(np.zeros((2, 2))).components)


def test_two_updates_are_one_with_all_points():
    rng = np.random.default_rng(1)
    points, resp = rng.normal(size=(20, 2)), rng.dirichlet(np.ones(3), size=20)
    prior = random_mixture()
    halves = [Moments.of_points(points[half], resp[half]) for half in (slice(7), slice(7, None))]
    at_once = prior.update(Moments.of_points(points, resp))
    assert_same_mixture(prior.update(halves[0]).update(halves[1]), at_once, 1e-10)
    np.testing.assert_allclose(
        at_once.weight_concentration - prior.weight_concentration, resp.sum(axis=0)
    )


def test_a_shift_of_mixture_and_points_changes_no_density():
    mixture, points = random_mixture(), np.random.default_rng(2).normal(size=(5, 2))
    offset = np.array([3.0, -40.0])
    moved = mixture.shifted(offset)
    np.testing.assert_allclose(moved.log_joint(points + offset), mixture.log_joint(points))
    np.testing.assert_allclose(moved.components.mean - mixture.components.mean, [offset] * 3)
    np.testing.assert_array_equal(moved.covariances, mixture.covariances)


def test_expected_log_weights_and_covariances_by_hand():
    mixture = replace(broad_prior(np.zeros((2, 2)), dof=8.0), weight_concentration=np.array([1, 3]))
    np.testing.assert_allclose(mixture.expected_log_weights, digamma([1, 3]) - digamma(4))
    np.testing.assert_allclose(mixture.covariances, np.tile(np.eye(2) / 8.0, (2, 1, 1)))


def test_a_mixture_survives_a_file_and_a_broken_one_is_refused():
    mixture = random_mixture()
    arrays = mixture.to_arrays()
    assert_same_mixture(Mixture.from_arrays(ArrayReader(arrays), 3, 2), mixture, 0)
    arrays["inverse_scale"] = arrays["inverse_scale"] * np.array([1.0, -1.0, 1.0])[:, None, None]
    with pytest.raises(DataError, match="inverse_scale"):
        Mixture.from_arrays(ArrayReader(arrays), 3, 2)
