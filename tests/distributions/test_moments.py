"""Moments against sums over the points at 50 digits, and the laws of their algebra."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests import oracles

from tgm.distributions import Moments
from tgm.distributions.small import shift_moments
from tgm.errors import DataError

EPSILON = np.finfo(float).eps
LEAST = np.finfo(float).tiny  # smaller numbers have fewer digits
OFFSETS = [0.0, 1e8]
WEIGHTS = st.floats(0.1, 10.0) | st.just(0.0)


@st.composite
def point_sets(draw, n_sets=1, least=0):
    """Some sets of points (n, O) with weights (n,): near the origin, or all of them far from it."""
    n_features, offset = draw(st.integers(1, 4)), draw(st.sampled_from(OFFSETS))
    sets = []
    for _ in range(n_sets):
        n_points = draw(st.integers(least, 6))
        points = draw(arrays(float, (n_points, n_features), elements=st.floats(-10, 10)))
        sets.append((points + offset, draw(arrays(float, n_points, elements=WEIGHTS))))
    return sets


def random_data(seed, n_samples=40, n_components=3, n_features=2):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n_samples, n_features)) @ rng.normal(size=(n_features, n_features))
    return points, rng.dirichlet(np.full(n_components, 0.4), size=n_samples)


def together(*sets):
    return tuple(np.concatenate(parts) for parts in zip(*sets, strict=True))


def assert_moments_of(seen, points, weights, *, mean_error, scatter_error):
    """Compare with the points themselves; the errors allowed are absolute."""
    wanted = Moments(*oracles.moments_by_definition(points, weights))
    assert_close(seen, wanted, mean_error=mean_error, scatter_error=scatter_error)


def rounding(*sets, times=1.0):
    """Errors of mean and scatter if every mean is rounded `times` times, 8 units each."""
    points, weights = together(*sets)
    if not len(points):
        return {"mean_error": 0.0, "scatter_error": 0.0}
    size, spread = np.abs(points).max() + LEAST, np.ptp(points, axis=0).max()
    mean_error = 8 * times * EPSILON * size
    return {
        "mean_error": mean_error,
        "scatter_error": weights.sum() * (spread + mean_error) * mean_error + LEAST,
    }


def assert_close(seen, wanted, *, mean_error, scatter_error):
    assert seen.weight == pytest.approx(float(wanted.weight), rel=1e-12)
    if wanted.weight > 0:
        np.testing.assert_allclose(seen.mean, wanted.mean, rtol=0, atol=mean_error)
    np.testing.assert_allclose(seen.scatter, wanted.scatter, rtol=0, atol=scatter_error)


def assert_identical(seen, wanted):
    np.testing.assert_array_equal(seen.weight, wanted.weight)
    np.testing.assert_array_equal(seen.mean, wanted.mean)
    np.testing.assert_array_equal(seen.scatter, wanted.scatter)


# --- of points -----------------------------------------------------------------------------------


@given(point_sets())
def test_one_set_is_what_its_points_say(sets):
    ((points, weights),) = sets
    mean_error = rounding((points, weights))["mean_error"]
    # The scatter is summed about the computed mean: the rounding of the mean counts only squared.
    spread = np.ptp(points, axis=0).max() if len(points) else 0.0
    scatter_error = weights.sum() * (mean_error**2 + 1e-14 * spread**2)
    seen = Moments.of_points(points, weights)
    allowed = {"mean_error": mean_error, "scatter_error": scatter_error}
    assert_moments_of(seen, points, weights, **allowed)


def test_points_without_weights_count_one_each():
    points, _ = random_data(0)
    assert_identical(Moments.of_points(points), Moments.of_points(points, np.ones(len(points))))


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e8])
@pytest.mark.parametrize("n_features", [1, 2, 4])
def test_one_set_per_component_is_what_the_points_say(offset, n_features):
    points, resp = random_data(n_features, n_samples=12, n_features=n_features)
    points = points + offset
    seen = Moments.of_points(points, resp)
    assert seen.n_features == n_features
    for k in range(resp.shape[1]):
        allowed = {"mean_error": 1e-15 * (offset + 10), "scatter_error": 1e-10}
        assert_moments_of(seen[k], points, resp[:, k], **allowed)


def test_tight_clusters_far_apart_keep_the_digits_of_their_scatter():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 20)
    points = np.array([[-1e6, 3e6], [1e6, 0.0]])[labels] + rng.normal(scale=1e-2, size=(40, 2))
    seen = Moments.of_points(points, np.eye(2)[labels])
    for k in range(2):
        _, _, scatter = oracles.moments_by_definition(points, np.eye(2)[labels][:, k])
        np.testing.assert_allclose(seen.scatter[k], scatter, rtol=1e-6)


def test_a_component_without_points_has_no_weight_and_no_scatter():
    points, resp = random_data(1)
    resp = np.hstack([resp, np.zeros((len(resp), 1))])
    seen = Moments.of_points(points + 5, resp)
    assert seen.weight[3] == 0
    assert np.isfinite(seen.mean[3]).all()
    assert not seen.scatter[3].any()


# --- the algebra ---------------------------------------------------------------------------------


def test_two_single_points_by_hand():
    left = Moments(1.0, np.array([0.0, 0.0]), np.zeros((2, 2)))
    right = Moments(3.0, np.array([4.0, 0.0]), np.zeros((2, 2)))
    total = left + right
    assert total.weight == 4.0
    assert total.mean.tolist() == [3.0, 0.0]
    # 1 * 3 / 4 * 4^2
    assert total.scatter.tolist() == [[12.0, 0.0], [0.0, 0.0]]
    assert_identical(total - left, right)


@given(point_sets(n_sets=2))
def test_a_sum_has_the_moments_of_all_points(sets):
    first, second = (Moments.of_points(*one) for one in sets)
    allowed = rounding(*sets, times=4)
    assert_moments_of(first + second, *together(*sets), **allowed)
    assert_moments_of(second + first, *together(*sets), **allowed)


@given(point_sets(n_sets=2))
def test_what_was_added_can_be_taken_away(sets):
    first, second = (Moments.of_points(*one) for one in sets)
    whole = first + second
    # The mean of a small rest carries the rounding of the whole, as often as it is lighter.
    times = 4.0 * float(whole.weight / first.weight) if first.weight > 0 else 4.0
    assert_close((whole - second), first, **rounding(*sets, times=times))


@given(point_sets(n_sets=3))
def test_the_order_of_sums_does_not_matter(sets):
    a, b, c = (Moments.of_points(*one) for one in sets)
    assert_close((a + b) + c, a + (b + c), **rounding(*sets, times=8))


@given(point_sets(n_sets=1, least=1), st.floats(-1e9, 1e9))
def test_nothing_is_the_zero_of_addition_to_the_last_bit(sets, place):
    some = Moments.of_points(*sets[0])
    nothing = Moments.of_nothing(some.n_features)
    anywhere = nothing.shifted(np.full(some.n_features, place))
    for none in (nothing, anywhere):
        for total in (some + none, none + some) if some.weight > 0 else ():
            assert_identical(total, some)
    assert (some - nothing).weight == some.weight
    rest = some - some
    assert rest.weight == 0.0
    assert not rest.scatter.any()
    assert (nothing + anywhere).weight == 0.0


def test_no_points_and_points_without_weight_are_nothing():
    for seen in (
        Moments.of_points(np.empty((0, 3))),
        Moments.of_points(np.ones((2, 3)), np.zeros(2)),
    ):
        assert_identical(seen, Moments.of_nothing(3))


def test_a_rest_that_is_only_rounding_is_nothing():
    # Ten times a tenth is not one: the weights differ in the last bit.
    tenths = Moments.of_nothing(2)
    for _ in range(10):
        tenths = tenths + Moments.of_points(np.ones((1, 2)), np.array([0.1]))
    one = Moments.of_points(np.ones((1, 2)))
    assert tenths.weight != one.weight
    for rest in (one - tenths, tenths - one):
        assert rest.weight == 0.0
        assert not rest.scatter.any()
    # So it is for large weights, whose last bit is worth more.
    many = Moments(1e9, np.ones(2), np.eye(2))
    assert (many - Moments(1e9 * (1 - 1e-15), np.ones(2), np.eye(2))).weight == 0.0


# --- many sets at once ---------------------------------------------------------------------------


def stack(sets, shape):
    """Moments with leading axes from a list of single ones."""
    n_features = sets[0].n_features
    return Moments(
        np.array([one.weight for one in sets]).reshape(shape),
        np.array([one.mean for one in sets]).reshape(*shape, n_features),
        np.array([one.scatter for one in sets]).reshape(*shape, n_features, n_features),
    )


@given(point_sets(n_sets=6))
def test_sums_of_many_are_those_of_each_to_the_last_bit(sets):
    each = [Moments.of_points(*one) for one in sets]
    rows = stack(each, (2, 3))
    added = rows[0] + rows[1]
    apart = added - rows[1]
    for k in range(3):
        assert_identical(added[k], each[k] + each[3 + k])
        assert_identical(apart[k], (each[k] + each[3 + k]) - each[3 + k])
    # One set beside many: it is added to each of them.
    shared = rows + each[0]
    assert_identical(shared[1, 2], each[5] + each[0])


@given(point_sets(n_sets=6))
def test_a_sum_along_an_axis_pools_the_points(sets):
    rows = stack([Moments.of_points(*one) for one in sets], (2, 3))
    for axis, groups in ((0, [(k, 3 + k) for k in range(3)]), (1, [(0, 1, 2), (3, 4, 5)])):
        pooled = rows.sum(axis)
        for index, group in enumerate(groups):
            chosen = [sets[i] for i in group]
            assert_moments_of(pooled[index], *together(*chosen), **rounding(*chosen, times=8))


def test_pooling_along_an_axis_that_is_not_there_is_refused():
    with pytest.raises(DataError, match=r"axis is 1; the leading axes are 0 to 0"):
        Moments.of_nothing(2, (3,)).sum(axis=1)


def test_indices_choose_sets_in_their_order():
    rows = Moments.of_points(*random_data(2))
    some = rows[np.array([2, 0])]
    for place, index in enumerate((2, 0)):
        assert_identical(some[place], rows[index])
    assert rows[rows.weight < 0].weight.shape == (0,)


def test_shifting_the_points_shifts_the_means():
    points, resp = random_data(2)
    offset = np.array([5.0, -3.0])
    shifted = Moments.of_points(points, resp).shifted(offset)
    again = Moments.of_points(points + offset, resp)
    for k in range(3):
        assert_close(shifted[k], again[k], mean_error=1e-13, scatter_error=1e-12)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(DataError, match=r"mean has shape \(2, 3\); weight has \(\)"):
        Moments(1.0, np.zeros((2, 3)), np.zeros((2, 3, 3)))
    with pytest.raises(DataError, match=r"scatter has shape \(3, 2\); mean has \(3,\)"):
        Moments(1.0, np.zeros(3), np.zeros((3, 2)))


# --- one point, in place -------------------------------------------------------------------------


@given(point_sets(n_sets=2, least=1))
def test_the_step_in_place_adds_and_takes_away_a_point(sets):
    (points, weights), others = sets
    point, weight = others[0][0], 0.5
    before = Moments.of_points(points, weights)
    if before.weight < 1e-300:  # the share of the other point would be no number
        return
    total = float(before.weight)
    mean, scatter = before.mean.copy(), before.scatter.copy()
    one = (point[None], np.array([weight]))
    allowed = rounding((points, weights), one, times=8.0 + 8.0 * weight / total)
    after = total + weight
    shift_moments(mean, scatter, point, weight / after, weight * total / after)
    assert_close(Moments(after, mean, scatter), before + Moments.of_points(*one), **allowed)
    shift_moments(mean, scatter, point, -weight / total, -weight * after / total)
    assert_close(Moments(total, mean, scatter), before, **allowed)
