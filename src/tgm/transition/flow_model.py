"""A model of a world that flows: laws of displacement, walls, ends and rewards."""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

import numpy as np

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.distributions.linear_gaussian import RegressionSums, log_evidence
from tgm.distributions.logistic import fit_logistic, linear
from tgm.transition.flow_chart import Chart
from tgm.transition.flow_ends import EndLaw, NoEnds, learn_ends
from tgm.transition.flow_law import (
    JUDGED,
    FlowLaw,
    LawShape,
    best_shape,
    bump_centres,
    typical,
)
from tgm.transition.flow_rewards import RewardLaw
from tgm.transition.flow_turns import Turn, embedded, turns_of, wrapped
from tgm.transition.flow_units import FlowUnits, Steps

EXCEPTION = 6.0  # medians of the residuals: above, a step may be of another law
LEAST_EXCEPTION = 0.15  # typical displacements: below, a residual is no exception
FEWEST = 3  # exceptions that may be a wall
MOST_EXCEPTIONS = 0.3  # share of the steps; more are no exceptions
WRONG_SIDE = 0.25  # share of exceptions on the wrong side of a wall, or of others beyond it
TRIMMED = 5  # fits of the laws, at most, each without the exceptions of the one before
SMOOTH = LawShape(0.8, True, 1e4)  # of laws too smooth to imitate a wall


class Wall(NamedTuple):
    """Where the laws would lead beyond a threshold, another law holds.

    Attributes:
        normal: (n_features,) the direction in which it is crossed.
        threshold: how far in that direction it is.
        law: displacement of steps into the wall.
    """

    normal: FloatArray
    threshold: float
    law: FlowLaw

    def is_hit(self, arrival: FloatArray) -> BoolArray:
        """(n,) whether the laws would lead beyond it."""
        return np.asarray(arrival @ self.normal > self.threshold)


