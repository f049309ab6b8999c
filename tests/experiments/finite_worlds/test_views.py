"""Views: their statistics, and that they repeat from a seed."""

import numpy as np
import pytest

from tgm.experiments.finite_worlds.mazes import OUTLIER_NOISE
from tgm.experiments.finite_worlds.views import Digits, Noisy, Numbers, OneHot
from tgm.experiments.finite_worlds.worlds import WORLDS

N = 40_000


def seen(name, state, seed=0):
    """Many observations of a state of a world."""
    view = WORLDS[name].make(seed).view
    return view, view.observe(np.full(N, state), np.random.default_rng(5))


def test_distractors_are_standard_normal_in_every_state():
    for state in (0, 7):
        view, x = seen("maze-distractors-8", state)
        assert x.shape == (N, 10)
        np.testing.assert_allclose(x.mean(axis=0)[:2], view.means[state, :2], atol=0.01)
        np.testing.assert_allclose(x.mean(axis=0)[2:], 0.0, atol=0.03)
        np.testing.assert_allclose(x.std(axis=0), [0.15] * 2 + [1.0] * 8, rtol=0.03)


@pytest.mark.parametrize("share", [0.01, 0.05])
def test_outliers_are_as_many_and_as_wide_as_said(share):
    view, x = seen(f"maze-outliers-{share}", 3)
    expected = 0.15**2 + share * OUTLIER_NOISE**2
    np.testing.assert_allclose(x.var(axis=0), expected, rtol=0.15)
    far = (np.abs(x - view.means[3]) > 5 * 0.15).any(axis=1)
    # An outlier is beyond 5 deviations in one of two features with probability 0.854.
    assert far.mean() == pytest.approx(0.854 * share, rel=0.1)


def test_the_axes_have_noise_of_their_own():
    _, x = seen("maze-axes", 3)
    np.testing.assert_allclose(x.std(axis=0), [0.3, 0.02], rtol=0.03)


def test_codes_are_drawn_for_each_seed():
    first, second = (WORLDS["maze-codes-16-noise-0.15"].make(seed).view for seed in (0, 1))
    again = WORLDS["maze-codes-16-noise-0.15"].make(0).view
    np.testing.assert_array_equal(first.means, again.means)
    assert not np.array_equal(first.means, second.means)
    assert first.means.shape == (25, 16)
    assert first.means.std() == pytest.approx(1.0, abs=0.1)


def test_views_of_states_without_noise():
    rng = np.random.default_rng(0)
    states = np.array([0, 5, 6])
    assert Numbers(7).observe(states, rng).tolist() == [0, 5, 6]
    assert np.array(Digits((3, 4)).observe(states, rng)).T.tolist() == [[0, 0], [1, 1], [1, 2]]
    pictures = OneHot((2, 3)).observe(states, rng)
    assert pictures.shape == (3, 2, 3)
    assert pictures[1, 1, 2] == 1.0
    assert not pictures[2].any()  # after the last place
    assert not Noisy(np.eye(2), np.zeros(2)).is_noisy
    assert Noisy(np.eye(2), np.zeros(2), 0.1, 1.0).is_noisy


def test_an_episode_repeats_from_its_seed():
    env = WORLDS["mix-slip-distractors-outliers"].make(0).env

    def episode():
        observations = [env.reset(seed=9)[0]]
        observations += [env.step(action)[0] for action in (1, 3, 1, 3)]
        return np.array(observations)

    first = episode()
    env.step(0)
    np.testing.assert_array_equal(first, episode())


def test_another_unit_changes_every_number_and_nothing_else():
    view = Noisy(np.eye(2), np.full(2, 0.1), 0.5, 3.0).with_distractors(1)
    states = np.array([0, 1, 1, 0])
    plain = view.observe(states, np.random.default_rng(3))
    large = view.in_unit(1000.0).observe(states, np.random.default_rng(3))
    np.testing.assert_allclose(large, 1000.0 * plain, rtol=1e-12)
