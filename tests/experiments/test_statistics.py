"""The statistics against loops, enumeration and numbers worked by hand."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from tgm.errors import DataError
from tgm.experiments.statistics import (
    bootstrap_ratio,
    interquartile_mean,
    mean_and_deviation,
    median,
    performance_profile,
    probability_of_improvement,
    quantiles,
    stratified_bootstrap,
)


def slow_interquartile_mean(scores) -> float:
    """With every score four times, the middle half is a whole number of scores."""
    four_times = sorted(score for score in scores for _ in range(4))
    middle = four_times[len(scores) : 3 * len(scores)]
    return sum(middle) / len(middle)


def all_resamples(strata):
    """Every way to draw from each stratum as many as it has: all are equally likely."""
    ways = [product(scores, repeat=len(scores)) for scores in strata]
    for drawn in product(*ways):
        yield [score for scores in drawn for score in scores]


def slow_quantile(values, share) -> float:
    ordered = sorted(values)
    return next(v for i, v in enumerate(ordered, start=1) if i >= share * len(ordered) - 1e-9)


@pytest.mark.parametrize(
    ("scores", "mean"),
    [
        ([8, 1, 7, 2, 6, 3, 5, 4], 4.5),  # of 3, 4, 5, 6
        ([100, 0, 1, 2, 3], 2.0),  # (0.75 x 1 + 2 + 0.75 x 3) / 2.5
        ([3, 5], 4.0),
        ([7], 7.0),
        ([1, 2, 3, 4, 5, 6, 7, np.inf], 4.5),
    ],
)
def test_the_interquartile_mean_by_hand(scores, mean):
    assert interquartile_mean(scores) == pytest.approx(mean)


def test_the_interquartile_mean_of_any_number_of_runs():
    rng = np.random.default_rng(0)
    for n in range(1, 40):
        scores = rng.normal(size=(3, n))
        expected = [slow_interquartile_mean(row) for row in scores]
        np.testing.assert_allclose(interquartile_mean(scores), expected, rtol=1e-12)


def test_mean_and_deviation_by_hand():
    assert mean_and_deviation([2, 4, 4, 4, 5, 5, 7, 9]) == (5.0, 2.0)


def test_quantiles_are_values_that_occur():
    rng = np.random.default_rng(1)
    for n in (1, 2, 7, 40):
        values = rng.normal(size=n)
        for share in (0.025, 0.25, 0.5, 0.975):
            expected = slow_quantile(values, share)
            assert quantiles(values, [share]) == [expected]
            assert np.quantile(values, share, method="inverted_cdf") == expected
    assert quantiles([1.0, np.inf], [0.5, 0.9]) == [1.0, np.inf]


@pytest.mark.parametrize("statistic", [interquartile_mean, median])
def test_the_bootstrap_interval_is_that_of_all_resamples(statistic):
    strata = [[0.0, 1.0, 5.0], [10.0, 12.5], [3.3]]
    values = [float(statistic(np.array(drawn))) for drawn in all_resamples(strata)]
    assert len(values) == 3**3 * 2**2
    rng = np.random.default_rng(0)
    interval = stratified_bootstrap(strata, statistic, rng, n_resamples=100_000, confidence=0.9)
    assert interval.estimate == statistic(np.concatenate(strata))
    assert interval.low == pytest.approx(slow_quantile(values, 0.05))
    assert interval.high == pytest.approx(slow_quantile(values, 0.95))


def test_the_interval_of_a_ratio_is_that_of_all_resamples():
    above, below = [100.0, 300.0, np.inf], [2.0, 4.0, 5.0]
    values = [
        float(median(list(one))) / float(median(list(other)))
        for one in product(above, repeat=3)
        for other in product(below, repeat=3)
    ]
    rng = np.random.default_rng(0)
    interval = bootstrap_ratio(above, below, median, rng, n_resamples=100_000, confidence=0.8)
    assert interval.estimate == 75.0
    assert interval.low == pytest.approx(slow_quantile(values, 0.1))
    assert interval.high == np.inf == slow_quantile(values, 0.9)


def test_strata_are_not_mixed():
    """Each task has equal runs, so that no resample differs; mixed, they would."""
    rng = np.random.default_rng(0)
    interval = stratified_bootstrap([[1, 1], [9, 9]], lambda x: x.mean(axis=-1), rng)
    assert (interval.low, interval.estimate, interval.high) == (5.0, 5.0, 5.0)


def test_the_interval_of_a_median_with_runs_that_never_solve():
    rng = np.random.default_rng(0)
    interval = stratified_bootstrap([[10, 20, np.inf]], median, rng)
    assert (interval.low, interval.estimate, interval.high) == (10.0, 20.0, np.inf)


def test_the_same_seed_gives_the_same_interval():
    strata = [np.arange(9.0), np.arange(4.0)]
    one, two = (stratified_bootstrap(strata, median, np.random.default_rng(3)) for _ in range(2))
    assert one == two


def test_a_profile_by_hand_and_by_loops():
    strata = [[0.0, 0.5, 1.0, 1.0], [0.2, 0.2]]
    # Above 0.5: two of four and none of two; each task counts alike.
    assert performance_profile(strata, [0.5]).tolist() == [0.25]
    taus = [0.0, 0.1, 0.2, 0.9, 1.0]
    expected = [
        sum(sum(score > tau for score in scores) / len(scores) for scores in strata) / 2
        for tau in taus
    ]
    np.testing.assert_allclose(performance_profile(strata, taus), expected)


def test_the_probability_of_improvement_by_hand():
    # 3 beats 1 and 2; 2 beats 1 and ties with 2: 3.5 of 4.
    assert probability_of_improvement([[3, 2]], [[1, 2]]) == 0.875
    assert probability_of_improvement([[3, 2], [0]], [[1, 2], [1]]) == 0.4375
    assert probability_of_improvement([[-np.inf, -5]], [[-np.inf]]) == 0.75


def test_the_probability_of_improvement_is_that_of_mann_and_whitney():
    rng = np.random.default_rng(0)
    ours = [rng.integers(6, size=n) for n in (3, 8)]
    theirs = [rng.integers(6, size=n) for n in (5, 2)]
    expected = np.mean(
        [
            mannwhitneyu(a, b).statistic / (len(a) * len(b))
            for a, b in zip(ours, theirs, strict=True)
        ]
    )
    assert probability_of_improvement(ours, theirs) == pytest.approx(expected)


@pytest.mark.parametrize("scores", [[], [1.0, np.nan], 3.0])
def test_what_cannot_be_averaged_is_refused(scores):
    with pytest.raises(DataError, match="at least one run"):
        interquartile_mean(scores)


def test_different_tasks_cannot_be_compared():
    with pytest.raises(DataError, match="2 tasks against 1"):
        probability_of_improvement([[1], [2]], [[1]])
