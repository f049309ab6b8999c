"""What every observation model must pass, whatever it looks like inside."""

import numpy as np
import pytest

from tgm.distributions.moments import Moments
from tgm.files.arrays import ArrayReader
from tgm.perception.component_prior import ComponentPrior
from tgm.perception.gaussian_states import GaussianStates
from tgm.perception.keyed_states import KeyedStates
from tgm.perception.observation_model import ObservationModel
from tgm.perception.shared_states import SharedGaussianStates
from tgm.perception.symbol_states import SymbolStates

PRIOR = ComponentPrior(0.02 * np.eye(2), 22.0, -1.8, 3.0)
PLACES = [np.array([0.0, 0.0]), np.array([2.0, 0.0]), np.array([0.0, 2.0])]

KEYED_PRIOR = ComponentPrior(0.02 * np.eye(1), 21.0, -0.9, 3.0)


def exact(rng, place, n):
    """A symbol is seen as it is."""
    return np.tile(place, (n, 1))


def noisy(rng, place, n):
    return rng.normal(place, 0.1, size=(n, 2))


def half_noisy(rng, place, n):
    """A key, and a number with noise."""
    points = noisy(rng, place, n)
    points[:, 0] = place[0]
    return points


MODELS = {
    "gaussian": (lambda: GaussianStates(PRIOR), noisy),
    "symbols": (lambda: SymbolStates(2), exact),
    "shared": (lambda: SharedGaussianStates(0.02 * np.eye(2), -1.8, 3.0), noisy),
    "keyed": (lambda: KeyedStates(GaussianStates(KEYED_PRIOR)), half_noisy),
}

every_model = pytest.mark.parametrize(("make", "look"), MODELS.values(), ids=list(MODELS))
# What only makes sense where points of one state differ.
amounts = [name for name in MODELS if name != "symbols"]
models_of_amounts = pytest.mark.parametrize(
    ("make", "look"), [MODELS[name] for name in amounts], ids=amounts
)
gaussian_models = pytest.mark.parametrize(
    ("make", "look"), [MODELS["gaussian"], MODELS["shared"]], ids=["gaussian", "shared"]
)


def filled(make, look, n: int = 12) -> ObservationModel:
    """A model that has seen some observations of three places, a state each."""
    rng = np.random.default_rng(0)
    model = make()
    for place in PLACES:
        slot = model.birth()
        for point in look(rng, place, n):
            model.add(slot, point, 1.0)
    return model


@every_model
def test_a_point_is_most_likely_where_its_like_were_seen(make, look):
    model = filled(make, look)
    for slot, place in enumerate(PLACES):
        assert model.log_densities(place).argmax() == slot
        assert model.log_densities(place)[slot] <= model.peak[slot] + 1e-9
    together = model.log_densities_of(np.array(PLACES))
    assert together.shape == (3, model.n_slots)
    np.testing.assert_allclose(together[1], model.log_densities(PLACES[1]), atol=1e-9)


@every_model
def test_slots_are_used_again_and_ids_are_not(make, look):
    model = filled(make, look)
    model.remove(1)
    assert model.alive.tolist() == [0, 2]
    assert model.n_alive == 2
    assert model.log_densities(PLACES[1])[1] < -1e200
    assert model.weight[1] == 0
    assert model.next_slot == 1
    slot = model.birth()
    assert slot == 1
    assert model.ids[slot] == 3
    assert model.log_densities(PLACES[1])[1] < -1e200  # it has no points yet
    for _ in range(40):
        assert model.next_slot == model.birth()
    assert len(set(model.ids[model.alive].tolist())) == model.n_alive == 43


@every_model
def test_what_was_added_can_be_taken_back(make, look):
    model = filled(make, look)
    before = model.moments(0)
    point = look(np.random.default_rng(3), PLACES[0], 1)[0]
    model.add(0, point, 0.7)
    model.take_back(0, point, 0.7)
    after = model.moments(0)
    for name in ("weight", "mean", "scatter"):
        np.testing.assert_allclose(getattr(after, name), getattr(before, name), atol=1e-9)


