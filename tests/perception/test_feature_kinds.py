"""Which features are symbols: seen by how their values repeat."""

import numpy as np
import pytest

from tgm.perception.feature_kinds import (
    EPISODE_START,
    are_seldom_states,
    feature_kinds,
    newness,
)

RNG = np.random.default_rng(0)


def walk(n_steps: int, size: int = 5) -> tuple[np.ndarray, list[int]]:
    """A random walk in a grid: rows and columns, and the actions that led there."""
    rng, place, seen, actions = np.random.default_rng(1), np.zeros(2), [], [EPISODE_START]
    for _ in range(n_steps):
        seen.append(place.copy())
        action = int(rng.integers(4))
        place[action // 2] += 2 * (action % 2) - 1
        place = np.clip(place, 0, size - 1)
        actions.append(action)
    return np.array(seen), actions[:-1]


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


def kinds_of(points: np.ndarray, *, is_last: bool = True, n_actions: int = 4):
    actions = np.random.default_rng(2).integers(0, n_actions, len(points)).tolist()
    return feature_kinds(points, [EPISODE_START, *actions[1:]], is_last=is_last)


@pytest.mark.parametrize("n", [16, 32, 64, 128, 256])
def test_noise_is_continuous_at_the_first_look(n):
    kinds = kinds_of(walk(n)[0] + RNG.normal(0, 0.1, (n, 2)), is_last=False)
    assert not kinds.is_exact.any()
    assert kinds.is_sure


@pytest.mark.parametrize("scale", [1.0, 0.25, 0.1])
def test_a_grid_without_noise_is_exact(scale):
    points, actions = walk(64)
    kinds = feature_kinds(scale * points, actions, is_last=False)
    assert kinds.is_exact.all()
    assert kinds.is_sure


def test_exact_and_continuous_features_stand_side_by_side():
    points = np.column_stack([walk(256)[0] / 4, RNG.normal(size=256), np.full(256, 0.3)])
    assert feature_kinds(points, walk(256)[1], is_last=True).is_exact.tolist() == [
        True, True, False, True,
    ]  # fmt: skip


def test_values_that_repeat_here_and_there_are_no_symbols():
    clipped = np.clip(RNG.normal(size=(256, 1)), -1.0, 1.0)  # a third of them is at the ends
    assert not kinds_of(clipped).is_exact.any()
    restarted = RNG.normal(size=(256, 1))
    restarted[::20] = 0.0
    assert not kinds_of(restarted).is_exact.any()


@pytest.mark.parametrize("deviation", [1.0, 3.0, 10.0, 30.0])
@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_rounded_noise_is_no_symbol_when_it_must_be_decided(deviation, unit):
    points, actions = walk(256)
    points = unit * np.rint(100 * points + RNG.normal(0, deviation, (256, 2)))
    assert not feature_kinds(points, actions, is_last=True).is_exact.any()
    assert not feature_kinds(points, actions, is_last=False).is_exact.any()


def test_chance_is_no_noise():
    """Steps that lead to one of three places, in a world of many."""
    rng, place, places = np.random.default_rng(3), 0, []
    for _ in range(256):
        places.append(float(place))
        place = (place * 7 + int(rng.integers(3)) * 11) % 101
    assert kinds_of(np.array(places)[:, None], n_actions=1).is_exact.all()


def test_a_large_world_where_every_observation_is_new_stays_exact():
    straight = np.column_stack([np.arange(256.0), np.zeros(256)])  # one long way
    assert kinds_of(straight).is_exact.all()
    assert kinds_of(np.eye(256)).is_exact.all()  # pictures
    assert kinds_of(RNG.integers(0, 2, (256, 30)).astype(float)).is_exact.all()  # bits


@pytest.mark.parametrize(
    ("n_new", "is_exact", "is_sure"),
    [
        (2, True, True),
        (3, True, False),
        (5, True, False),
        (6, False, False),
        (17, False, False),
        (18, False, True),
    ],
)
def test_how_many_of_the_newer_values_are_new_decides(n_new, is_exact, is_sure):
    """Up to one in ten they are symbols, from nine in ten on amounts; in between it is a guess."""
    values = [*range(20), *range(20 - n_new), *range(100, 100 + n_new)]
    points = 0.3 + np.array(values, dtype=float)[:, None]  # no whole numbers
    kinds = feature_kinds(
        points, [EPISODE_START, *range(39)], is_last=False
    )  # no step is taken twice
    assert kinds.is_exact.tolist() == [is_exact]
    assert kinds.is_sure == is_sure


def pairs(n_again: int, n_agree: int, n_new: int) -> tuple[np.ndarray, list[int]]:
    """Forty episodes of one step: twenty from new places, then some from these places again.

    Args:
        n_again: how many of the later ones begin where an earlier one did.
        n_agree: how many of those lead where that one led.
        n_new: how many of the others lead to a new place, and not where another one led.
    """
    first = [(i, 100 + i) for i in range(20)]
    agree = [(i, 100 + i) for i in range(n_agree)]
    new = [(i, 200 + i) for i in range(n_agree, n_agree + n_new)]
    wrong = [(i, 100 + (i + 1) % 20) for i in range(n_agree + n_new, n_again)]
    others = [(1000 + 2 * i, 1001 + 2 * i) for i in range(20 - n_again)]
    symbols = np.array([*first, *agree, *new, *wrong, *others], dtype=float)
    return symbols.reshape(-1, 1), [EPISODE_START, 0] * 40


@pytest.mark.parametrize(
    ("n_again", "n_agree", "n_new", "is_exact"),
    [
        (20, 0, 9, True),  # fewer than a quarter of the newer symbols are new
        (20, 0, 10, False),
        (20, 5, 15, True),  # a quarter leads where it led before
        (20, 4, 16, False),
        (4, 0, 4, True),  # so few say nothing
        (5, 0, 5, False),
    ],
)
def test_symbols_that_lead_elsewhere_each_time_are_rounded_amounts(
    n_again, n_agree, n_new, is_exact
):
    symbols, actions = pairs(n_again, n_agree, n_new)
    assert feature_kinds(symbols, actions, is_last=True).is_exact.tolist() == [is_exact]


@pytest.mark.parametrize(
    ("n_again", "n_agree", "n_new", "are_seldom"),
    [
        (20, 0, 20, False),  # half of the newer symbols are known
        (9, 0, 0, True),
        (9, 2, 0, True),
        (9, 3, 0, False),  # a quarter leads where it led before
        (4, 4, 0, True),  # so few say nothing
        (5, 5, 0, False),
    ],
)
def test_symbols_are_seldom_states_if_most_are_new_and_the_others_lead_elsewhere(
    n_again, n_agree, n_new, are_seldom
):
    assert are_seldom_states(*pairs(n_again, n_agree, n_new)) == are_seldom


@pytest.mark.parametrize(("n_new", "is_exact"), [(14, True), (15, False)])
def test_where_no_step_is_taken_twice_three_quarters_must_be_new(n_new, is_exact):
    cubes = np.arange(20 + n_new, dtype=float) ** 3
    symbols = np.concatenate([cubes[:20], cubes[: 20 - n_new], cubes[20:]])[:, None]
    kinds = feature_kinds(symbols, [EPISODE_START, *range(39)], is_last=True)
    assert kinds.is_exact.tolist() == [is_exact]


@pytest.mark.parametrize(("n_new", "is_exact"), [(9, True), (10, False)])
def test_where_half_of_the_differences_are_known_symbols_lie_on_a_grid(n_new, is_exact):
    differences = [*range(1, 21), *range(1, 21 - n_new), *range(100, 100 + n_new)]
    symbols = np.cumsum([0.0, *differences])[:, None]
    kinds = feature_kinds(symbols, [EPISODE_START, *range(40)], is_last=True)
    assert kinds.is_exact.tolist() == [is_exact]
