"""Numbers that repeat are amounts if near ones behave alike."""

import numpy as np
import pytest
from tests import oracles

from tgm.perception import rounded
from tgm.perception.feature_kinds import EPISODE_START, OF_ROUNDING, feature_kinds
from tgm.perception.rounded import nats_of_amounts

BOTH = np.ones(2, dtype=bool)


def walk(n, seed, noise=0.0, unit=0.1, size=5):
    """A walk in a grid, seen with noise and rounded: points and the action before each."""
    rng, place, seen, actions = np.random.default_rng(seed), np.zeros(2), [], [EPISODE_START]
    for _ in range(n):
        seen.append(unit * np.rint((place + noise * rng.normal(size=2)) / unit))
        actions.append(int(rng.integers(4)))
        place[actions[-1] // 2] += 2 * (actions[-1] % 2) - 1
        place = np.clip(place, 0, size - 1)
    return np.array(seen), np.array(actions[:-1])


@pytest.mark.parametrize("amounts", [[True, True], [True, False]])
def test_the_nats_are_those_of_loops(amounts):
    points, actions = walk(14, 3, noise=0.3)
    actions[6] = EPISODE_START
    found = nats_of_amounts(points, actions, np.array(amounts), EPISODE_START)
    wanted = oracles.nats_of_rounded_amounts(
        points, actions.tolist(), amounts, EPISODE_START,
        rounded.WIDTHS_TRIED, rounded.BASE_COUNTS, rounded.SURPRISE,
    )  # fmt: skip
    assert found == pytest.approx(wanted, abs=0.05)  # sums of bells are interpolated


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("unit", [0.1, 0.05])
def test_cells_in_noise_are_amounts(unit, seed):
    points, actions = walk(96, seed, noise=0.15, unit=unit)
    assert nats_of_amounts(points, actions, BOTH, EPISODE_START) > 1.1 * OF_ROUNDING * 95
    kinds = feature_kinds(points, actions.tolist(), is_last=False)
    assert not kinds.is_exact.any()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n", [32, 64, 256])
def test_a_grid_is_none(n, seed):
    points, actions = walk(n, seed, unit=1.0, size=20)
    assert nats_of_amounts(points, actions, BOTH, EPISODE_START) < 0.7 * OF_ROUNDING * n
    assert feature_kinds(points, actions.tolist(), is_last=False).is_exact.all()


@pytest.mark.parametrize("seed", range(4))
def test_places_in_random_order_are_none(seed):
    """Numbers of places that say nothing of where they are."""
    points, actions = walk(256, seed, unit=1.0)
    name = np.random.default_rng(seed).permutation(25)[
        (5 * points[:, 0] + points[:, 1]).astype(int)
    ]
    one = np.ones(1, dtype=bool)
    assert nats_of_amounts(name[:, None] * 1.0, actions, one, EPISODE_START) < 0.0


@pytest.mark.parametrize("unit", [0.02, 0.05])
def test_speeds_that_are_rounded_are_amounts(unit):
    rng = np.random.default_rng(0)
    state, seen, actions = np.array([0.3, 0.0]), [], [EPISODE_START]
    for _ in range(128):
        seen.append(unit * np.rint(state / unit))
        actions.append(int(rng.integers(2)))
        pull = -0.1 * state[0] + 0.1 * (2 * actions[-1] - 1)
        state += [state[1] + pull, pull]
    kinds = feature_kinds(np.array(seen), actions[:-1], is_last=False)
    assert not kinds.is_exact.any()


def test_features_of_few_values_stay_names():
    points, actions = walk(128, 0, noise=0.15)
    flag = (np.arange(128) // 7 % 2)[:, None] * 1.0
    kinds = feature_kinds(np.column_stack([points, flag]), actions.tolist(), is_last=False)
    assert kinds.is_exact.tolist() == [False, False, True]
