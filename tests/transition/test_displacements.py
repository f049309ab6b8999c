"""What actions do in observation space: moments, densities, units."""

import math

import numpy as np
import pytest
from scipy.stats import multivariate_t

from tgm.distributions.small import second_order
from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.transition.diagonal_displacements import DiagonalDisplacements
from tgm.transition.displacement_laws import KeyedDisplacements
from tgm.transition.displacements import Displacements, prior_weight

# The numbers themselves: a change of a constant is a change of the law.
BROAD_DOF, FLOOR, OWN_SHARE, PRIOR_WEIGHT = 3.0, 1e-3, 0.9, 0.2
SQUARE = np.array([[2.0, 0.5], [0.5, 1.0]])
STATE = np.array([[0.02, 0.0], [0.0, 0.05]])


def moved(factor: float = 1.0) -> Displacements:
    """Action 0 goes right, action 1 goes up; action 2 was never tried."""
    rng = np.random.default_rng(0)
    displacements = Displacements(3, SQUARE * factor**2, STATE * factor**2)
    for _ in range(8):
        for action, step in enumerate(np.eye(2)):
            noise = 0.1 * rng.normal(size=2)
            displacements.add(action, (step + noise) * factor, rng.uniform(0.5, 1))
    return displacements


def test_moments_are_those_of_the_points():
    rng = np.random.default_rng(1)
    displacements = Displacements(2, SQUARE, STATE)
    points, weights = rng.normal(size=(20, 2)), rng.uniform(0.5, 1, size=20)
    for point, weight in zip(points, weights, strict=True):
        displacements.add(1, point, weight)
    mean = np.average(points, axis=0, weights=weights)
    scatter = sum(w * np.outer(x - mean, x - mean) for w, x in zip(weights, points, strict=True))
    assert displacements.weight.tolist() == [0, pytest.approx(weights.sum())]
    np.testing.assert_allclose(displacements.mean, [[0, 0], mean], atol=1e-12)
    np.testing.assert_allclose(displacements.scatter, [np.zeros((2, 2)), scatter], atol=1e-12)


def broad_law(displacements: Displacements) -> multivariate_t:
    """E[d d^T] over all actions, with the first guess as one step more."""
    total, n = SQUARE.copy(), 1.0
    for weight, mean, scatter in zip(
        displacements.weight, displacements.mean, displacements.scatter, strict=True
    ):
        total += scatter + weight * np.outer(mean, mean)
        n += weight
    return multivariate_t(np.zeros(2), total / n, df=BROAD_DOF)


def test_an_unseen_action_uses_the_broad_law():
    displacements = moved()
    displacements.refresh()
    points = np.random.default_rng(2).normal(size=(6, 2))
    expected = broad_law(displacements).pdf(points)
    np.testing.assert_allclose(displacements.densities(points, 2), expected, rtol=1e-10)
    log = displacements.log_density(points[0], 2)
    assert log == pytest.approx(math.log(expected[0]))


def test_an_action_has_a_law_of_its_own():
    displacements = moved()
    displacements.refresh()
    broad = broad_law(displacements)
    weight, mean, scatter = (getattr(displacements, k)[0] for k in ("weight", "mean", "scatter"))
    known = PRIOR_WEIGHT + weight
    spread = (PRIOR_WEIGHT * broad.shape + scatter) / known
    covariance = spread * (1 + 1 / known) + FLOOR * STATE
    points = np.random.default_rng(3).normal(size=(6, 2))
    off = points - mean
    square = np.einsum("ni,ij,nj->n", off, np.linalg.inv(covariance), off)
    own = np.exp(-0.5 * square) / (2 * math.pi * math.sqrt(np.linalg.det(covariance)))
    expected = OWN_SHARE * own + (1 - OWN_SHARE) * broad.pdf(points)
    np.testing.assert_allclose(displacements.densities(points, 0), expected, rtol=1e-10)


@pytest.mark.parametrize("action", [0, 2])
def test_densities_integrate_to_one(action):
    # A grid that is fine at the centre and reaches far, for the heavy tails.
    line = np.sinh(np.linspace(-9, 9, 901)) * 0.02
    width = np.gradient(line)
    x, y = np.meshgrid(line, line, indexing="ij")
    points = np.column_stack([x.ravel(), y.ravel()])
    densities = moved().densities(points, action).reshape(x.shape)
    assert width @ densities @ width == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("factor", [1e-3, 50.0])
def test_units_do_not_matter(factor):
    plain, scaled = moved(), moved(factor)
    points = np.random.default_rng(4).normal(size=(5, 2))
    for action in (0, 1, 2):
        np.testing.assert_allclose(
            scaled.densities(points * factor, action) * factor**2,
            plain.densities(points, action),
            rtol=1e-8,
        )
    change = scaled.log_state_density - plain.log_state_density
    assert change == pytest.approx(-2 * math.log(factor))