@gaussian_models
def test_the_evidence_tells_one_place_from_two(make, look):
    rng = np.random.default_rng(1)
    model = filled(make, look)
    twin = model.birth()
    for point in rng.normal(PLACES[0], 0.1, size=(12, 2)):
        model.add(twin, point, 1.0)
    assert model.merge_gain(0, twin) > 0 > model.merge_gain(0, 1)
    assert (0, twin) in model.near([0])
    assert model.merge_gain(0, 1) == pytest.approx(
        -model.split_gain(model.moments(0), model.moments(1))
    )
    both = np.concatenate([rng.normal(place, 0.1, size=(12, 2)) for place in PLACES[:2]])
    side = model.cut(both)
    assert (side == side[0]).tolist() == [True] * 12 + [False] * 12
    assert not model.is_wide(0)
    model.set_moments(0, Moments.of_points(both))
    assert model.is_wide(0)


@models_of_amounts
def test_where_more_states_are_expected_a_merge_wins_less(make, look):
    model = filled(make, look)
    twin = model.birth()
    for point in look(np.random.default_rng(1), PLACES[0], 12):
        model.add(twin, point, 1.0)
    model.set_state_density(-1.0)
    before = model.merge_gain(0, twin)
    model.set_state_density(1.0)  # ln of states per unit of volume: one state less
    assert model.merge_gain(0, twin) == pytest.approx(before - 2.0)


@models_of_amounts
def test_the_odds_are_those_of_two_states_that_are_there(make, look):
    model = filled(make, look)
    for point in (np.array([0.0, 0.9]), np.array([0.0, 1.4])):
        log = model.log_densities(point)
        model.set_moments(0, model.moments(0))  # densities may lag behind the moments
        model.set_moments(2, model.moments(2))
        log = model.log_densities(point)
        odds = model.log_odds(model.moments(0), model.moments(2))(point)
        assert odds == pytest.approx(log[0] - log[2], abs=1e-8)


@models_of_amounts
def test_how_well_a_point_fits_is_a_chance(make, look):
    model = filled(make, look)
    way = np.array([0.0, 1.0])
    points = np.array([model.mean[0], model.mean[0] + 0.2 * way, model.mean[0] + 5.0 * way])
    fit = model.fit(points, np.zeros(3, dtype=np.intp))
    assert fit[0] == pytest.approx(1.0)
    assert 1.0 > fit[1] > fit[2] >= 0.0
    distances = model.squared_distances(list(points), 0)
    assert distances == sorted(distances)
    # Beside a state there is no place for another, far from it there is.
    assert model.log_repulsion(points[0], 0) < -5 < model.log_repulsion(points[2], 0)
    assert np.isfinite(model.log_anywhere(points[2]))


@models_of_amounts
def test_an_offset_times_itself_in_deviations_is_a_squared_distance(make, look):
    model = filled(make, look)
    offset = np.array([0.0, 0.3])
    square = float(offset @ model.in_deviations(offset))
    assert [square] == pytest.approx(model.squared_distances([model.mean[0] + offset], 0))
    assert square > 1


@every_model
def test_what_is_restored_is_the_same(make, look):
    model = filled(make, look)
    model.remove(1)
    copy = make()
    copy.restore(ArrayReader(model.to_arrays()))
    assert copy.ids[: copy.n_slots].tolist() == model.ids[: model.n_slots].tolist()
    assert copy.next_id == model.next_id
    for point in PLACES:
        np.testing.assert_array_equal(copy.log_densities(point), model.log_densities(point))
    np.testing.assert_array_equal(copy.mean_features[copy.alive], model.mean_features[model.alive])
    covariance = np.array(model.covariance(0)).reshape(2, 2)
    np.testing.assert_allclose(model.covariances(np.array([0]))[0], covariance)
    assert copy.log_evidence(0) == model.log_evidence(0)


@every_model
def test_states_of_different_places_are_never_made_one(make, look):
    model = filled(make, look)
    assert model.merge_gain(0, 1) < -5
    assert (0, 1) not in model.near([0])
    assert model.split_gain(model.moments(0), model.moments(1)) > 5
    assert model.fit(model.mean[[0, 1]], np.array([0, 0])) == pytest.approx([1.0, 0.0])
    assert model.squared_distances([PLACES[1]], 0)[0] > 20
    assert not model.is_wide(0)
    assert model.log_repulsion(PLACES[0], 0) < -5
    assert np.isfinite(model.log_anywhere(PLACES[1]))


@every_model
def test_reports_have_the_shape_of_the_observations(make, look):
    model = filled(make, look)
    assert model.mean.shape[1] == model.n_features == 2
    assert model.prior_covariance.shape == model.expected_scatter(2.0).shape == (2, 2)
    assert model.covariances(model.alive).shape == (3, 2, 2)
    assert model.prior_dof >= 0
    assert model.surely_seen == (0.0 if look is exact else 1.5)