class FlowModel:
    """What steps do, in units in which the world is about as wide as one."""

    def __init__(self, law: FlowLaw, features: FloatArray, turns: tuple[Turn, ...] = ()) -> None:
        """Know laws of displacement; `learn` finds the rest.

        Args:
            law: of displacement.
            features: (n_features, n_features) a row for each feature: what it says of a point.
            turns: coordinates that are angles.
        """
        self.law, self.n_actions, self.features = law, law.n_actions, features
        self.turns = turns
        self.total = law.sums  # of all steps, those into a wall included
        self.wall: Wall | None = None
        self.ends: EndLaw = NoEnds()
        self.rewards = RewardLaw(self.n_actions)
        self.log_evidence = 0.0  # of the steps that were learned last, by the laws
        self.observation_noise = np.zeros_like(features)  # covariance, in local units
        self.news = np.zeros_like(features)  # covariance of what an observation changes

    @classmethod
    def of(cls, steps: Steps, n_actions: int, features: FloatArray | None = None) -> FlowModel:
        """Learn from steps in local units, with laws of the shape of the highest evidence.

        The features are the coordinates if they are not given.
        """
        if features is None:
            features = np.eye(steps.departure.shape[1])
        centres = bump_centres(steps.departure)
        return cls._of_shape(
            steps, best_shape(steps, centres, n_actions)[0], centres, features, n_actions
        )

    @classmethod
    def in_best_units(
        cls, steps: Steps, n_actions: int, judged: int = JUDGED, chart: Chart | None = None
    ) -> tuple[FlowUnits, FlowModel, Steps]:
        """The units in which laws have the highest evidence, the model, and the steps in them.

        At most `judged` steps are judged. Steps are in the coordinates of the chart, if there is
        one; where one of them is an angle each coordinate is an axis.
        """
        plain = FlowUnits.of_features(steps)
        turns = () if chart is None else turns_of(plain, chart)
        found = []
        for units in (plain,) if turns else (plain, FlowUnits.of_motion(steps)):
            local = units.seen(steps)
            inputs = embedded(local.departure, turns)
            centres = bump_centres(inputs)
            shape, evidence, n_judged = best_shape(local, centres, n_actions, judged, inputs)
            evidence -= n_judged * float(np.linalg.slogdet(units.axes)[1])
            found.append((evidence, units, local, shape, centres))
        _, units, local, shape, centres = max(found, key=lambda one: one[0])
        model = cls._of_shape(local, shape, centres, units.features, n_actions, turns)
        return units, model, local

    @classmethod
    def _of_shape(
        cls,
        steps: Steps,
        shape: LawShape,
        centres: FloatArray,
        features: FloatArray,
        n_actions: int,
        turns: tuple[Turn, ...] = (),
    ) -> FlowModel:
        """Learn from steps with laws of a shape, or of another one if that imitates a wall."""
        unit = typical(steps.arrival - steps.departure)
        model = cls(FlowLaw(shape, centres, unit, n_actions), features, turns)
        model.learn(steps, steps)
        if model.wall is None:
            # Narrow bumps may imitate a wall: choose them by the steps that a smooth law explains.
            smooth = cls(FlowLaw(SMOOTH, centres, unit, n_actions), features, turns)
            moved, inputs = steps.arrival - steps.departure, smooth.inputs(steps.departure)
            smooth.law.add(inputs, steps.action, moved)
            smooth.law.fit()
            odd = smooth._without(steps, moved, smooth._odd(steps, moved))
            if FEWEST <= odd.sum() < MOST_EXCEPTIONS * len(odd):
                even = steps.chosen(~odd)
                shape = best_shape(even, centres, n_actions, JUDGED, inputs[~odd])[0]
                other = cls(FlowLaw(shape, centres, unit, n_actions), features, turns)
                other.learn(steps, steps)
                if other.wall is not None and other.log_evidence > model.log_evidence:
                    return other
        return model

    def learn(self, new: Steps, kept: Steps) -> None:
        """Add new steps to the laws; walls, ends and rewards are found in all that are kept."""
        law = self.law
        law.sums = self.total
        law.add(self.inputs(new.departure), new.action, new.arrival - new.departure)
        self.fit(law.sums, kept)
        self.learn_outcomes(kept)

    def fit(self, sums: RegressionSums, kept: Steps) -> None:
        """Find laws and walls from the sums of all steps, and those that are kept."""
        law = self.law
        law.sums = self.total = sums
        law.fit()
        self.wall = self._find_wall(kept, kept.arrival - kept.departure)

    def learn_outcomes(self, kept: Steps) -> None:
        """Find ends and rewards."""
        departure, arrival = self.inputs(kept.departure), self.inputs(kept.arrival)
        self.ends = learn_ends(departure, arrival, kept.ended, self.directions)
        self.rewards = RewardLaw.of(
            departure, kept.action, arrival, kept.reward, kept.ended, self.n_actions,
            self.directions,
        )  # fmt: skip

    def inputs(self, z: FloatArray) -> FloatArray:
        """(n, n_inputs) what everything depends on: points, but angles as cosine and sine."""
        return embedded(z, self.turns)

    @property
    def directions(self) -> FloatArray:
        """(2 n_features, n_features) in which walls and ends may lie: coordinates and features."""
        if self.turns:
            return np.eye(len(self.features) + len(self.turns))
        return np.concatenate([np.eye(len(self.features)), self.features])

    @property
    def has_noise(self) -> bool:
        """Whether observations have noise."""
        return bool(self.observation_noise.any())

    def frozen(self) -> FlowModel:
        """The model as it is now; what is learned later does not change it."""
        model = copy(self)
        model.law = copy(self.law)
        return model

    def advance(
        self, z: FloatArray, actions: IntArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Where steps arrive (n, n_features), P(end) (n,) and expected reward (n,)."""
        arrival = wrapped(z + self.displacement(z, actions), self.turns)
        there = self.inputs(arrival)
        p_end = self.ends.probability(there)
        return arrival, p_end, self.rewards.expected(self.inputs(z), actions, there, p_end)

    def expected_rewards(self, steps: Steps) -> FloatArray:
        """(n,) expected rewards of steps in local units that have ended or not."""
        place, there = self.inputs(steps.departure), self.inputs(steps.arrival)
        return self.rewards.expected(place, steps.action, there, steps.ended.astype(np.float64))

    def motion(self, z: FloatArray, actions: IntArray) -> tuple[FloatArray, FloatArray]:
        """Where steps arrive (n, n_features), and the slopes (n, n_features, n_features) of it."""
        moved, slope = self.law.motion(z, actions)
        if self.wall is not None:
            hit = self.wall.is_hit(z + moved)
            if hit.any():
                moved[hit], slope[hit] = self.wall.law.motion(z[hit], actions[hit])
        return z + moved, slope + np.eye(z.shape[1])

    def displacement(self, z: FloatArray, actions: IntArray) -> FloatArray:
        """(n, n_features) expected displacement."""
        inputs = self.inputs(z)
        moved = self.law.displacement(inputs, actions)
        if self.wall is not None:
            hit = self.wall.is_hit(self.inputs(z + moved))
            if hit.any():
                moved[hit] = self.wall.law.displacement(inputs[hit], actions[hit])
        return moved

    def is_at_wall(self, z: FloatArray, actions: IntArray) -> BoolArray:
        """(n,) whether the law of the wall holds for steps from points (n, n_features)."""
        if self.wall is None:
            return np.zeros(len(z), dtype=bool)
        arrival = z + self.law.displacement(self.inputs(z), actions)
        return self.wall.is_hit(self.inputs(arrival))

    def _find_wall(self, steps: Steps, moved: FloatArray) -> Wall | None:
        """A wall that explains the steps that the laws do not, if the evidence is for it."""
        z, actions, law = self.inputs(steps.departure), steps.action, self.law
        odd = self._odd(steps, moved)
        everything, one_law = law.sums, log_evidence(law.prior, law.sums)
        self.log_evidence = one_law
        if not FEWEST <= odd.sum() < MOST_EXCEPTIONS * len(z):
            return None
        odd = self._without(steps, moved, odd)
        arrival = self.inputs(steps.departure + law.displacement(z, actions))
        found = _separating(arrival, odd, self.directions) if odd.sum() >= FEWEST else None
        if found is not None:
            normal, threshold = found
            beyond = FlowLaw(LawShape(looseness=1e6), z[:0], law.unit, self.n_actions)
            beyond.add(z[odd], actions[odd], moved[odd])
            beyond.fit()
            two_laws = log_evidence(law.prior, law.sums) + log_evidence(beyond.prior, beyond.sums)
            two_laws -= float(np.log(2.0 * z.shape[1] * len(z)))  # of choosing the threshold
            if two_laws > one_law:
                self.log_evidence = two_laws
                return Wall(normal, threshold, beyond)
        law.sums = everything
        law.fit()
        return None

    def _without(self, steps: Steps, moved: FloatArray, odd: BoolArray) -> BoolArray:
        """Fit the laws without odd steps, again and again; returns those that they leave out."""
        z, actions, law = self.inputs(steps.departure), steps.action, self.law
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
        off = np.abs(moved - self.law.displacement(self.inputs(z), actions)) / self.law.unit
        return np.asarray(off.max(axis=1))


def _separating(
    arrival: FloatArray, odd: BoolArray, axes: FloatArray
) -> tuple[FloatArray, float] | None:
    """The direction and threshold beyond which the laws lead odd steps, and no others.

    One of the axes (n_axes, n_features); or the direction that a logistic law finds, if fewer
    steps are on the wrong side.
    """
    cuts = [_cut(arrival, odd, normal) for normal in (*axes, *-axes)]
    if all(cut.n_wrong for cut in cuts):
        cuts.append(_cut(arrival, odd, fit_logistic(linear(arrival), odd.astype(float))[0][1:]))
    best = min(cuts, key=lambda cut: cut.n_wrong)
    is_clear = best.n_wrong < WRONG_SIDE * float(odd.sum()) + 1.0
    return (best.normal, best.threshold) if is_clear else None


class _Cut(NamedTuple):
    """A plane between odd steps and others, and how many are on the wrong side of it."""

    normal: FloatArray
    threshold: float
    n_wrong: int


def _cut(arrival: FloatArray, odd: BoolArray, normal: FloatArray) -> _Cut:
    """The best plane across a direction (n_features,)."""
    inside, beyond = np.sort(arrival[~odd] @ normal), np.sort(arrival[odd] @ normal)
    # A threshold just below each odd step: those before it and others above are wrong.
    above = len(inside) - np.searchsorted(inside, beyond)
    wrong = np.arange(len(beyond)) + above
    first = int(wrong.argmin())
    nearest = inside[inside < beyond[first]].max(initial=-np.inf)
    lowest = max(nearest, beyond[first] - float(np.linalg.norm(normal)))
    return _Cut(normal, 0.5 * float(beyond[first] + lowest), int(wrong[first]))
