"""Proposals of components: many fragments of the points, joined as long as the evidence grows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln

from tgm.distributions import BoolArray, FloatArray, IntArray, Moments
from tgm.estimators.model import Model

POINTS_PER_FRAGMENT = 8
MOST_FRAGMENTS = 256
MOST_FRAGMENTS_WITHIN = 12  # when one component is taken apart again
LEAST_TO_TAKE_APART = 8  # points
LLOYD_ITERATIONS = 4
NEIGHBOURS = 10  # of each fragment, that it may be joined with
PARTITION_SEED = 0x7467  # the same points give the same proposals


def fragments(points: FloatArray, count: int) -> IntArray:
    """Labels (N,) of at most `count` fragments of points (N, O): k-means, as far as it matters."""
    centres = _spread_seeds(points, count)
    labels = np.zeros(len(points), dtype=np.intp)
    for _ in range(LLOYD_ITERATIONS):
        labels = _nearest(points, centres)
        _, labels = np.unique(labels, return_inverse=True)
        labels = labels.ravel()
        size = np.bincount(labels)
        centres = np.stack(
            [np.bincount(labels, column) / size for column in points.T],
            axis=1,
        )
    return labels


def imputed(points: FloatArray) -> FloatArray:
    """Points (N, O) with missing features set to those of the fragment that is nearest."""
    known = ~np.isnan(points)
    if known.all():
        return points
    filled = np.where(known, points, 0.0)
    seeds = points[known.all(axis=1)] if known.all(axis=1).sum() > 1 else filled
    centres = _spread_seeds(seeds, _n_fragments(len(points)))
    for _ in range(LLOYD_ITERATIONS):
        labels = _nearest(filled, centres, known)
        size = np.zeros(centres.shape)
        total = np.zeros(centres.shape)
        np.add.at(size, labels, known.astype(np.float64))
        np.add.at(total, labels, filled)
        centres = np.where(size > 0, total / np.maximum(size, 1.0), centres)
    return np.where(known, points, centres[labels])


def moments_of_labels(points: FloatArray, labels: IntArray, blur: FloatArray) -> Moments:
    """The moments of each label's points, with the variance of rounding."""
    order = np.argsort(labels, kind="stable")
    size = np.bincount(labels)
    starts = np.cumsum(size) - size
    mean = np.add.reduceat(points[order], starts, axis=0) / size[:, None]
    gaps = points - mean[labels]
    n_features = points.shape[1]
    scatter = np.empty((len(size), n_features, n_features))
    for i in range(n_features):
        for j in range(i, n_features):
            scatter[:, i, j] = np.bincount(labels, gaps[:, i] * gaps[:, j])
            scatter[:, j, i] = scatter[:, i, j]
    scatter += size[:, None, None] * np.diag(blur)
    return Moments(size.astype(np.float64), mean, scatter)


def agglomerate(
    model: Model,
    *,
    at_most: int | None = None,
    within: IntArray | None = None,
) -> tuple[Model, IntArray]:
    """Join components as long as the evidence grows, and until there are `at_most`.

    The prior of partitions is that of a Chinese restaurant. Of all pairs those are joined, in each
    round, of which each gains most by the other.

    Args:
        model: with many components.
        at_most: how many may be left.
        within: (K,) only components with the same number are joined, and the prior stays.

    Returns:
        The model, and for each component of the given one the index of what it is part of.
    """
    group = np.arange(model.n_components)
    while model.n_components > 1:
        if within is None:
            model = model.refined()
        one, other = _neighbours(model.moments.mean) if within is None else _pairs_within(within)
        if not len(one):
            break
        gain = _gain_of_joining(model, one, other)
        chosen = mutually_best(one, other, gain) & (gain > 0)
        if not chosen.any():
            if at_most is None or model.n_components <= at_most:
                break
            chosen = np.arange(len(gain)) == np.argmax(gain)
        new = np.arange(model.n_components)
        new[other[chosen]] = one[chosen]
        kept, new = np.unique(new, return_inverse=True)
        within = None if within is None else within[kept]
        model, group = joined(model, new.ravel()), new.ravel()[group]
    return model, group


