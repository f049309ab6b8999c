"""A covariance that all states share, against the normal of scipy."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from tests.oracles import random_covariance

from tgm.perception.common_covariance import CommonCovariance


def test_what_is_computed_from_it_once():
    covariance = random_covariance(np.random.default_rng(0), 3)
    common = CommonCovariance(covariance)
    np.testing.assert_allclose(common.precision @ covariance, np.eye(3), atol=1e-12)
    np.testing.assert_array_equal(common.variance, np.diag(covariance))
    normal = multivariate_normal(np.zeros(3), covariance)
    assert common.log_peak() == pytest.approx(normal.logpdf(np.zeros(3)))
    wide = multivariate_normal(np.zeros(3), 2.5 * covariance)
    assert common.log_peak(2.5) == pytest.approx(wide.logpdf(np.zeros(3)))
    offsets = np.random.default_rng(1).normal(size=(4, 3))
    squares = -2.0 * (normal.logpdf(offsets) - common.log_peak())
    np.testing.assert_allclose(common.squares(offsets), squares)
    assert common.square(offsets[0]) == pytest.approx(squares[0])
