"""The prior from clusters: as published, and finite on degenerate data (promise 5)."""

import numpy as np
import pytest

from tgm.errors import DataError
from tgm.perception import Clusters, fit, mean_shift, prior_from_clusters


def test_the_published_prior_by_hand():
    points = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 4.0], [2.0, 4.0], [9.0, 9.0], [9.0, 8.0]])
    points = np.vstack([points, [[7.0, 9.0], [7.0, 8.0]]])
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    prior = prior_from_clusters(points, Clusters(labels, np.zeros((2, 2))))
    np.testing.assert_array_equal(prior.weight_concentration, [4, 4])
    np.testing.assert_array_equal(prior.components.mean_precision, [4, 4])
    np.testing.assert_allclose(prior.components.dof, 4 + 2 - 0.99)
    np.testing.assert_allclose(prior.components.mean, [[1, 2], [8, 8.5]])
    np.testing.assert_allclose(prior.covariances[0], np.diag([1.0, 4.0]))
    np.testing.assert_allclose(prior.covariances[1], np.diag([1.0, 0.25]))
    np.testing.assert_allclose(
        prior.components.scale[0], np.diag([1.0, 0.25]) / prior.components.dof[0]
    )


def test_a_small_cluster_shrinks_towards_the_pooled_covariance():
    points = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 4.0], [2.0, 4.0], [9.0, 9.0]])
    prior = prior_from_clusters(points, Clusters(np.array([0, 0, 0, 0, 1]), np.zeros((2, 2))))
    pooled = np.diag([4.0, 16.0]) / 5
    np.testing.assert_allclose(prior.covariances[0], np.diag([1.0, 4.0]))
    # One point counts one, the pooled covariance O + 1 = 3, and a ten thousandth on top.
    np.testing.assert_allclose(prior.covariances[1], pooled * (3 / 4 + 1e-4))


def test_a_cluster_without_points_keeps_its_centre_and_the_pooled_covariance():
    points = np.random.default_rng(0).normal(size=(20, 2))
    clusters = Clusters(np.zeros(20, dtype=np.intp), np.array([[0.0, 0.0], [5.0, 6.0]]))
    prior = prior_from_clusters(points, clusters)
    np.testing.assert_array_equal(prior.components.mean[1], [5.0, 6.0])
    np.testing.assert_allclose(prior.covariances[1], prior.covariances[0], rtol=1e-3)


@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_single_points_take_their_scale_from_the_data(unit):
    points = np.array([[0.0, 1.0], [2.0, 1.0]])
    clusters = Clusters(np.array([0, 1]), points)
    plain = prior_from_clusters(points, clusters).covariances
    scaled = prior_from_clusters(unit * points, clusters).covariances
    # No cluster varies: a hundredth of the overall deviation, which the constant column borrows.
    np.testing.assert_allclose(plain[0], 1e-4 * np.eye(2))
    np.testing.assert_allclose(scaled, unit**2 * plain)


RNG = np.random.default_rng(0)
LINE = np.linspace(0, 1, 30)[:, None] * [1.0, 2.0, 3.0]
DEGENERATE = {
    "two distinct points": np.array([[0.0, 1.0], [2.0, 3.0]]),
    "two distinct points, repeated": np.array([[0.0, 1.0], [2.0, 3.0]])[RNG.integers(2, size=40)],
    "collinear": LINE,
    "nearly collinear": LINE + 1e-9 * RNG.normal(size=LINE.shape),
    "constant column": np.column_stack([RNG.normal(size=30), np.full(30, 0.1)]),
    "constant column, large": np.column_stack([RNG.normal(size=30), np.full(30, 1e16 / 3)]),
    "all the same": np.full((20, 2), 0.1),
    "one sample": np.array([[3.0, 4.0]]),
    "one sample, one feature": np.array([[3.0]]),
    "zeros": np.zeros((5, 3)),
    "offset": RNG.normal(size=(30, 2)) + 1e16,
    "offset, spread": 1e3 * RNG.normal(size=(30, 2)) + 1e16,
    "small": 1e-8 * RNG.normal(size=(30, 2)),
    "large": 1e8 * RNG.normal(size=(30, 2)),
    "uneven units": RNG.normal(size=(30, 3)) * [1e-8, 1.0, 1e8],
    "more features than points": RNG.normal(size=(3, 6)),
    "one far outlier": np.vstack([RNG.normal(size=(30, 2)), [[1e9, 1e9]]]),
}


@pytest.mark.parametrize("n_components", [1, 2, 10, 50])
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_data_gives_finite_answers(name, n_components):
    points = DEGENERATE[name]
    rng = np.random.default_rng(n_components)
    centres = points[rng.integers(len(points), size=n_components)]
    labels = rng.integers(n_components, size=len(points))
    prior = prior_from_clusters(points, Clusters(labels, centres))
    result = fit(prior, points, forget=rng.random(len(points)) < 0.3)
    rises = np.diff(result.free_energies) / np.maximum(1, np.abs(result.free_energies[:-1]))
    assert np.all(rises <= 1e-9)
    assert np.all(np.isfinite(result.free_energies))
    np.testing.assert_allclose(result.responsibilities.sum(axis=1), 1, atol=1e-12)
    for mixture in (result.prior, result.folded, result.posterior):
        assert np.all(np.isfinite(mixture.components.mean))
        assert np.all(np.linalg.eigvalsh(mixture.components.inverse_scale / scale(mixture)) > 0)
    assert result.active.any()


def scale(mixture):
    """The outer product of standard deviations: what is left is a correlation matrix."""
    spread = np.sqrt(np.einsum("kii->ki", mixture.components.inverse_scale))
    return spread[:, :, None] * spread[:, None, :]


@pytest.mark.parametrize("seed", range(30))
def test_same_answer_in_other_units(seed):
    rng = np.random.default_rng(seed)
    points = rng.integers(4, size=(120, 2)) + rng.normal(scale=0.15, size=(120, 2))

    def labels(unit, shift):
        data = unit * (points + shift)
        prior = prior_from_clusters(data, mean_shift(data, 0.5 * unit))
        return fit(prior, data).responsibilities.argmax(axis=1)

    plain = labels(1.0, 0.0)
    for unit, shift in ((1e-8, 0.0), (1e8, 0.0), (1.0, 100.0), (1e-8, -30.0)):
        # Clusters with equally many points may swap numbers: compare which points go together.
        other = labels(unit, shift)
        assert len(set(zip(plain, other, strict=True))) == len(set(plain)) == len(set(other))


def test_data_beyond_double_precision_names_the_column():
    with pytest.raises(DataError, match="column 1 spans"):
        prior_from_clusters(
            [[0.0, 0.0], [1.0, 1e-170]], Clusters(np.array([0, 0]), np.zeros((1, 2)))
        )


@pytest.mark.parametrize(
    ("labels", "centres", "message"),
    [
        ([0], np.zeros((1, 2)), r"labels have shape \(1,\)"),
        ([0, 2], np.zeros((2, 2)), "labels run from 0 to 2"),
        ([0, -1], np.zeros((2, 2)), "labels run from -1"),
        ([0, 0], np.zeros((1, 3)), "centres have 3 features"),
    ],
)
def test_clusters_of_other_points_are_refused(labels, centres, message):
    with pytest.raises(DataError, match=message):
        prior_from_clusters(np.zeros((2, 2)), Clusters(np.array(labels), centres))
