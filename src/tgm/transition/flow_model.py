"""A model of a world that flows: laws of displacement, walls, ends and rewards."""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

import numpy as np

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.distributions.linear_gaussian import log_evidence
from tgm.transition.flow_law import (
    MOST_BUMPS,
    FlowLaw,
    LawShape,
    choose_shape,
    spread_out,
    typical,
)
from tgm.transition.flow_outcomes import EndLaw, NoEnds, RewardLaw, learn_ends

EXCEPTION = 6.0  # medians of the residuals: above, a step may be of another law
LEAST_EXCEPTION = 0.15  # typical displacements: below, a residual is no exception
FEWEST = 3  # exceptions that may be a wall
MOST_EXCEPTIONS = 0.3  # share of the steps; more are no exceptions
WRONG_SIDE = 0.25  # share of exceptions on the wrong side of a wall, or of others beyond it
TRIMMED = 5  # times that the laws are fitted without exceptions
SMOOTH = LawShape(0.8, True, 1e4)  # of laws that a wall cannot hide in
EDGE = 1  # per cent of the observations that lie below 0 and above 1 in each feature


class Steps(NamedTuple):
    """Steps in order of time.

    Attributes:
        departure, arrival: (n, n_features) observations before and after.
        action: (n,) indices.
        reward: (n,)
        ended: (n,) whether the episode terminated.
    """

    departure: FloatArray
    action: IntArray
    reward: FloatArray
    arrival: FloatArray
    ended: BoolArray

    @property
    def points(self) -> FloatArray:
        """(2 n, n_features) where they began, then where they led."""
        return np.concatenate([self.departure, self.arrival])

    def chosen(self, which: IntArray | BoolArray | slice) -> Steps:
        """Some of them."""
        return Steps(
            self.departure[which],
            self.action[which],
            self.reward[which],
            self.arrival[which],
            self.ended[which],
        )


class FlowUnits(NamedTuple):
    """Coordinates z = (x - origin) / span in which most observations are from 0 to 1."""

    origin: FloatArray
    span: FloatArray

    @classmethod
    def of(cls, steps: Steps) -> FlowUnits:
        """The units of some steps."""
        low, high = np.percentile(steps.points, [EDGE, 100 - EDGE], axis=0)
        whole = np.ptp(steps.points, axis=0)
        span = np.where(high > low, high - low, np.where(whole > 0.0, whole, 1.0))
        return cls(low, span)

    def local(self, points: FloatArray) -> FloatArray:
        """Observations in these units."""
        return (points - self.origin) / self.span

    def observations(self, local: FloatArray) -> FloatArray:
        """What has these coordinates."""
        return local * self.span + self.origin

    def seen(self, steps: Steps) -> Steps:
        """Steps in these units."""
        return steps._replace(
            departure=self.local(steps.departure), arrival=self.local(steps.arrival)
        )


class Wall(NamedTuple):
    """Where the laws would lead beyond a threshold, another law holds.

    Attributes:
        axis: the feature.
        sign: +1 if beyond is above, -1 if it is below.
        threshold: of sign * feature.
        law: displacement of steps into the wall.
    """

    axis: int
    sign: float
    threshold: float
    law: FlowLaw

    def is_hit(self, arrival: FloatArray) -> BoolArray:
        """(n,) whether the laws would lead beyond it."""
        return self.sign * arrival[:, self.axis] > self.threshold


