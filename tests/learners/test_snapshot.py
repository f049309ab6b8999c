"""Snapshots in other coordinates, and where ids stand for observations."""

import numpy as np

from tgm.learners.snapshot import MOST_RECORDED, Changes, Snapshot


def small() -> Snapshot:
    """Two states of two features, ids 4 and 7; three points."""
    return Snapshot(
        Changes([4, 1.0, 0.0, 4, 0.0, 7, 2.0, 0.0, 7, 0.0], [], [], []),
        np.ones((2, 3)),
        np.array([[1.0, 2.0], [3.0, 4.0]]),
        np.array([np.eye(2), 2 * np.eye(2)]),
        np.array([-1.0, -2.0]),
        5.0,
        np.arange(6.0).reshape(3, 2),
        np.array([7, 4, -1]),
        {"observations": 3.0},
    )


def test_other_coordinates_change_points_and_covariances_alone():
    known, before = Changes([1.0], [], [], []), small()
    found = before.seen_as(known, lambda p: p[:, :1] + 10.0, lambda c: 9.0 * c[:, :1, :1], 1)
    assert found.known is known
    assert found.prior_mean.tolist() == [[11.0], [13.0]]
    assert found.prior_covariance.tolist() == [[[9.0]], [[18.0]]]
    assert found.kept_points.tolist() == [[10.0], [12.0], [14.0]]
    for name in ("q", "log_evidence", "prior_dof", "kept_states", "free_energy_terms"):
        assert getattr(found, name) is getattr(before, name)


def test_where_ids_stand_for_observations_they_have_no_width():
    for found in (
        small().narrow(),
        small().seen_as(small().known, lambda p: p, lambda c: c, MOST_RECORDED + 1),
    ):
        assert found.prior_mean.tolist() == [[4.0], [7.0]]
        assert found.prior_covariance.tolist() == [[[0.0]], [[0.0]]]
        assert found.kept_points.tolist() == [[7.0], [4.0], [-1.0]]


def test_a_snapshot_of_nothing_has_points_alone():
    points = np.zeros((3, 2))
    found = Snapshot.empty(2, 4, points)
    assert found.q.shape == (0, 4)
    assert found.prior_mean.shape == (0, 2)
    assert found.prior_covariance.shape == (0, 2, 2)
    assert found.prior_dof == 0.0
    assert found.kept_points is points
    assert found.kept_states.tolist() == [-1, -1, -1]
    assert found.free_energy_terms == {}