def test_the_density_of_states_is_one_within_a_typical_step():
    displacements = Displacements(1, np.diag([4.0, 9.0]), STATE)
    assert displacements.log_state_density == pytest.approx(-math.log(2 * math.pi * 6))


def test_the_typical_step_is_the_first_guess():
    before = Displacements(1, SQUARE, STATE).typical_step
    np.testing.assert_allclose(before, [math.sqrt(2.0), 1.0])
    np.testing.assert_array_equal(moved().typical_step, before)


def test_an_actions_own_moves_outweigh_those_of_others():
    displacements = moved()
    right, up = np.eye(2)
    assert displacements.log_density(right, 0) > displacements.log_density(up, 0) + 2
    assert displacements.log_density(up, 1) > displacements.log_density(right, 1) + 2
    # And the more often, the surer.
    young = Displacements(3, SQUARE, STATE)
    young.add(0, right, 1.0)
    assert displacements.log_density(right, 0) > young.log_density(right, 0) + 0.5


@pytest.mark.parametrize("kind", [Displacements, DiagonalDisplacements, KeyedDisplacements])
def test_what_is_taken_back_was_never_learned(kind):
    ways = np.random.default_rng(4).normal([1.0, 0.0, 0.5], 0.2, size=(6, 3))
    ways[3:] += np.array([3.0, -4.0, 1.0])
    n = 3 - (kind is KeyedDisplacements)
    laws = [kind(2, np.eye(n), 0.1 * np.eye(n)) for _ in range(3)]
    for law, learned in zip(laws, (ways, ways[:3], ways[:0]), strict=True):
        for way in learned:
            law.add(1, way, 0.9)
    for way in ways[3:]:
        laws[0].take_back(1, way, 0.9)
    if kind is not DiagonalDisplacements:
        laws[1].refresh()  # it is not computed again with every displacement
    for action in (0, 1):
        wanted = laws[1].log_density(ways[4], action)
        assert laws[0].log_density(ways[4], action) == pytest.approx(wanted, abs=1e-6)
    for way in ways[:3]:
        laws[0].take_back(1, way, 0.9)
    assert not laws[0].knows(1)
    assert laws[0].log_density(ways[0], 1) == pytest.approx(
        laws[2].log_density(ways[0], 1), abs=1e-9
    )


def test_what_is_taken_back_by_mistake_leaves_a_scatter():
    displacements = Displacements(1, SQUARE, STATE)
    for way in ([1.0, 0.0], [1.0, 0.1], [0.9, 0.0]):
        displacements.add(0, np.array(way), 1.0)
    displacements.take_back(0, np.array([0.0, 2.0]), 1.0)  # nothing like it was added
    assert np.linalg.eigvalsh(displacements.scatter[0]).min() > -1e-12
    assert np.isfinite(displacements.log_density(np.array([1.0, 0.0]), 0))


def test_a_settled_law_takes_nothing_back():
    displacements = Displacements(1, SQUARE, STATE)
    for _ in range(300):
        displacements.add(0, np.array([1.0, 0.0]), 1.0)
    displacements.take_back(0, np.array([5.0, 5.0]), 1.0)
    assert displacements.weight[0] == 300.0
    np.testing.assert_allclose(displacements.mean[0], [1.0, 0.0])


def test_a_half_believed_move_is_not_a_law_yet():
    displacements = Displacements(1, SQUARE, STATE)
    displacements.add(0, np.ones(2), 0.4)
    displacements.refresh()
    point = np.array([[1.0, 1.0]])
    expected = broad_law(displacements).pdf(point)
    np.testing.assert_allclose(displacements.densities(point, 0), expected)


def test_exact_moves_stay_finite():
    displacements = Displacements(1, SQUARE, STATE)
    for _ in range(1000):
        displacements.add(0, np.array([1.0, 0.0]), 1.0)
    log = displacements.log_density(np.array([1.0, 0.0]), 0)
    # No sharper than the floor allows.
    sharpest = -0.5 * np.linalg.slogdet(2 * math.pi * FLOOR * STATE)[1]
    assert np.isfinite(log)
    assert log < sharpest


def test_restored_moments_give_the_same_densities():
    first = moved()
    second = Displacements(3, np.eye(2), 7 * STATE)
    second.restore(ArrayReader(first.to_arrays()))
    points = np.random.default_rng(5).normal(size=(5, 2))
    for action in range(3):
        np.testing.assert_array_equal(
            first.densities(points, action), second.densities(points, action)
        )
    assert first.log_state_density == second.log_state_density


