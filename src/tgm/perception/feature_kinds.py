"""Which features of a Box are exact: names in the form of numbers, seen by how they repeat.

A continuous density gives an exact repetition the probability zero. So where the values of a
feature come again and again, they are symbols; where each is new, they are amounts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.perception.symbol_book import is_whole

FEW_NEW = 0.1  # share of new values up to which a feature is surely exact
SOME_NEW = 0.25  # the same, when it must be decided
MOST_NEW = 0.9  # from this share on a feature is surely continuous
MANY_VALUES = 0.1  # values per observation, from which whole numbers may be rounded amounts
NEW_STEPS = 0.2  # and share of differences between observations that are new


class FeatureKinds(NamedTuple):
    """What observations say of the features.

    Attributes:
        is_exact: (n_features,) whether the values of each are symbols.
        is_sure: whether more observations would hardly change it.
    """

    is_exact: BoolArray
    is_sure: bool


def feature_kinds(points: FloatArray, *, is_last: bool) -> FeatureKinds:
    """The kinds of the features of points (n, n_features), in the order of time.

    What counts is the share of the newer half of the points whose value was never seen before.
    Some values of a continuous feature may repeat (where it is clipped, or at each start), so most
    of them must. Whole numbers are symbols, unless nearly all observations are new and a feature
    has many values and many differences between one observation and the next: the world has a
    state per observation then, or its amounts are measured with noise and rounded.

    Args:
        points: at least two.
        is_last: whether it must be decided now.
    """
    new = newness(points)
    whole = np.all(is_whole(points), axis=0)
    varies = np.any(points != points[0], axis=0)
    is_exact = np.where(whole, True, new <= SOME_NEW) | ~varies
    is_sure = whole | (varies & ((new <= FEW_NEW) | (new >= MOST_NEW)))
    if (whole & varies).any() and _newness_of_rows(points[:, is_exact]) >= MOST_NEW:
        rounded = whole & (_n_values(points) >= MANY_VALUES * len(points))
        rounded &= newness(np.diff(points, axis=0)) >= NEW_STEPS
        is_sure &= ~rounded
        is_exact &= ~(rounded & is_last)
    return FeatureKinds(np.asarray(is_exact), bool(is_last or is_sure.all()))


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
