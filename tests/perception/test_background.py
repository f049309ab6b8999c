"""The share of outliers: the mean of a Beta posterior."""

import numpy as np
import pytest
from scipy.stats import beta

from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.perception.background import Background


@pytest.mark.parametrize(("outliers", "points"), [(0, 0), (0, 500), (7, 90), (50, 1000)])
def test_the_share_is_the_mean_of_the_posterior(outliers, points):
    background = Background(float(outliers), float(points))
    posterior = beta(0.5 + outliers, 99.5 + points - outliers)
    assert background.share == pytest.approx(posterior.mean())


def test_before_anything_is_seen_one_of_two_hundred_is_an_outlier():
    assert Background().share == 0.005


def test_what_happens_more_often_than_one_time_in_ten_is_no_outlier():
    assert Background(50.0, 60.0).share == 0.1
    assert Background(9.0, 100.0).share < 0.1


def test_what_is_restored_is_the_same_and_checked():
    again = Background()
    again.restore(ArrayReader(Background(3.0, 40.0).to_arrays()))
    assert again == Background(3.0, 40.0)
    for wrong in ([3.0], [-1.0, 4.0], [np.nan, 4.0], [5.0, 4.0]):
        with pytest.raises(DataError, match="counts"):
            Background().restore(ArrayReader({"counts": np.array(wrong)}))


def test_nothing_was_seen_at_first():
    empty = Background()
    assert (empty.n_outliers, empty.n_points) == (0.0, 0.0)
    assert empty.share == pytest.approx(0.005)
