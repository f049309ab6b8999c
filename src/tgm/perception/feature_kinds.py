"""Which features of a Box are exact: names in the form of numbers, seen by how they repeat.

A continuous density gives an exact repetition the probability zero. So where the values of a
feature come again and again, they are symbols; where each is new, they are amounts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tgm.distributions import BoolArray, FloatArray
from tgm.perception.symbol_book import is_whole

FEW_NEW = 0.1  # share of new values up to which a feature is surely exact
SOME_NEW = 0.25  # the same, when it must be decided
HALF_NEW = 0.5  # whole numbers: up to this share they are surely exact
MOST_NEW = 0.9  # from this share on a feature is surely continuous


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
    of them must. Whole numbers are symbols unless nearly all of them are new, and so are nearly
    all observations: then they are measured with noise, and rounded.

    Args:
        points: at least two.
        is_last: whether it must be decided now.
    """
    new = newness(points)
    whole = np.all(is_whole(points), axis=0)
    varies = np.any(points != points[0], axis=0)
    is_exact = np.where(whole, True, new <= SOME_NEW) | ~varies
    is_sure = np.where(whole, new <= HALF_NEW, varies & ((new <= FEW_NEW) | (new >= MOST_NEW)))
    if is_last and _newness_of_rows(points[:, is_exact]) >= MOST_NEW:
        is_exact &= ~varies | (new < MOST_NEW)
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


def _newness_of_rows(points: FloatArray) -> float:
    """The share of the newer half of points that are new as a whole."""
    seen = {row.tobytes() for row in points[: len(points) // 2]}
    newer = points[len(points) // 2 :]
    n_new = 0
    for row in newer:
        n_new += row.tobytes() not in seen
        seen.add(row.tobytes())
    return n_new / len(newer)