def test_actions_need_not_be_told_apart():
    displacements = Displacements(2, SQUARE, STATE, tells_actions_apart=False)
    for _ in range(5):
        displacements.add(0, np.array([1.0, 0.0]), 1.0)
    displacements.refresh()
    assert not displacements.knows(0)
    point = np.array([[1.0, 0.0]])
    np.testing.assert_allclose(
        displacements.densities(point, 0), broad_law(displacements).pdf(point)
    )
    told_apart = moved()
    assert [told_apart.knows(action) for action in range(3)] == [True, True, False]


def test_densities_from_features_are_those_of_the_displacements():
    displacements = moved()
    rng = np.random.default_rng(3)
    origin, points = rng.normal(size=2), rng.normal(scale=3, size=(7, 2))
    features = np.array([second_order(point) for point in points])
    for action in (0, 1):
        expected = displacements.densities(points - origin, action)
        actual = displacements.densities_from(origin, action, features, np.arange(7))
        np.testing.assert_allclose(actual, expected, rtol=1e-9)
        log = displacements.log_density(points[0] - origin, action)
        assert log == pytest.approx(math.log(expected[0]))


def test_densities_from_an_absurd_origin_are_numbers():
    features = np.array([second_order(np.array(point)) for point in [(0.0, 1.0), (1e59, -1e59)]])
    densities = moved().densities_from(np.array([1e59, -1e59]), 0, features, np.arange(2))
    assert np.isfinite(densities).all()


@pytest.mark.parametrize("width", [1e-12, 1e12])
def test_densities_that_are_no_floats_keep_their_ratios(width):
    n = 64
    displacements = Displacements(1, width**2 * np.eye(n), 0.01 * width**2 * np.eye(n))
    rng = np.random.default_rng(0)
    for _ in range(20):
        displacements.add(0, rng.normal(scale=width, size=n), 1.0)
    displacements.refresh()
    points = rng.normal(scale=width, size=(4, n))
    features = np.array([second_order(point) for point in points])
    origin, among = np.zeros(n), np.array([1, 3])
    actual = displacements.densities_from(origin, 0, features, among)
    assert np.isfinite(actual).all()
    logs = [displacements.log_density(points[i], 0) for i in among]
    ratio = actual[1] / actual[3]
    assert math.log(ratio) == pytest.approx(logs[0] - logs[1], rel=1e-6)


def test_the_broad_law_is_worth_more_where_there_is_more_to_learn():
    assert [prior_weight(n) for n in (1, 2, 3, 5)] == pytest.approx([0.2, 0.2, 0.4, 0.8])


def test_after_three_hundred_displacements_a_law_is_settled():
    displacements = Displacements(2, SQUARE, STATE)
    for _ in range(310):
        assert displacements.is_settled(0) == (displacements.weight[0] >= 300.0)
        displacements.add(0, np.array([1.0, 0.0]), 1.0)
    assert displacements.weight.tolist() == [300.0, 0.0]
    displacements.add(0, np.array([9.0, 9.0]), 1.0)
    assert displacements.mean[0].tolist() == [1.0, 0.0]


@pytest.mark.parametrize(("length", "counted"), [(9.0, 9.0), (1e6, 10.0)])
def test_an_absurd_displacement_counts_as_ten_typical_steps(length, counted):
    displacements = Displacements(1, 4.0 * np.eye(2), STATE)
    displacements.add(0, np.array([0.0, 2.0 * length]), 1.0)
    np.testing.assert_allclose(displacements.mean[0], [0.0, 2.0 * counted])


def test_a_law_is_computed_again_when_its_data_has_grown_by_a_tenth():
    displacements, way = Displacements(1, SQUARE, STATE), np.array([1.0, 0.0])
    for _ in range(20):
        displacements.add(0, way, 1.0)
    displacements.refresh()
    known = displacements.log_density(way, 0)
    displacements.add(0, way, 1.0)
    assert displacements.log_density(way, 0) == known
    displacements.add(0, way, 1.0)
    assert displacements.log_density(way, 0) > known


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("weight", lambda array: array - 1.0),
        ("weight", lambda array: array[1:]),
        ("mean", lambda array: array[:, 1:]),
        ("mean", lambda array: np.full_like(array, np.inf)),
        ("scatter", lambda array: -array),
        ("typical_square", lambda array: -array),
        ("floor", lambda array: 0.0 * array),
        ("broad", lambda array: -array),
        ("own_precision", lambda array: -array),
        ("own_log_peak", lambda array: np.nan * array),
        ("refresh_at", lambda array: array[1:]),
    ],
)
def test_files_are_checked(name, change):
    arrays = moved().to_arrays()
    arrays[name] = change(np.array(arrays[name]))
    with pytest.raises(DataError, match=name):
        Displacements(3, np.eye(2), STATE).restore(ArrayReader(arrays))


def test_actions_are_told_apart_unless_it_is_said_otherwise():
    displacements = Displacements(1, SQUARE, STATE)
    displacements.add(0, np.array([1.0, 0.0]), 1.0)
    assert displacements.knows(0)
