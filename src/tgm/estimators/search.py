"""The search for the components: fragments, joins, splits and sweeps, judged by free energy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from tgm.distributions import FloatArray, IntArray, Moments
from tgm.estimators.covariance import CovarianceKind
from tgm.estimators.model import Model
from tgm.estimators.moves import AXES, Axis, double, join, membership, split
from tgm.estimators.partition import (
    agglomerate,
    first_fragments,
    imputed,
    moments_of_labels,
    take_apart,
)
from tgm.estimators.shared_prior import SharedPrior
from tgm.estimators.sources import ArrayPoints, Points, ScaledPoints
from tgm.estimators.sweep import Statistics, Units
from tgm.estimators.weight_prior import WeightPrior

MOST_MOVES = 30
MOST_DOUBLED = 100  # components; with more of them doubling is left out
MOST_COMPONENTS = 256  # unless the user asks for more
SEARCH_TOLERANCE = 1e-4  # nats per point
SEARCH_SWEEPS = 30  # between moves
TRIAL_SWEEPS = 5  # after a split, before it is judged
DOUBLE_SWEEPS = 8  # after every component was doubled, before halves are joined
PRIOR_EVERY = 4  # sweeps; the prior that the components share changes little
DROP_SWEEPS = 3  # after a small component was left out
SEPARATE = 0.99  # mean probability of the most probable component where clusters are separate
LEAST_FALL = 1e-3  # nats that a move must be worth


@dataclass(frozen=True)
class Event:
    """A line of the history: what was done, and what it led to."""

    action: str
    n_components: int
    free_energy: float
    n_points: float


@dataclass
class Course:
    """The model during a fit, with its free energy and how it came to be."""

    model: Model
    free_energy: float = np.inf
    log_q: float = 0.0
    history: list[Event] = field(default_factory=list)
    n_sweeps: int = 0
    converged: bool = False

    def take(self, other: Course, action: str) -> None:
        """Go on with the model of another course."""
        self.model, self.free_energy, self.log_q = other.model, other.free_energy, other.log_q
        self.n_sweeps += other.n_sweeps
        self.history += other.history if action == "begin with one" else []
        self.log(action)

    def log(self, action: str) -> None:
        """Add a line to the history."""
        n_points = float(self.model.moments.weight.sum())
        self.history.append(Event(action, self.model.n_components, self.free_energy, n_points))


def sweep(model: Model, points: Points) -> Statistics:
    """The sums over all chunks, added in their order."""
    total: Statistics | None = None
    chunk_sweep = ChunkSweep(model)
    if isinstance(points, ScaledPoints):  # no copy of a whole chunk
        chunk_sweep = ChunkSweep(model, Units(points.centre, points.scale))
        points = points.source
    for part in points.map(chunk_sweep):
        if part is not None:
            total = part if total is None else total + part
    if total is None:
        raise ValueError("there are no points")
    return total


@dataclass(frozen=True)
class ChunkSweep:
    """What a sweep does with one chunk; can be sent to another process."""

    model: Model
    units: Units | None = None

    def __call__(self, index: int, points: FloatArray) -> Statistics | None:
        """The sums over the chunk; None if it is empty."""
        return self.model.assigner.statistics(points, self.units) if len(points) else None


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
    for index in range(max_sweeps):
        statistics = sweep(course.model, points)
        model = course.model.updated(statistics)
        if index < 2 or index % PRIOR_EVERY == 0:
            model = model.refined()
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
    at_most = MOST_COMPONENTS if at_most is None else at_most
    something = ~np.isnan(points).all(axis=1)
    points = points[something] if something.any() else points  # nothing is known: no proposals
    complete = imputed(points)
    labels = first_fragments(complete)
    moments = moments_of_labels(complete, labels, blur)
    prior = _first_prior(moments)
    model = Model(kind, weight_prior, prior, moments, blur).refined()
    model, group = agglomerate(model, at_most=at_most)
    labels = _take_all_apart(model, complete, group[labels], at_most)
    model = model.with_data(moments_of_labels(complete, labels, blur))
    source = ArrayPoints(points)
    course = _moved(model, complete, source, at_most, membership(labels, model.n_components))
    if _is_ambiguous(course.model, complete):
        # Fragments of overlapping clusters can support each other: begin with one component, too.
        model = model.with_data(model.moments.sum()[None])
        other = _moved(model, complete, source, at_most, [])
        if other.free_energy < course.free_energy:
            course.take(other, "begin with one")
    return course


def _is_ambiguous(model: Model, complete: FloatArray) -> bool:
    """Whether components overlap: many points may belong to more than one."""
    highest = model.assigner.responsibilities(complete).max(axis=1)
    return bool(highest.mean() < SEPARATE)


def _moved(
    model: Model, complete: FloatArray, source: Points, at_most: int, tried: list[bytes]
) -> Course:
    """The model after sweeps and all moves that lower its free energy."""
    course = Course(model.refined())
    climb(course, source, tolerance=SEARCH_TOLERANCE, max_sweeps=SEARCH_SWEEPS)
    _move(course, complete, source, at_most, set(tried))
    return course


def _move(
    course: Course,
    complete: FloatArray,
    source: Points,
    at_most: int | None,
    tried: set[bytes],
) -> None:
    """Try all moves in turn until none of them lowers the free energy."""
    moves: list[tuple[str, Callable[[Model], Model]]] = [
        ("join", lambda model: join(model, complete)),
        ("split", lambda model: split(model, complete, tried)),
        ("drop", partial(_without_small, source, course)),
        *((f"double, {axis.__name__}", partial(_doubled, complete, axis, source)) for axis in AXES),
    ]
    failed = 0
    for turn in range(MOST_MOVES):
        name, move = moves[turn % len(moves)]
        model = move(course.model)
        failed += 1
        if model is not course.model:
            if at_most is not None and model.n_components > at_most:
                model = join(model, complete, at_most)
            trial = Course(model)
            climb(trial, source, tolerance=SEARCH_TOLERANCE, max_sweeps=TRIAL_SWEEPS)
            if course.free_energy - trial.free_energy > LEAST_FALL:
                climb(trial, source, tolerance=SEARCH_TOLERANCE, max_sweeps=SEARCH_SWEEPS)
                course.take(trial, name)
                failed = 0
        if failed == len(moves):
            break


def _without_small(source: Points, course: Course, model: Model) -> Model:
    """Without the components of few points whose points are better explained by the others.

    A point far out can make a component of its own while the shared prior is still vague.
    """
    energy, few = course.free_energy, 2.0 * (model.moments.n_features + 1)
    least = 0.0  # smaller ones were tried
    while model.n_components > 1:
        weight = np.where(model.moments.weight > least, model.moments.weight, np.inf)
        smallest = int(np.argmin(weight))
        least = float(weight[smallest])
        if least > few:
            break
        trial = Course(model.take(np.delete(np.arange(model.n_components), smallest)))
        climb(trial, source, tolerance=SEARCH_TOLERANCE, max_sweeps=DROP_SWEEPS)
        if trial.free_energy < energy:
            model, energy = trial.model, trial.free_energy
    return model


def _doubled(complete: FloatArray, axis: Axis, source: Points, model: Model) -> Model:
    """Each component doubled, sweeps, and halves joined again that have not come apart."""
    if model.n_components > MOST_DOUBLED:
        return model
    course = Course(double(model, complete, axis))
    climb(course, source, tolerance=SEARCH_TOLERANCE, max_sweeps=DOUBLE_SWEEPS)
    found = join(course.model, complete)
    return model if found.n_components == model.n_components else found


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
