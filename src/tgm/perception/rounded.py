"""Are numbers that repeat names, or amounts that were rounded? Near amounts behave alike.

Two predictions of each step from those before it are compared. By names, what an action did at this
very symbol counts. By amounts, what it did near here counts, as to where it led or by how much it
moved, and what lies near that is as likely. Both know what the action did anywhere.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from tgm.distributions import BoolArray, FloatArray, IntArray

WIDTHS_TRIED = (0.03, 0.06, 0.12, 0.25, 0.5)  # deviations of a feature: what is near, or alike
BASE_COUNTS = (0.25, 1.0, 4.0)  # counts that what the action did anywhere is worth
SURPRISE = (0.5, 0.05, 0.005)  # share of steps that may lead to any values that were seen
SAME_CHANGE = 1e-9  # of the largest number, up to which two differences are one
TABLE = 512  # points at which the sum of a bell over the values is computed


def nats_of_amounts(points: FloatArray, actions: IntArray, amounts: BoolArray, start: int) -> float:
    """Nats by which amounts that were rounded predict points better than names do.

    Args:
        points: (n, n_features) in the order of time.
        actions: (n,) before each; `start` where an episode began.
        amounts: (n_features,) which features may be; the others are names for both.
        start: marks the beginning of an episode.
    """
    lived = actions[1:] != start
    before, after = points[:-1][lived], points[1:][lived]
    groups = np.column_stack([actions[1:][lived], before[:, ~amounts]])
    group = np.unique(groups, axis=0, return_inverse=True)[1].ravel()
    earlier = (group[:, None] == group) & np.tri(len(group), k=-1, dtype=bool)
    before, after = before[:, amounts], after[:, amounts]
    values = [np.unique(column) for column in points[:, amounts].T]
    deviation = points[:, amounts].std(axis=0)
    base = _anywhere(before, after, earlier, 1.0 / float(np.prod([len(one) for one in values])))
    is_here, is_there = (np.all(part[:, None] == part, axis=2) for part in (before, after))
    names = _evidence(earlier * is_here, is_there, base)
    gaps = np.square((before[:, None] - before) / deviation).sum(axis=2)
    found = []
    for alike in WIDTHS_TRIED:
        parts = before.T, after.T, values, alike * deviation
        cells, moves = (np.prod(one, axis=0) for one in zip(*map(_bells, *parts), strict=True))
        weights = (earlier * np.exp(-0.5 * gaps / near**2) for near in WIDTHS_TRIED)
        found += [_evidence(weight, hits, base) for weight in weights for hits in (cells, moves)]
    return float(logsumexp(found) - np.log(len(found)) - names)


def _anywhere(
    before: FloatArray, after: FloatArray, earlier: BoolArray, each: float
) -> list[FloatArray]:
    """(n,) probabilities of where each step led, by the changes of earlier ones anywhere."""
    change = after - before
    tolerance = SAME_CHANGE * np.abs(before).max(initial=0.0)
    is_same = np.all(np.abs(change[:, None] - change) <= tolerance, axis=2)
    seen = ((earlier & is_same).sum(axis=1) + each) / (earlier.sum(axis=1) + 1.0)
    return [(1.0 - share) * seen + share * each for share in SURPRISE]


def _evidence(weights: FloatArray, hits: FloatArray | BoolArray, bases: list[FloatArray]) -> float:
    """ln probability of all steps, each by earlier ones (n, n), their hits and a base (n,)."""
    hit, total = (weights * hits).sum(axis=1), weights.sum(axis=1)
    found = [
        np.log((hit + count * base) / (total + count)).sum()
        for count in BASE_COUNTS
        for base in bases
    ]
    return float(logsumexp(found) - np.log(len(found)))


def _bells(
    before: FloatArray, after: FloatArray, values: FloatArray, width: float
) -> tuple[FloatArray, FloatArray]:
    """(n, n) shares of a bell at the value after each step: about where others led; or moved to."""
    moved = before[:, None] + (after - before)
    table, tiny = np.linspace(moved.min(), moved.max(), TABLE), np.finfo(np.float64).tiny
    sums = np.exp(-0.5 * np.square((table[:, None] - values) / width)).sum(axis=1)
    found = []
    for centre in (np.broadcast_to(after, moved.shape), moved):
        bell = np.exp(-0.5 * np.square((after[:, None] - centre) / width))
        all_values = np.interp(centre, table, sums)
        found.append(bell / np.maximum(all_values, np.maximum(bell, tiny)))
    return found[0], found[1]
