"""Which parts an empty world is made of, and how wide its states may be expected to be."""

import numpy as np
import pytest

from tgm.config import TGMConfig
from tgm.learners.world_kinds import GaussianKind, KeyedKind, SharedKind, SymbolKind, gaussian_kind
from tgm.perception.gaussian_states import GaussianStates
from tgm.perception.shared_states import SharedGaussianStates
from tgm.structure.scale import Scale

CONFIG = TGMConfig(bandwidth=0.5, row_prior=0.7, kept_per_state=3)


def empty(kind, n_features: int):
    scale = Scale.of_bandwidth(0.5, n_features)
    return kind.world(2, CONFIG, scale), scale


@pytest.mark.parametrize(
    ("n_features", "states"),
    [
        (1, GaussianStates),
        (8, GaussianStates),
        (9, SharedGaussianStates),
        (60, SharedGaussianStates),
    ],
)
def test_states_of_more_than_eight_features_share_a_covariance(n_features, states):
    world, scale = empty(gaussian_kind(n_features), n_features)
    assert type(world.states) is states
    np.testing.assert_allclose(world.states.prior_covariance, scale.covariance)
    assert world.states.n_features == n_features


@pytest.mark.parametrize("n_features", [1, 3])
def test_the_covariance_is_worth_twenty_points_whatever_the_features(n_features):
    assert empty(GaussianKind(), n_features)[0].states.prior_dof == 20
    assert empty(KeyedKind(), n_features + 1)[0].states.prior_dof == 20


def test_a_key_has_no_scale():
    world, scale = empty(KeyedKind(), 3)
    assert world.states.n_features == 3
    np.testing.assert_allclose(world.states.prior_covariance[1:, 1:], scale.covariance[1:, 1:])


def test_how_many_states_there_may_be():
    assert GaussianKind().most_states(200) < SharedKind().most_states(200) == 2000
    assert SymbolKind(77).most_states(200) == 77


@pytest.mark.parametrize("kind", [GaussianKind(), SharedKind(), KeyedKind(), SymbolKind(9)])
def test_a_world_of_which_nothing_is_known(kind):
    world, _ = empty(kind, 2)
    assert world.states.n_alive == 0
    assert world.transitions.n_actions == 2
    assert world.transitions.gamma == CONFIG.gamma
    assert kind.trust(world, 0).shape == (0, 2)
    posterior = kind.step_filter(world, CONFIG, 5).posterior(np.zeros(2), [], None, None)
    assert posterior.newness == 1.0
    assert posterior.outlier == posterior.log_density == 0.0
    assert posterior.after == posterior.entries == []