class FlowModel:
    """What steps do, in units in which the world is about as wide as one."""

    def __init__(self, law: FlowLaw) -> None:
        """Know laws of displacement; `learn` finds the rest."""
        self.law, self.n_actions = law, law.n_actions
        self.total = law.sums  # of all steps, those into a wall included
        self.wall: Wall | None = None
        self.ends: EndLaw = NoEnds()
        self.rewards = RewardLaw(self.n_actions)
        self.log_evidence = 0.0  # of the steps that were learned last, by the laws

    @classmethod
    def of(cls, steps: Steps, n_actions: int) -> FlowModel:
        """Learn from steps in local units, with laws of the shape that they ask for."""
        centres = spread_out(steps.departure, MOST_BUMPS)
        model = cls._shaped(steps, steps, centres, n_actions)
        if model.wall is None:
            # Narrow bumps may have hidden a wall: choose them by what a smooth law explains.
            smooth = cls(FlowLaw(SMOOTH, centres, model.law.unit, n_actions))
            moved = steps.arrival - steps.departure
            smooth.law.add(steps.departure, steps.action, moved)
            smooth.law.fit()
            odd = smooth._without(steps, moved, smooth._odd(steps, moved))
            if FEWEST <= odd.sum() < MOST_EXCEPTIONS * len(odd):
                other = cls._shaped(steps, steps.chosen(~odd), centres, n_actions)
                if other.wall is not None and other.log_evidence > model.log_evidence:
                    return other
        return model

    @classmethod
    def _shaped(cls, steps: Steps, judged: Steps, centres: FloatArray, n_actions: int) -> FlowModel:
        """Learn from steps, with laws of the shape that some of them ask for."""
        moved = judged.arrival - judged.departure
        shape = choose_shape(judged.departure, judged.action, moved, centres, n_actions)
        unit = typical(steps.arrival - steps.departure)
        model = cls(FlowLaw(shape, centres, unit, n_actions))
        model.learn(steps, steps)
        return model

    def learn(self, new: Steps, kept: Steps) -> None:
        """Add new steps to the laws; walls, ends and rewards are found in all that are kept."""
        law = self.law
        law.sums = self.total
        law.add(new.departure, new.action, new.arrival - new.departure)
        self.total = law.sums
        law.fit()
        self.wall = self._find_wall(kept, kept.arrival - kept.departure)
        self.ends = learn_ends(kept.departure, kept.arrival, kept.ended)
        self.rewards = RewardLaw.of(
            kept.departure, kept.action, kept.arrival, kept.reward, kept.ended, self.n_actions
        )

    def frozen(self) -> FlowModel:
        """The model as it is now; what is learned later does not change it."""
        model = copy(self)
        model.law = copy(self.law)
        return model

    def advance(
        self, z: FloatArray, actions: IntArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Where steps arrive (n, n_features), P(end) (n,) and expected reward (n,)."""
        arrival = z + self.displacement(z, actions)
        p_end = self.ends.probability(arrival)
        return arrival, p_end, self.rewards.expected(z, actions, arrival, p_end)

    def displacement(self, z: FloatArray, actions: IntArray) -> FloatArray:
        """(n, n_features) expected displacement."""
        moved = self.law.displacement(z, actions)
        if self.wall is not None:
            hit = self.wall.is_hit(z + moved)
            if hit.any():
                moved[hit] = self.wall.law.displacement(z[hit], actions[hit])
        return moved

    def _find_wall(self, steps: Steps, moved: FloatArray) -> Wall | None:
        """A wall that explains the steps that the laws do not, if the evidence is for it."""
        z, actions, law = steps.departure, steps.action, self.law
        odd = self._odd(steps, moved)
        everything, one_law = law.sums, log_evidence(law.prior, law.sums)
        self.log_evidence = one_law
        if not FEWEST <= odd.sum() < MOST_EXCEPTIONS * len(z):
            return None
        odd = self._without(steps, moved, odd)
        arrival = z + law.displacement(z, actions)
        found = _separating(arrival, odd) if odd.sum() >= FEWEST else None
        if found is not None:
            axis, sign, threshold = found
            beyond = FlowLaw(LawShape(looseness=1e6), z[:0], law.unit, self.n_actions)
            beyond.add(z[odd], actions[odd], moved[odd])
            beyond.fit()
            two_laws = log_evidence(law.prior, law.sums) + log_evidence(beyond.prior, beyond.sums)
            two_laws -= float(np.log(2.0 * z.shape[1] * len(z)))  # of choosing the threshold
            if two_laws > one_law:
                self.log_evidence = two_laws
                return Wall(axis, sign, threshold, beyond)
        law.sums = everything
        law.fit()
        return None

    def _without(self, steps: Steps, moved: FloatArray, odd: BoolArray) -> BoolArray:
        """Fit the laws without odd steps, again and again; returns those that they leave out."""
        z, actions, law = steps.departure, steps.action, self.law
        whole = law.sums
        for _ in range(TRIMMED):
            without = FlowLaw(law.shape, law.centres, law.unit, law.n_actions)
            without.add(z[odd], actions[odd], moved[odd])
            law.sums = whole - without.sums
            law.fit()
            still = self._odd(steps, moved)
            if (still == odd).all() or still.sum() > MOST_EXCEPTIONS * len(z):
                break
            odd = still
        return odd

    def _odd(self, steps: Steps, moved: FloatArray) -> BoolArray:
        """(n,) which steps the laws do not explain."""
        off = self._residual(steps.departure, steps.action, moved)
        return np.asarray(off > max(LEAST_EXCEPTION, EXCEPTION * float(np.median(off))))

    def _residual(self, z: FloatArray, actions: IntArray, moved: FloatArray) -> FloatArray:
        """(n,) the largest difference to what the laws say, in typical displacements."""
        off = np.abs(moved - self.law.displacement(z, actions)) / self.law.unit
        return np.asarray(off.max(axis=1))


def _separating(arrival: FloatArray, odd: BoolArray) -> tuple[int, float, float] | None:
    """The axis, side and threshold beyond which the laws lead odd steps, and no others."""
    best, fewest = None, WRONG_SIDE * float(odd.sum()) + 1.0
    for axis in range(arrival.shape[1]):
        for sign in (-1.0, 1.0):
            inside = np.sort(sign * arrival[~odd, axis])
            beyond = np.sort(sign * arrival[odd, axis])
            # A threshold just below each odd step: those before it and others above are wrong.
            above = len(inside) - np.searchsorted(inside, beyond)
            wrong = np.arange(len(beyond)) + above
            cut = int(wrong.argmin())
            if wrong[cut] < fewest:
                nearest = inside[inside < beyond[cut]].max(initial=-np.inf)
                lowest = max(nearest, beyond[cut] - 1.0)
                threshold = 0.5 * float(beyond[cut] + lowest)
                best, fewest = (axis, sign, threshold), float(wrong[cut])
    return best
