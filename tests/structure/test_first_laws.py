"""Laws of the first steps for many candidates, against a loop over each of them."""

import numpy as np
import pytest
from scipy import stats

from tgm.perception.feature_kinds import EPISODE_START
from tgm.structure.first_laws import FirstLaws
from tgm.transition.displacements import BROAD_DOF, FLOOR, OWN_SHARE, PRIOR_WEIGHT

REACH = np.array([[1.0, 2.0], [3.0, 0.5], [10.0, 10.0]])  # of three candidates


def broad_density(displacement, reach):
    """ln density of a Student t as wide as a typical step in each feature."""
    return stats.multivariate_t.logpdf(displacement, shape=np.diag(reach**2), df=BROAD_DOF)


def law_density(displacement, reach, moved):
    """The same after an action moved a candidate by `moved` (n, 2)."""
    if len(moved) == 0:
        return broad_density(displacement, reach)
    total = PRIOR_WEIGHT + len(moved)
    variance = (PRIOR_WEIGHT * reach**2 + len(moved) * moved.var(axis=0)) / total
    width = np.sqrt(variance * (1.0 + 1.0 / total) + FLOOR)
    own = stats.norm.logpdf(displacement, moved.mean(axis=0), width).sum()
    return np.logaddexp(
        np.log(OWN_SHARE) + own, np.log(1.0 - OWN_SHARE) + broad_density(displacement, reach)
    )


def test_every_candidate_has_the_law_of_its_own_steps():
    rng = np.random.default_rng(0)
    laws, moved = FirstLaws(REACH.T, 2), [[[] for _ in range(2)] for _ in REACH]
    for _ in range(12):
        action, step = int(rng.integers(2)), rng.normal(size=(3, 2))
        has_moved = rng.random(3) < (0.9, 0.5, 0.0)  # the third one never moves
        laws.add(step.T, action, has_moved)
        for candidate in np.flatnonzero(has_moved):
            moved[candidate][action].append(step[candidate])
    asked = 2.0 * rng.normal(size=(3, 4, 2))
    for action in range(2):
        seen = laws.log_densities(np.moveaxis(asked, -1, 0), action)
        for candidate, reach in enumerate(REACH):
            own = np.array(moved[candidate][action]).reshape(-1, 2)
            wanted = [law_density(point, reach, own) for point in asked[candidate]]
            np.testing.assert_allclose(seen[candidate], wanted)


@pytest.mark.parametrize("action", [0, EPISODE_START])
def test_what_nothing_is_known_of_leads_as_far_as_a_typical_step(action):
    laws = FirstLaws(REACH.T, 2)
    laws.add(np.ones((2, 3)), 1, np.array([True, True, True]))
    laws.add(np.ones((2, 3)), 0, np.array([False, False, False]))
    asked = np.random.default_rng(1).normal(size=(3, 5, 2))
    wanted = [broad_density(points, reach) for points, reach in zip(asked, REACH, strict=True)]
    found = laws.log_densities(np.moveaxis(asked, -1, 0), action)
    np.testing.assert_allclose(found, wanted)
