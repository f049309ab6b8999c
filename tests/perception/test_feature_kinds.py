"""Which features are symbols: seen by how their values repeat."""

import numpy as np
import pytest

from tgm.perception.feature_kinds import feature_kinds, newness

RNG = np.random.default_rng(0)


def walk(n_steps: int, size: int = 5) -> np.ndarray:
    """A random walk in a grid: rows and columns."""
    rng, place, seen = np.random.default_rng(1), np.zeros(2), []
    for _ in range(n_steps):
        seen.append(place.copy())
        place[rng.integers(2)] += rng.choice([-1, 1])
        place = np.clip(place, 0, size - 1)
    return np.array(seen)


def slow_newness(points: np.ndarray) -> list[float]:
    half = len(points) // 2
    shares = []
    for column in points.T:
        new = sum(value not in column[: half + k] for k, value in enumerate(column[half:]))
        shares.append(new / (len(points) - half))
    return shares


@pytest.mark.parametrize("n", [2, 7, 64])
def test_newness_is_what_counting_gives(n):
    points = np.column_stack([RNG.integers(0, 6, n), RNG.normal(size=n), np.ones(n)])
    np.testing.assert_allclose(newness(points), slow_newness(points))


@pytest.mark.parametrize("n", [16, 32, 64, 128, 256])
def test_noise_is_continuous_at_the_first_look(n):
    kinds = feature_kinds(walk(n) + RNG.normal(0, 0.1, (n, 2)), is_last=False)
    assert not kinds.is_exact.any()
    assert kinds.is_sure


@pytest.mark.parametrize("scale", [1.0, 0.25, 0.1])
def test_a_grid_without_noise_is_exact(scale):
    kinds = feature_kinds(scale * walk(64), is_last=False)
    assert kinds.is_exact.all()
    assert kinds.is_sure


def test_exact_and_continuous_features_stand_side_by_side():
    points = np.column_stack([walk(256) / 4, RNG.normal(size=256), np.full(256, 0.3)])
    kinds = feature_kinds(points, is_last=True)
    assert kinds.is_exact.tolist() == [True, True, False, True]


def test_values_that_repeat_here_and_there_are_no_symbols():
    clipped = np.clip(RNG.normal(size=(256, 1)), -1.0, 1.0)  # a third of them is at the ends
    assert not feature_kinds(clipped, is_last=True).is_exact.any()
    restarted = RNG.normal(size=(256, 1))
    restarted[::20] = 0.0
    assert not feature_kinds(restarted, is_last=True).is_exact.any()


def test_rounded_noise_is_no_symbol_when_it_must_be_decided():
    points = np.rint(100 * walk(256) + RNG.normal(0, 10, (256, 2)))
    assert not feature_kinds(points, is_last=False).is_sure
    assert not feature_kinds(points, is_last=True).is_exact.any()


def test_a_large_world_where_every_observation_is_new_stays_exact():
    straight = np.column_stack([np.arange(256.0), np.zeros(256)])  # one long way
    assert feature_kinds(straight, is_last=True).is_exact.all()
    pictures = np.eye(256)
    assert feature_kinds(pictures, is_last=True).is_exact.all()
    bits = RNG.integers(0, 2, (256, 30)).astype(float)
    assert feature_kinds(bits, is_last=True).is_exact.all()
