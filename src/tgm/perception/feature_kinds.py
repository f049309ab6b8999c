"""Which features of a Box are exact: names in the form of numbers, seen by how they repeat.

A continuous density gives an exact repetition the probability zero. So where the values of a
feature come again and again, they are symbols; where each is new, they are amounts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.perception.rounded import nats_of_amounts
from tgm.perception.symbol_book import is_whole

FEW_NEW = 0.1  # share of new values up to which a feature is surely exact; continuous: of others
SOME_NEW = 0.25  # share of new values up to which it is exact when that must be decided
MANY_VALUES = 0.05  # values per observation, from which they may be rounded amounts
MANY_SYMBOLS = 0.25  # share of new symbols from which features of many values may be rounded
MOSTLY_NEW = 0.75  # share of new symbols for this, where no step was taken twice
MOSTLY_UNKNOWN = 0.5  # share of new symbols from which some features may be nothing but noise
FEW_REPEATS = 5  # steps that were taken before, below which they say nothing
AGREE = 0.25  # share of them that lead where they led before, from which symbols are states
NEW_WAYS = 0.5  # share of new differences between two symbols, from which they are no lattice
ROUNDED_FROM = 32  # observations from which amounts that were rounded may be seen to be
LEAST_VALUES = 6  # of a feature that may be a rounded amount
MOST_ROUNDED = 12  # features that may be: with more of them the weighing takes too long
# Exact worlds have up to 0.37 nats a step; mazes in noise of half a unit and more, and worlds that
# flow, 0.8 and more.
OF_ROUNDING = 0.6  # nats a step by which amounts that were rounded must predict better than names
EPISODE_START = -1  # in place of an action: an episode begins


class FeatureKinds(NamedTuple):
    """What observations say of the features.

    Attributes:
        is_exact: (n_features,) whether the values of each are symbols.
        is_sure: whether more observations would hardly change it.
    """

    is_exact: BoolArray
    is_sure: bool


def feature_kinds(points: FloatArray, actions: list[int], *, is_last: bool) -> FeatureKinds:
    """The kinds of the features of points (n, n_features), in the order of time.

    What counts is the share of the newer half of the points whose value was never seen before.
    Some values of a continuous feature may repeat (where it is clipped, or at each start), so most
    of them must. Whole numbers are symbols, as long as they are no amounts that were rounded.

    Args:
        points: at least two.
        actions: what was done before each of them, EPISODE_START if an episode began.
        is_last: whether it must be decided now.
    """
    new = newness(points)
    whole = np.all(is_whole(points), axis=0)
    varies = np.any(points != points[0], axis=0)
    is_exact = np.asarray(whole | (new <= SOME_NEW) | ~varies)
    is_sure = whole | (varies & ((new <= FEW_NEW) | (new >= 1.0 - FEW_NEW)))
    if (rounded := _rounded(points, actions, is_exact)).any():
        return FeatureKinds(is_exact & ~rounded, bool(is_last or (is_sure | rounded).all()))
    if (is_exact & varies).any() and _are_measured(points[:, is_exact], actions):
        rounded = is_exact & (_n_values(points) >= MANY_VALUES * len(points))
        is_sure &= ~rounded
        is_exact &= ~(rounded & is_last)
    return FeatureKinds(is_exact, bool(is_last or is_sure.all()))


def _rounded(points: FloatArray, actions: list[int], is_exact: BoolArray) -> BoolArray:
    """(n_features,) the features that are amounts, by how alike near ones behave."""
    n_values, nothing = _n_values(points), np.zeros_like(is_exact)
    many = n_values >= max(LEAST_VALUES, MANY_VALUES * len(points))
    if len(points) < ROUNDED_FROM or not (many & is_exact).any() or many.sum() > MOST_ROUNDED:
        return nothing
    nats = nats_of_amounts(points, np.array(actions), many, EPISODE_START)
    return many if nats > OF_ROUNDING * (len(points) - actions.count(EPISODE_START)) else nothing


def _are_measured(symbols: FloatArray, actions: list[int]) -> bool:
    """Whether symbols (n, n_exact) behave as amounts do that are measured with noise and rounded.

    Symbols that are states lead where they led before, or at least to one of few places. Where no
    step is ever taken twice, a world of names may have as many states as observations; but one in
    which nearly all differences between two observations are new too is no grid.
    """
    share = _newness_of_rows(symbols)
    if share < MANY_SYMBOLS:
        return False
    n_repeats, n_agree = _agreement(symbols, actions)
    if n_repeats >= FEW_REPEATS:
        return n_agree < AGREE * n_repeats
    return share >= MOSTLY_NEW and _newness_of_rows(np.diff(symbols, axis=0)) >= NEW_WAYS


def are_seldom_states(symbols: FloatArray, actions: list[int]) -> bool:
    """Whether most symbols (n, n_exact) are new, and those seen again do not lead as before."""
    if _newness_of_rows(symbols) <= MOSTLY_UNKNOWN:
        return False
    n_repeats, n_agree = _agreement(symbols, actions)
    return n_repeats < FEW_REPEATS or n_agree < AGREE * n_repeats


def _agreement(symbols: FloatArray, actions: list[int]) -> tuple[int, int]:
    """Steps from a symbol by an action that had been tried there; and how many led as before."""
    names = [symbol.tobytes() for symbol in symbols]
    led: dict[tuple[bytes, int], set[bytes]] = {}
    n_repeats = n_agree = 0
    for before, after, action in zip(names[:-1], names[1:], actions[1:], strict=True):
        if action != EPISODE_START:
            known = led.setdefault((before, action), set())
            n_repeats += bool(known)
            n_agree += after in known
            known.add(after)
    return n_repeats, n_agree


def newness(points: FloatArray) -> FloatArray:
    """(n_features,) share of the newer half of points (n, n_features) whose value is new."""
    n, n_features = points.shape
    half = n // 2
    varies = np.flatnonzero(np.any(points != points[0], axis=0))
    share = np.zeros(n_features)
    if len(varies):
        values = points[:, varies]
        order = np.argsort(values, axis=0, kind="stable")
        ordered = np.take_along_axis(values, order, axis=0)
        is_first = np.ones(values.shape, dtype=bool)  # the first time that a value was seen
        is_first[1:] = ordered[1:] != ordered[:-1]
        share[varies] = np.sum(is_first & (order >= half), axis=0) / (n - half)
    return share


def _n_values(points: FloatArray) -> IntArray:
    """(n_features,) number of different values of each feature."""
    return np.asarray(1 + np.sum(np.diff(np.sort(points, axis=0), axis=0) > 0, axis=0))


def _newness_of_rows(points: FloatArray) -> float:
    """The share of the newer half of points that are new as a whole."""
    seen = {row.tobytes() for row in points[: len(points) // 2]}
    newer = points[len(points) // 2 :]
    n_new = 0
    for row in newer:
        n_new += row.tobytes() not in seen
        seen.add(row.tobytes())
    return n_new / len(newer)
