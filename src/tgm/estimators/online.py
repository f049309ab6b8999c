"""Learning from batches: sums of all points, and a bounded sample for the search."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tgm.distributions import FloatArray, Moments
from tgm.estimators.covariance import CovarianceKind
from tgm.estimators.search import SEARCH_SWEEPS, SEARCH_TOLERANCE, Course, climb, find
from tgm.estimators.sources import ArrayPoints
from tgm.estimators.survey import survey
from tgm.estimators.units import Fitted
from tgm.estimators.weight_prior import WeightPrior

RESERVOIR = 10_000  # points kept
SEARCH_GROWTH = 2.0  # components are searched for again when so many times as many points were seen
BATCH_SEED = 0x746A


@dataclass
class Stream:
    """What is known after some batches.

    Until the reservoir is full it holds all points. The search for components is repeated whenever
    the number of points has doubled, in the reservoir alone: its cost has a bound.
    """

    kind: CovarianceKind
    weight_prior: WeightPrior
    at_most: int | None
    points: FloatArray
    n_seen: int = 0
    n_batches: int = 0
    search_at: float = 1.0
    fitted: Fitted | None = None
    course: Course | None = None
    known: FloatArray = field(default_factory=lambda: np.zeros(0))
    log_q: float = 0.0

    @classmethod
    def begin(
        cls, kind: CovarianceKind, weight_prior: WeightPrior, at_most: int | None, n_features: int
    ) -> Stream:
        """Before the first batch."""
        stream = cls(kind, weight_prior, at_most, np.empty((0, n_features)))
        stream.known = np.zeros(n_features)
        return stream

    def add(self, batch: FloatArray) -> None:
        """Learn from a batch (n, O); NaN is missing."""
        was_whole = self.n_seen == len(self.points)
        self.n_batches += 1
        self._keep(batch)
        self.n_seen += len(batch)
        self.known = self.known + np.count_nonzero(~np.isnan(batch), axis=0)
        is_whole = self.n_seen == len(self.points)
        if self.n_seen >= self.search_at or self.fitted is None or (was_whole and not is_whole):
            self.search_at = SEARCH_GROWTH * self.n_seen
            if self.fitted is None or was_whole:
                self._learn_from_reservoir()
                return
            self._absorb(batch)
            self._search_again()
            return
        self._absorb(batch)

    def _keep(self, batch: FloatArray) -> None:
        """Put points into the reservoir so that it stays an even sample of all."""
        space = RESERVOIR - len(self.points)
        if space > 0:
            self.points = np.concatenate([self.points, batch[:space]])
        rest = batch[max(space, 0) :]
        if not len(rest):
            return
        rank = self.n_seen + max(space, 0) + np.arange(1, len(rest) + 1)
        rng = np.random.default_rng((BATCH_SEED, self.n_seen))
        place = np.floor(rng.random(len(rest)) * rank).astype(np.intp)
        kept = place < RESERVOIR
        points = self.points.copy()
        points[place[kept]] = rest[kept]
        self.points = points

    def _absorb(self, batch: FloatArray) -> None:
        """Add the batch to the sums of the components."""
        assert self.fitted is not None
        own = self.fitted
        statistics = own.model.assigner.statistics((batch - own.centre) / own.scale)
        model = own.model.with_data(own.model.moments + statistics.moments)
        self.log_q += statistics.log_q
        self.fitted = Fitted(model, own.centre, own.scale)

    def _learn_from_reservoir(self) -> None:
        """The fit of all points, or of the reservoir as a sample of them."""
        seen = survey(ArrayPoints(self.points))
        scaled = (self.points - seen.mean) / seen.scale
        course = find(scaled, self.kind, self.weight_prior, seen.blur(), self.at_most)
        self.course = course
        factor = self.n_seen / len(self.points)
        model = course.model.with_data(_times(course.model.moments, factor))
        self.log_q = factor * course.log_q
        self.fitted = Fitted(model, seen.mean, seen.scale)

    def _search_again(self) -> None:
        """Take what a new search finds in the reservoir if its free energy there is lower."""
        assert self.fitted is not None
        own, factor = self.fitted, self.n_seen / len(self.points)
        scaled = (self.points - own.centre) / own.scale
        new = find(scaled, self.kind, self.weight_prior, own.model.blur, self.at_most)
        old = Course(own.model)
        source = ArrayPoints(scaled)
        climb(old, source, tolerance=SEARCH_TOLERANCE, max_sweeps=SEARCH_SWEEPS)
        if new.model.n_components != own.model.n_components and new.free_energy < old.free_energy:
            self.course = new
            model = new.model.with_data(_times(new.model.moments, factor))
            self.log_q = factor * new.log_q
            self.fitted = Fitted(model, own.centre, own.scale)
        else:
            self.fitted = Fitted(own.model.refined(), own.centre, own.scale)


def _times(moments: Moments, factor: float) -> Moments:
    """The same points, each counted so many times."""
    return Moments(moments.weight * factor, moments.mean, moments.scatter * factor)