def take_apart(
    model: Model, points: FloatArray, labels: IntArray, which: IntArray
) -> dict[int, IntArray]:
    """Which components have more evidence as several, all of them weighed at once.

    Args:
        model: its component k has the points with label k.
        points: (N, O)
        labels: (N,)
        which: the components to try.

    Returns:
        For each component that is better taken apart, labels from 0 of its points.
    """
    parts, moments, within = {}, [], []
    for index in which.tolist():
        own = points[labels == index]
        count = min(MOST_FRAGMENTS_WITHIN, len(own) // 4)
        if len(own) < LEAST_TO_TAKE_APART or count < 2:
            continue
        parts[index] = fragments(_whitened(own, model, index), count)
        moments.append(moments_of_labels(own, parts[index], model.blur))
        within += [index] * len(moments[-1].weight)
    if not parts:
        return {}
    owner = np.asarray(within)
    _, group = agglomerate(model.with_data(concatenated(moments)), within=owner)
    found = {}
    for index, labels_within in parts.items():
        _, inner = np.unique(group[owner == index], return_inverse=True)
        if inner.max() > 0:
            found[index] = inner.ravel()[labels_within]
    return found


def concatenated(parts: Sequence[Moments]) -> Moments:
    """All sets of all parts, in order."""
    return Moments(
        np.concatenate([part.weight for part in parts]),
        np.concatenate([part.mean for part in parts]),
        np.concatenate([part.scatter for part in parts]),
    )


def _whitened(own: FloatArray, model: Model, index: int) -> FloatArray:
    """Points of a component in units of its deviations."""
    moments = model.moments[index]
    covariance = moments.scatter / moments.weight + 1e-3 * model.prior.covariance
    lower = np.linalg.cholesky(covariance)
    return np.ascontiguousarray(np.linalg.solve(lower, (own - moments.mean).T).T)


def _pairs_within(within: IntArray) -> tuple[IntArray, IntArray]:
    """Pairs (i, j), i < j, with the same number."""
    one, other = np.nonzero(np.triu(within[:, None] == within, 1))
    return one, other


def first_fragments(points: FloatArray) -> IntArray:
    """Labels of the fragments with which the search begins."""
    return fragments(points, _n_fragments(len(points)))


def _n_fragments(n_points: int) -> int:
    return max(1, min(MOST_FRAGMENTS, n_points // POINTS_PER_FRAGMENT))


def _spread_seeds(points: FloatArray, count: int) -> FloatArray:
    """Points (C, O), each drawn in proportion to its squared distance from those before it."""
    rng = np.random.default_rng(PARTITION_SEED)
    squares = np.einsum("ni,ni->n", points, points)
    chosen = [int(rng.integers(len(points)))]
    nearest = np.full(len(points), np.inf)
    while len(chosen) < count:
        seed = points[chosen[-1]]
        distance = squares - 2.0 * (points @ seed) + seed @ seed
        np.minimum(nearest, np.maximum(distance, 0.0), out=nearest)
        cumulative = np.cumsum(nearest)
        if not cumulative[-1] > 0:
            break
        chosen.append(int(np.searchsorted(cumulative, rng.random() * cumulative[-1])))
    return points[np.minimum(chosen, len(points) - 1)]


def _nearest(points: FloatArray, centres: FloatArray, known: BoolArray | None = None) -> IntArray:
    """The nearest of the centres (C, O) for each point (N, O), by the known features."""
    result = np.empty(len(points), dtype=np.intp)
    square = centres**2
    for start in range(0, len(points), 4096):
        block = points[start : start + 4096]
        if known is None:
            distance = square.sum(axis=1) - 2.0 * (block @ centres.T)
        else:
            distance = known[start : start + 4096] @ square.T - 2.0 * (block @ centres.T)
        result[start : start + 4096] = distance.argmin(axis=1)
    return result


def _neighbours(means: FloatArray) -> tuple[IntArray, IntArray]:
    """Pairs (i, j), i < j, of components that are near each other."""
    n = len(means)
    if n <= NEIGHBOURS + 2:
        one, other = np.triu_indices(n, 1)
        return one, other
    square = np.sum(means**2, axis=1)
    distance = square[:, None] + square - 2.0 * means @ means.T
    np.fill_diagonal(distance, np.inf)
    near = np.argpartition(distance, NEIGHBOURS, axis=1)[:, :NEIGHBOURS].ravel()
    own = np.repeat(np.arange(n), NEIGHBOURS)
    code = np.unique(np.minimum(own, near) * n + np.maximum(own, near))
    return code // n, code % n


def _gain_of_joining(model: Model, one: IntArray, other: IntArray) -> FloatArray:
    """Nats won by joining each pair."""
    first, second = model.moments[one], model.moments[other]
    together = model.kind.log_evidence(model.prior, first + second)
    dealing = gammaln(first.weight + second.weight) - gammaln(first.weight)
    dealing -= gammaln(second.weight) + np.log(model.weight_prior.concentration)
    return np.asarray(together - model.evidence[one] - model.evidence[other] + dealing)


def mutually_best(one: IntArray, other: IntArray, gain: FloatArray) -> BoolArray:
    """Which pairs are the best pair of both their members."""
    highest = np.full(max(int(other.max()), int(one.max())) + 1, -np.inf)
    np.maximum.at(highest, one, gain)
    np.maximum.at(highest, other, gain)
    best = (gain == highest[one]) & (gain == highest[other])
    # Equal gains: a component may stand in one pair only.
    seen: set[int] = set()
    for pair in np.flatnonzero(best):
        members = {int(one[pair]), int(other[pair])}
        best[pair] = not (members & seen)
        seen |= members
    return np.asarray(best)


def joined(model: Model, group: IntArray) -> Model:
    """Components with the same group (K,), from 0, made one."""
    order = np.argsort(group, kind="stable")
    size = np.bincount(group)
    starts = np.cumsum(size) - size
    moments = model.moments[order[starts]]
    for rank in range(1, int(size.max())):
        has = np.flatnonzero(size > rank)
        added = moments[has] + model.moments[order[starts[has] + rank]]
        moments.weight[has] = added.weight
        moments.mean[has] = added.mean
        moments.scatter[has] = added.scatter
    return model.with_data(moments)
