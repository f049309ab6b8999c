"""States of many candidate scales, beside their definition."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from tgm.structure.first_states import FirstStates


@pytest.mark.parametrize("n_dims", [1, 2, 3])
def test_means_weights_and_densities_by_definition(n_dims):
    rng, n_candidates, n = np.random.default_rng(n_dims), 4, 6
    points = rng.normal(size=(n_candidates, n, n_dims))
    slots = rng.integers(3, size=(n_candidates, n))
    slots[:, 0] = 0
    states = FirstStates(points[:, 0].T, n)
    for now in range(1, n):
        states.add(points[:, now].T, slots[:, now], np.ones(n_candidates))
    states.add(points[:, 0].T + 9.0, slots[:, 1], np.zeros(n_candidates))  # an outlier adds nothing
    found = states.log_densities(points[:, 0].T, 3)
    for candidate in range(n_candidates):
        for slot in range(3):
            own = points[candidate, slots[candidate] == slot]
            assert states.weight[candidate, slot] == len(own)
            if len(own):
                mean, variance = own.mean(axis=0), 1.0 + 1.0 / len(own)
                np.testing.assert_allclose(states.mean[:, candidate, slot], mean)
                law = multivariate_normal(mean, variance * np.eye(n_dims))
                expected = law.logpdf(points[candidate, 0])
                assert found[candidate, slot] == pytest.approx(expected)
                assert (
                    states.means(np.full(n_candidates, slot))[:, candidate]
                    == states.mean[:, candidate, slot]
                ).all()
            else:
                assert found[candidate, slot] == -np.inf
