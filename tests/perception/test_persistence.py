"""Which component is which from one fit to the next."""

import numpy as np

from tgm.distributions import NormalWishart
from tgm.perception.mixture import Mixture
from tgm.perception.persistence import match_components


def mixture_at(means, variance=0.04) -> Mixture:
    """Components with known expected mean and covariance."""
    means = np.array(means, dtype=float).reshape(-1, 2)
    n, dof = len(means), 10.0
    inverse_scale = np.tile(variance * dof * np.eye(2), (n, 1, 1))
    components = NormalWishart(means, np.full(n, 5.0), np.full(n, dof), inverse_scale)
    return Mixture(np.ones(n), components)


def test_components_are_found_again_in_another_order():
    old, new = mixture_at([(0, 0), (1, 0), (2, 0)]), mixture_at([(2, 0.05), (5, 5), (0, 0.05)])
    assert match_components(old, new, 0.5).tolist() == [2, -1, 0]


def test_the_threshold_is_on_kl_of_old_to_new():
    # Equal covariances: KL = |difference|^2 / (2 variance) = 0.5 at a distance of 0.2.
    old = mixture_at([(0, 0)])
    assert match_components(old, mixture_at([(0.199, 0)]), 0.5).tolist() == [0]
    assert match_components(old, mixture_at([(0.201, 0)]), 0.5).tolist() == [-1]
    # A wide old one does not fit into a narrow new one, though the converse holds:
    # KL(wide || narrow) = 2 - ln 3 - 1 + ... = 0.901, KL(narrow || wide) = 0.432.
    wide, narrow = mixture_at([(0, 0)], variance=0.12), mixture_at([(0, 0)], variance=0.04)
    assert match_components(wide, narrow, 0.5).tolist() == [-1]
    assert match_components(narrow, wide, 0.5).tolist() == [0]


def test_the_match_is_one_to_one():
    old = mixture_at([(0, 0)])
    assert match_components(old, mixture_at([(0.05, 0), (0.01, 0)]), 0.5).tolist() == [-1, 0]
    new = mixture_at([(0, 0)])
    assert match_components(mixture_at([(0.05, 0), (0.01, 0)]), new, 0.5).tolist() == [1]
