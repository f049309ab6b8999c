"""Sparse transitions as a dense tensor."""

import numpy as np
from tests.transition.made import make

from tgm.transition.views import dense


def test_dense_counts_are_in_the_order_asked_for():
    model = make(5)
    model.add(4, 1, 2, 3.0, 0.0, 0.0)
    model.add(2, 0, 2, 1.0, 0.0, 0.0)
    counts = dense(model, np.array([2, 4]))
    assert counts.tolist() == [[[1, 0], [0, 0]], [[0, 0], [3, 0]]]
