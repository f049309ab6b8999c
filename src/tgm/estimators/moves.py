"""Moves of the search: components joined, taken apart or doubled. Sweeps judge what they are worth.

Each move proposes a model; the caller keeps it if the free energy is lower after some sweeps.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tgm.distributions import FloatArray, IntArray, Moments
from tgm.estimators.model import Model
from tgm.estimators.partition import (
    concatenated,
    joined,
    moments_of_labels,
    mutually_best,
    take_apart,
)

OVERLAP = 1e-3  # share of the smaller component; below it two components are not joined
LEAST_MIXED_SHARE = 1e-12  # of a point; with less of it a component adds nothing to a join's mixing
HALF_OFFSET = 0.8  # deviations: the mean of half a normal, from the mean of the whole
LEAST_TO_DOUBLE = 8.0  # points

Axis = Callable[[Model, FloatArray, FloatArray], FloatArray]


def join(model: Model, points: FloatArray, at_most: int | None = None) -> Model:
    """Overlapping components joined where the free energy falls at once.

    Args:
        model: to be changed.
        points: (N, O) without missing features.
        at_most: how many components may be left; then the least harmful joins are made.
    """
    resp = model.assigner.responsibilities(points)
    while model.n_components > 1:
        surplus = 0 if at_most is None else model.n_components - at_most
        falls, one, other = _falls(model, resp, is_forced=surplus > 0)
        if not len(falls):
            break
        best = mutually_best(one, other, falls)
        chosen = best & (falls > 0)
        if not chosen.any():
            if surplus <= 0:
                break
            order = np.flatnonzero(best)[np.argsort(-falls[best])]
            chosen[order[:surplus]] = True
        new = np.arange(model.n_components)
        new[other[chosen]] = one[chosen]
        _, new = np.unique(new, return_inverse=True)
        new = new.ravel()
        model = joined(model, new).refined()
        resp = resp @ (new[:, None] == np.arange(model.n_components)).astype(np.float64)
    return model


def _falls(
    model: Model, resp: FloatArray, *, is_forced: bool
) -> tuple[FloatArray, IntArray, IntArray]:
    """By how much F falls if two components are joined, and the pairs.

    The pairs overlap; if `is_forced`, they are each component with the one that overlaps most.
    """
    weight = resp.sum(axis=0)
    overlap = resp.T @ resp / np.maximum(np.minimum(weight[:, None], weight), 1e-300)
    near = np.triu(overlap > OVERLAP, 1)
    if is_forced:
        np.fill_diagonal(overlap, -1.0)
        first, second = np.arange(len(weight)), overlap.argmax(axis=1)
        near = np.zeros_like(near)
        near[np.minimum(first, second), np.maximum(first, second)] = True
    one, other = np.nonzero(near)
    if not len(one):
        return np.zeros(0), one, other
    together = model.kind.log_evidence(model.prior, model.moments[one] + model.moments[other])
    falls = together - model.evidence[one] - model.evidence[other]
    falls += _falls_of_weights(model, one, other)
    # Mixing is never negative: a pair that has nothing to lose it from is not joined in any case.
    asked = np.arange(len(one)) if is_forced else np.flatnonzero(falls > 0)
    columns = np.ascontiguousarray(resp.T)
    shared = columns > LEAST_MIXED_SHARE
    for pair in asked.tolist():
        i, j = one[pair], other[pair]
        rows = np.flatnonzero(shared[i] & shared[j])
        first, second = columns[i, rows], columns[j, rows]
        # (a + b) ln(a + b) - a ln a - b ln b
        falls[pair] -= first @ np.log1p(second / first) + second @ np.log1p(first / second)
    return falls, one, other


def _falls_of_weights(model: Model, one: IntArray, other: IntArray) -> FloatArray:
    """(P,) what joining each pair changes in the evidence of the assignments."""
    counts, pairs = model.moments.weight, np.arange(len(one))
    merged = np.tile(counts, (len(one), 1))
    merged[pairs, one] += counts[other]
    kept = np.ones(merged.shape, dtype=np.bool_)
    kept[pairs, other] = False
    merged = merged[kept].reshape(len(one), -1)
    prior = model.weight_prior
    return np.asarray(prior.log_evidence(merged) - prior.log_evidence(counts))


def split(model: Model, points: FloatArray, tried: set[bytes]) -> Model:
    """Components taken apart where the parts, with sure assignments, have more evidence.

    Args:
        model: to be changed.
        points: (N, O) without missing features.
        tried: sets of points that were tried before; those of this call are added.
    """
    labels = model.assigner.responsibilities(points).argmax(axis=1)
    members = membership(labels, model.n_components)
    which = np.asarray([k for k, own in enumerate(members) if own not in tried], dtype=np.intp)
    tried.update(members)
    found = take_apart(model, points, labels, which)
    if not found:
        return model
    rest = np.setdiff1d(np.arange(model.n_components), list(found))
    parts = [
        moments_of_labels(points[labels == index], inner, model.blur)
        for index, inner in found.items()
    ]
    return model.with_data(concatenated([model.moments[rest], *parts])).refined()


def membership(labels: IntArray, n_components: int) -> list[bytes]:
    """For each component which points (N,) it has, as a key."""
    return [np.packbits(labels == index).tobytes() for index in range(n_components)]


def double(model: Model, points: FloatArray, axis: Axis) -> Model:
    """Each component as two halves, side by side along an axis (K, O) in units of its deviations.

    Where clusters overlap, sure assignments see one; halves that sweeps draw apart see two.
    """
    moments = model.moments
    enough = moments.weight >= LEAST_TO_DOUBLE
    own = moments[enough]
    if not len(own.weight):
        return model
    resp = model.assigner.responsibilities(points)[:, enough]
    covariance = _covariances(own)
    lower = np.linalg.cholesky(covariance)
    direction = np.einsum("kij,kj->ki", lower, axis(model.take(enough), points, resp))
    offset = HALF_OFFSET * direction
    between = offset[:, :, None] * offset[:, None, :]
    scatter = 0.5 * own.weight[:, None, None] * (covariance - between)
    halves = [Moments(0.5 * own.weight, own.mean + sign * offset, scatter) for sign in (1.0, -1.0)]
    return model.with_data(concatenated([moments[~enough], *halves]))


def widest(model: Model, points: FloatArray, resp: FloatArray) -> FloatArray:
    """(K, O) the axis along which each component is widest, in its own deviations."""
    covariance = _covariances(model.moments)
    lower = np.linalg.cholesky(covariance)
    principal = np.linalg.eigh(covariance)[1][:, :, -1]
    axis = np.linalg.solve(lower, principal[:, :, None])[:, :, 0]
    return np.asarray(axis / np.linalg.norm(axis, axis=1, keepdims=True))


def flattest(model: Model, points: FloatArray, resp: FloatArray) -> FloatArray:
    """(K, O) the axis of least kurtosis: two even clusters lie along it."""
    return _fourth_moments(model, points, resp)[:, :, 0]


def heaviest(model: Model, points: FloatArray, resp: FloatArray) -> FloatArray:
    """(K, O) the axis of most kurtosis: a small cluster lies along it."""
    return _fourth_moments(model, points, resp)[:, :, -1]


def _fourth_moments(model: Model, points: FloatArray, resp: FloatArray) -> FloatArray:
    """(K, O, O) eigenvectors of E[|z|^2 z z^T], z in deviations, by rising kurtosis."""
    moments = model.moments
    covariance = _covariances(moments)
    lower = np.linalg.cholesky(covariance)
    fourth = np.empty_like(covariance)
    for k in range(len(covariance)):
        rows = resp[:, k] > 1e-3
        z = np.linalg.solve(lower[k], (points[rows] - moments.mean[k]).T)
        weight = resp[rows, k] * np.sum(z**2, axis=0)
        fourth[k] = (z * weight) @ z.T
    return np.asarray(np.linalg.eigh(fourth)[1])


def _covariances(moments: Moments) -> FloatArray:
    """(K, O, O) of the points of each component, positive definite."""
    covariance = moments.scatter / moments.weight[:, None, None]
    variance = np.einsum("kii->ki", covariance)
    return np.asarray(
        covariance + (1e-9 * variance + 1e-18)[:, :, None] * np.eye(variance.shape[1])
    )


AXES: tuple[Axis, ...] = (widest, flattest, heaviest)
