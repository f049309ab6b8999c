"""The search for the components: fragments, joins, splits and sweeps, judged by free energy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.special import xlogy

from tgm.distributions import FloatArray, IntArray, Moments
from tgm.estimators.covariance import CovarianceKind
from tgm.estimators.model import Model
from tgm.estimators.partition import (
    agglomerate,
    concatenated,
    first_fragments,
    imputed,
    moments_of_labels,
    take_apart,
)
from tgm.estimators.shared_prior import SharedPrior
from tgm.estimators.sources import ArrayPoints, Points
from tgm.estimators.sweep import Statistics
from tgm.estimators.weight_prior import WeightPrior

ROUNDS = 8  # of sweeps and moves
SEARCH_TOLERANCE = 1e-4  # nats per point
SEARCH_SWEEPS = 30  # between moves
TRIAL_SWEEPS = 5  # after a split, before it is judged
OVERLAP = 1e-3  # share of the smaller component; below it two components are not joined


@dataclass(frozen=True)
class Event:
    """A line of the history: what was done, and what it led to."""

    action: str
    n_components: int
    free_energy: float


@dataclass
class Course:
    """The model during a fit, with its free energy and how it came to be."""

    model: Model
    free_energy: float = np.inf
    log_q: float = 0.0
    history: list[Event] = field(default_factory=list)
    n_sweeps: int = 0
    converged: bool = False

    def log(self, action: str) -> None:
        """Add a line to the history."""
        self.history.append(Event(action, self.model.n_components, self.free_energy))


def sweep(model: Model, points: Points) -> Statistics:
    """The sums over all chunks, added in their order."""
    total: Statistics | None = None
    for part in points.map(ChunkSweep(model)):
        if part is not None:
            total = part if total is None else total + part
    if total is None:
        raise ValueError("there are no points")
    return total


@dataclass(frozen=True)
class ChunkSweep:
    """What a sweep does with one chunk; can be sent to another process."""

    model: Model

    def __call__(self, index: int, points: FloatArray) -> Statistics | None:
        """The sums over the chunk; None if it is empty."""
        return self.model.assigner.statistics(points) if len(points) else None


def climb(
    course: Course,
    points: Points,
    *,
    tolerance: float,
    max_sweeps: int,
    after: Callable[[Course], None] = lambda course: None,
) -> None:
    """Sweep until the free energy falls by less than `tolerance` nats per point."""
    course.converged = False
    for _ in range(max_sweeps):
        statistics = sweep(course.model, points)
        model = course.model.updated(statistics)
        energy = model.free_energy(statistics.log_q)
        fall = course.free_energy - energy
        changed = model.n_components != course.model.n_components
        course.n_sweeps += 1
        if fall >= 0 or changed:
            course.model, course.free_energy, course.log_q = model, energy, statistics.log_q
        course.log("sweep")
        after(course)
        if not changed and fall <= tolerance * float(statistics.moments.weight.sum()):
            course.converged = True
            return


def find(
    points: FloatArray,
    kind: CovarianceKind,
    weight_prior: WeightPrior,
    blur: FloatArray,
    at_most: int | None,
) -> Course:
    """Components for points (N, O) in units of their deviation; NaN is missing."""
    complete = imputed(points)
    labels = first_fragments(complete)
    moments = moments_of_labels(complete, labels, blur)
    prior = _first_prior(moments)
    model = Model(kind, weight_prior, prior, moments, blur).refined()
    model, group = agglomerate(model, at_most=at_most)
    labels = _take_all_apart(model, complete, group[labels], at_most)
    model = model.with_data(moments_of_labels(complete, labels, blur)).refined()
    course = Course(model)
    source = ArrayPoints(points)
    tried = {np.packbits(labels == index).tobytes() for index in range(model.n_components)}
    for _ in range(ROUNDS):
        climb(course, source, tolerance=SEARCH_TOLERANCE, max_sweeps=SEARCH_SWEEPS)
        moved = _join_by_free_energy(course, complete)
        moved |= _split_by_free_energy(course, complete, source, at_most, tried)
        if not moved:
            break
    return course


def _first_prior(moments: Moments) -> SharedPrior:
    """Components are about as wide as the fragments: pooled within them."""
    whole = moments.sum()
    pooled = moments.scatter.sum(axis=0) / whole.weight
    total = whole.scatter / whole.weight
    n_features = len(pooled)
    return SharedPrior.of_data(whole.mean, pooled + 1e-3 * total + 1e-9 * np.eye(n_features))


def _take_all_apart(
    model: Model, points: FloatArray, labels: IntArray, at_most: int | None
) -> IntArray:
    """Labels after each component, and each of its parts, was taken apart if that has evidence."""
    waiting = np.arange(model.n_components)
    while len(waiting):
        moments = moments_of_labels(points, labels, model.blur)
        found = take_apart(model.with_data(moments), points, labels, waiting)
        labels, new = labels.copy(), []
        for index, parts in found.items():
            n_components, n_more = int(labels.max()) + 1, int(parts.max())
            if at_most is None or n_components + n_more <= at_most:
                labels[labels == index] = np.where(parts == 0, index, n_components - 1 + parts)
                new += [index, *range(n_components, n_components + n_more)]
        waiting = np.asarray(new, dtype=np.intp)
    return labels


def _join_by_free_energy(course: Course, points: FloatArray) -> bool:
    """Join overlapping components where the free energy falls at once; whether any were."""
    resp = course.model.assigner.responsibilities(points)
    joined = False
    while course.model.n_components > 1:
        model = course.model
        gains, one, other = _falls_by_joining(model, resp)
        if not len(gains) or gains.max() <= 0:
            break
        best = int(np.argmax(gains))
        keep, drop = int(one[best]), int(other[best])
        together = model.moments[[keep]] + model.moments[[drop]]
        rest = np.delete(np.arange(model.n_components), [keep, drop])
        resp = np.hstack([resp[:, rest], resp[:, [keep]] + resp[:, [drop]]])
        course.model = model.with_data(concatenated([model.moments[rest], together])).refined()
        course.free_energy -= float(gains[best])
        course.log("join")
        joined = True
    if joined:
        course.free_energy = np.inf  # the imputed points were used; the next sweep sets it
    return joined


def _falls_by_joining(model: Model, resp: FloatArray) -> tuple[FloatArray, IntArray, IntArray]:
    """By how much F falls if two overlapping components are joined, and the pairs."""
    weight = resp.sum(axis=0)
    overlap = resp.T @ resp / np.maximum(np.minimum(weight[:, None], weight), 1e-300)
    one, other = np.nonzero(np.triu(overlap > OVERLAP, 1))
    if not len(one):
        return np.zeros(0), one, other
    together = model.kind.log_evidence(model.prior, model.moments[one] + model.moments[other])
    falls = together - model.evidence[one] - model.evidence[other]
    counts = model.moments.weight
    before = model.weight_prior.log_evidence(counts)
    for pair, (i, j) in enumerate(zip(one, other, strict=True)):
        both = resp[:, i] + resp[:, j]
        mixing = xlogy(both, both) - xlogy(resp[:, i], resp[:, i]) - xlogy(resp[:, j], resp[:, j])
        merged = np.append(np.delete(counts, [i, j]), counts[i] + counts[j])
        falls[pair] += model.weight_prior.log_evidence(merged) - before - mixing.sum()
    return falls, one, other


def _split_by_free_energy(
    course: Course, points: FloatArray, source: Points, at_most: int | None, tried: set[bytes]
) -> bool:
    """Take one component apart if the free energy has fallen after some sweeps.

    Args:
        course: changed if so.
        points: (N, O) without missing features.
        source: the same, as they are.
        at_most: how many components there may be.
        tried: sets of points that were tried before; those of this call are added.
    """
    model = course.model
    labels = model.assigner.responsibilities(points).argmax(axis=1)
    members = {index: np.packbits(labels == index).tobytes() for index in range(model.n_components)}
    which = np.asarray([k for k, own in members.items() if own not in tried], dtype=np.intp)
    tried.update(members.values())
    for index, parts in take_apart(model, points, labels, which).items():
        if at_most is not None and model.n_components + int(parts.max()) > at_most:
            continue
        rest = np.delete(np.arange(model.n_components), index)
        own = moments_of_labels(points[labels == index], parts, model.blur)
        trial = Course(model.with_data(concatenated([model.moments[rest], own])).refined())
        climb(trial, source, tolerance=SEARCH_TOLERANCE, max_sweeps=TRIAL_SWEEPS)
        if trial.free_energy < _energy_of(course, source):
            course.model, course.free_energy = trial.model, trial.free_energy
            course.log_q = trial.log_q
            course.log("split")
            tried -= {members[other] for other in which.tolist() if other != index}
            return True
    return False


def _energy_of(course: Course, source: Points) -> float:
    """The free energy now, by a sweep if a join has made it unknown."""
    if not np.isfinite(course.free_energy):
        climb(course, source, tolerance=SEARCH_TOLERANCE, max_sweeps=1)
    return course.free_energy
