"""The published search for structure: ids, fixed components, folding of forgotten points."""

import numpy as np
import pytest

from tgm.distributions import Moments
from tgm.perception.mean_shift_structure import Components, discover

CORNERS = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])


def cloud(centres, n=30, seed=0, deviation=0.15) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.concatenate([centre + deviation * rng.normal(size=(n, 2)) for centre in centres])


def search(old: Components | None, points):
    return discover(old, points, bandwidth=0.5, kl_threshold=0.5, fix_after=4)


def test_a_component_is_fixed_when_found_the_fifth_time_in_a_row():
    known = None
    for time in range(1, 7):
        found = search(known, cloud(CORNERS, seed=time))
        known = found.components
        assert known.persistence.tolist() == [time] * 3
        assert known.is_fixed.all() == (time >= 5)
        assert sorted(known.ids) == [0, 1, 2]
        if time == 5:
            assert [move.kind for move in found.change.moves] == ["fixed"] * 3


def test_newcomers_get_new_ids_and_the_lost_lose_theirs():
    first = search(None, cloud(CORNERS)).components
    second = search(first, cloud([CORNERS[0], CORNERS[2], (6, 6)], seed=1))
    by_place = {
        tuple(np.rint(m).astype(int)): i
        for m, i in zip(first.posterior.components.mean, first.ids, strict=True)
    }
    now = {
        tuple(np.rint(m).astype(int)): i
        for m, i in zip(
            second.components.posterior.components.mean, second.components.ids, strict=True
        )
    }
    assert now[0, 0] == by_place[0, 0]
    assert now[0, 3] == by_place[0, 3]
    assert now[6, 6] == 3
    third = search(second.components, cloud(CORNERS, seed=2))
    assert sorted(third.components.ids) == sorted([by_place[0, 0], by_place[0, 3], 4])
    kinds = {move.kind: move.ids for move in third.change.moves}
    assert kinds == {"removal": (3,), "birth": (4,)}


def test_a_fixed_component_stays_when_its_data_is_gone():
    known = None
    for time in range(5):
        known = search(known, cloud(CORNERS, seed=time)).components
    elsewhere = search(known, cloud(CORNERS[:1], seed=9)).components
    assert elsewhere.n_components == 3
    assert elsewhere.is_fixed.all()
    np.testing.assert_allclose(
        np.sort(elsewhere.posterior.components.mean, axis=0),
        np.sort(known.posterior.components.mean, axis=0),
        atol=0.1,
    )


def test_folding_then_fitting_the_rest_gives_the_same_posterior():
    points = cloud(CORNERS)
    found = search(None, points)
    forget = np.arange(len(points)) % 3 == 0
    folded = found.components.fold(points[forget], found.responsibilities[forget])
    rest = Moments.of_points(points[~forget], found.responsibilities[~forget])
    again = folded.prior.update(rest)
    np.testing.assert_allclose(
        again.components.inverse_scale,
        found.components.posterior.components.inverse_scale,
        rtol=1e-10,
    )
    np.testing.assert_allclose(
        again.weight_concentration, found.components.posterior.weight_concentration, rtol=1e-10
    )


@pytest.mark.parametrize("n_points", [1, 2, 3])
def test_a_handful_of_points_is_enough(n_points):
    found = search(None, cloud([(0.0, 0.0)], n=n_points))
    assert found.components.n_components >= 1
    np.testing.assert_allclose(found.responsibilities.sum(axis=1), 1)
