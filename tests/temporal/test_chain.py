"""Variational learning against enumeration, and against integrals over missing values."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from tgm.distributions import dirichlet
from tgm.distributions import normal_wishart as nw
from tgm.distributions.moments import Moments
from tgm.temporal.chain import ChainBelief, ChainData, ChainPrior, ChainSums
from tgm.temporal.episodes import Episodes
from tgm.temporal.rows import ObservedRows

PRIOR = ChainPrior(np.zeros(2), 0.3, np.eye(2), 4.0, 0.5, 0.5)


def two_clouds(rng, n_rows, missing=0.0):
    states = (np.arange(n_rows) // 3) % 2
    points = rng.normal(size=(n_rows, 2)) * 0.3 + 2.0 * states[:, None]
    points[rng.uniform(size=points.shape) < missing] = np.nan
    return points


def episodes_of(points, lengths=None, actions=None, n_actions=1):
    lengths = [len(points)] if lengths is None else lengths
    actions = np.zeros(len(points), int) if actions is None else actions
    return Episodes(points, actions, np.array(lengths), n_actions)


def start_of(data, n_states, rng):
    resp = rng.dirichlet(np.ones(n_states), size=data.episodes.n_rows)
    points = np.nan_to_num(data.episodes.points)
    sums = ChainSums.of_nothing(2, data.episodes.n_actions, n_states)
    return ChainSums(Moments.of_points(points, resp), sums.transitions, sums.starts, sums.tallies)


def exact_log_evidence(episodes, prior, n_states):
    """ln of the sum over all paths of the evidence with known states."""
    total = -np.inf
    for path in itertools.product(range(n_states), repeat=episodes.n_rows):
        resp = np.eye(n_states)[list(path)]
        transitions = np.stack([resp[rows].T @ resp[rows + 1] for rows in episodes.steps])
        sums = ChainSums(
            Moments.of_points(episodes.points, resp),
            transitions,
            resp[episodes.starts].sum(axis=0),
            np.zeros((4, episodes.n_actions, n_states)),
        )
        total = np.logaddexp(total, ChainBelief(prior, sums).log_evidence)
    return total


@pytest.mark.parametrize("n_states", [1, 2])
def test_the_bound_is_below_the_evidence_of_all_paths_and_near_it(n_states):
    rng = np.random.default_rng(0)
    actions = rng.integers(0, 2, 9)
    data = ChainData.of(episodes_of(two_clouds(rng, 9), [5, 4], actions, 2), blur=0.0)
    start = start_of(data, n_states, rng)
    fit = data.refine(PRIOR, start, start.emptied(), tolerance=1e-12)
    exact = exact_log_evidence(data.episodes, PRIOR, n_states)
    assert fit.bound <= exact + 1e-9
    assert fit.bound > exact - 3.0
    if n_states == 1:  # nothing is hidden: the bound is the evidence
        assert fit.bound == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_bound_never_falls(missing):
    rng = np.random.default_rng(1)
    data = ChainData.of(episodes_of(two_clouds(rng, 60, missing), [40, 20]))
    start = start_of(data, 3, rng)
    fit = data.refine(PRIOR, start, start.emptied(), tolerance=1e-12, most=80)
    assert len(fit.bounds) > 5
    assert (np.diff(fit.bounds) > -1e-8).all()


def test_earlier_data_counts_as_if_it_were_there():
    """With sure states, a fit of the second half given the sums of the first is that of both."""
    rng = np.random.default_rng(2)
    points = two_clouds(rng, 48) * [5.0, 5.0]
    whole, halves = ChainData.of(episodes_of(points, [24, 24])), []
    sums = ChainSums.of_nothing(2, 1, 2)
    for part in (points[:24], points[24:]):
        data = ChainData.of(episodes_of(part))
        resp = np.eye(2)[(part[:, 0] > 5.0).astype(int)]
        empty = sums.emptied()
        moments = Moments.of_points(part, resp)
        start = ChainSums(moments, empty.transitions, empty.starts, empty.tallies)
        fit = data.refine(PRIOR, start, sums, tolerance=1e-12)
        sums = sums + fit.belief.learn(data.rows, fit.smoothed)
        halves.append(fit)
    resp = np.eye(2)[(points[:, 0] > 5.0).astype(int)]
    empty = sums.emptied()
    start = ChainSums(
        Moments.of_points(points, resp), empty.transitions, empty.starts, empty.tallies
    )
    both = whole.refine(PRIOR, start, empty, tolerance=1e-12)
    assert halves[1].bound == pytest.approx(both.bound, abs=1e-3)
    np.testing.assert_allclose(sums.transitions, both.belief.sums.transitions, atol=1e-3)


def a_belief(rng):
    prior = PRIOR.states(3)
    moments = Moments.of_points(rng.normal(size=(30, 2)), rng.dirichlet(np.ones(3), size=30))
    return nw.update(prior, moments)


def test_missing_values_are_integrated_out_of_densities():
    rng = np.random.default_rng(3)
    states = a_belief(rng)
    points = np.array([[0.3, -0.2], [0.3, np.nan], [np.nan, -0.2], [np.nan, np.nan]])
    found = ObservedRows(points).expected_log_densities(states)
    grid = np.linspace(-15, 15, 1201)
    width = grid[1] - grid[0]
    whole = nw.expected_log_density(states, points[:1])
    one = np.stack([np.full_like(grid, 0.3), grid], axis=1)
    other = np.stack([grid, np.full_like(grid, -0.2)], axis=1)
    np.testing.assert_allclose(found[:1], whole)
    for row, line in ((1, one), (2, other)):
        integral = np.exp(nw.expected_log_density(states, line)).sum(axis=0) * width
        np.testing.assert_allclose(found[row], np.log(integral), atol=1e-6)
    plane = np.stack(np.meshgrid(grid[::4], grid[::4]), axis=-1).reshape(-1, 2)
    integral = np.exp(nw.expected_log_density(states, plane)).sum(axis=0) * (4 * width) ** 2
    np.testing.assert_allclose(found[3], np.log(integral), atol=1e-6)


def test_moments_of_missing_values_are_the_expected_ones():
    rng = np.random.default_rng(4)
    mean, covariance = np.array([1.0, -1.0]), np.array([[1.0, 0.6], [0.6, 2.0]])
    points, resp = np.array([[0.0, np.nan], [2.0, -3.0], [np.nan, np.nan]]), np.ones((3, 1))
    found = ObservedRows(points).moments(resp, mean[None], covariance[None])
    given = -1.0 + 0.6 * (0.0 - 1.0)
    draws = np.concatenate(
        [
            np.stack([np.zeros(200_000), rng.normal(given, np.sqrt(2.0 - 0.36), 200_000)], axis=1),
            np.tile(points[1], (200_000, 1)),
            stats.multivariate_normal(mean, covariance).rvs(200_000, random_state=5),
        ]
    )
    np.testing.assert_allclose(found.mean[0], draws.mean(axis=0), atol=0.01)
    np.testing.assert_allclose(found.scatter[0] / 3, np.cov(draws.T, ddof=0), atol=0.02)
    filled = ObservedRows(points).filled(resp, mean[None], covariance[None])
    np.testing.assert_allclose(filled, [[0.0, given], [2.0, -3.0], mean])


def test_a_merge_and_a_choice_of_states_keep_all_data():
    rng = np.random.default_rng(6)
    data = ChainData.of(episodes_of(two_clouds(rng, 30)))
    start = start_of(data, 3, rng)
    fit = data.refine(PRIOR, start, start.emptied(), most=2)
    sums = fit.belief.learn(data.rows, fit.smoothed)
    merged = sums.merged(0, 2)
    assert merged.n_states == 2
    assert merged.moments.weight.sum() == pytest.approx(30)
    assert merged.transitions.sum() == pytest.approx(sums.transitions.sum())
    wide = sums.widened(2)
    np.testing.assert_allclose(wide.take(np.arange(3)).transitions, sums.transitions)
    assert dirichlet.mean(ChainBelief(PRIOR, wide).rows).sum(axis=-1) == pytest.approx(1.0)


def test_blur_is_the_mean_over_what_may_have_been_there():
    rng, blur = np.random.default_rng(4), 0.3
    points, resp = rng.normal(size=(5, 2)), rng.dirichlet(np.ones(3), 5)
    states = ChainBelief(PRIOR, start_of(ChainData.of(episodes_of(points)), 3, rng)).states
    # Four points around each have its mean and the variance `blur` in every direction.
    around = np.sqrt(2 * blur) * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
    near = (points[:, None] + around).reshape(-1, 2)
    blurry, sharp = ObservedRows(points, blur), ObservedRows(near)
    expected = sharp.expected_log_densities(states).reshape(5, 4, 3).mean(axis=1)
    np.testing.assert_allclose(blurry.expected_log_densities(states), expected, rtol=1e-12)
    spread = np.tile(np.eye(2), (3, 1, 1))
    ours = blurry.moments(resp, states.mean, spread)
    theirs = sharp.moments(np.repeat(resp / 4, 4, axis=0), states.mean, spread)
    np.testing.assert_allclose(ours.scatter, theirs.scatter, atol=1e-12)
    np.testing.assert_allclose(ours.mean, theirs.mean, atol=1e-12)
