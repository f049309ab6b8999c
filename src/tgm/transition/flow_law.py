"""Laws of displacement in a world that flows: what each action adds to a point, anywhere.

A law is a Bayesian regression of the displacement on (1, z) for each action and on bumps, Gaussian
functions of z about some of the points seen. Whether there are bumps, how wide they are, whether
all actions share them and how large the weights may be is decided by evidence.
"""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.distributions.linear_gaussian import (
    RegressionPrior,
    RegressionSums,
    log_evidence_of_points,
    posterior,
)
from tgm.errors import DataError
from tgm.files.arrays import ANY, ArrayReader, Arrays
from tgm.transition.flow_units import Steps

LENGTHS = (0.0, 0.2, 0.4, 0.8, 1.6)  # widths of bumps in spans of a feature; 0: no bumps
SIGNAL_TO_NOISE = (1e1, 1e2, 1e4, 1e6)  # variance of a weight, in variances of the noise
FEW_BUMPS, MOST_BUMPS = 200, 400  # bumps of a law: where it has few steps, and at most
BUMPS_PER_STEP = 0.25  # bumps of a law for each step, between these two bounds
LINEAR_SHARE = 10.0  # variance of the weights of (1, z), in variances of the weights of bumps
JUDGED = 250  # points by which shapes are compared
JUDGED_IN_NOISE = 500  # points for that, if observations have noise: each says less
LEAST_LAW_NOISE = 1e-5  # deviation, in typical displacements


class LawShape(NamedTuple):
    """A hypothesis about laws.

    Attributes:
        length: the width of bumps; 0.0 if there are none.
        is_shared: whether all actions share the bumps.
        looseness: variance of the weights of bumps, in variances of the noise.
    """

    length: float = 0.0
    is_shared: bool = True
    looseness: float = 1e2


class FlowLaw:
    """The laws of all actions, of one shape."""

    def __init__(
        self, shape: LawShape, centres: FloatArray, unit: FloatArray, n_actions: int
    ) -> None:
        """Know nothing.

        Args:
            shape: the hypothesis.
            centres: (n_bumps, n_inputs) of the bumps, in what displacements depend on.
            unit: (n_features,) a typical displacement.
            n_actions: number of actions.
        """
        self.shape, self.unit, self.n_actions = shape, unit, n_actions
        self.centres = centres if shape.length else centres[:0]
        n_features, n_each = len(unit), 1 + centres.shape[1]
        n_linear = (1 + n_actions) * n_each
        n_bumps = len(self.centres) * (1 if shape.is_shared else n_actions)
        variance = np.full(n_linear + n_bumps, shape.looseness)
        variance[:n_linear] *= LINEAR_SHARE
        scale = np.full(n_features, LEAST_LAW_NOISE**2)
        self.prior = RegressionPrior(1.0 / variance, scale, n_features + 1.0)
        n_inputs = len(variance)
        self.sums = RegressionSums(
            0.0,
            np.zeros((n_inputs, n_inputs)),
            np.zeros((n_inputs, n_features)),
            np.zeros((n_features, n_features)),
        )
        self.noise = np.zeros((n_features, n_features))  # covariance of what is not explained
        n_sets = 1 if shape.is_shared else n_actions
        self._linear = np.zeros((n_actions, n_each, n_features))
        self._bumps = np.zeros((n_sets, len(self.centres), n_features))
        # The exponent of a bump at z is z _towards - |z|^2 / 2 l^2 - _reach.
        self._towards, self._reach = np.zeros((n_each - 1, 0)), np.zeros(0)
        if shape.length:
            self._towards = np.ascontiguousarray(self.centres.T) / shape.length**2
            self._reach = 0.5 * np.square(self.centres / shape.length).sum(axis=1)

    def add(self, z: FloatArray, actions: IntArray, displacement: FloatArray) -> None:
        """Learn from points (n, n_features), actions (n,) and displacements (n, n_features)."""
        if len(z):
            self.sums += RegressionSums.of(self.inputs(z, actions), displacement / self.unit)

    def fit(self) -> None:
        """Compute the posterior mean of the weights from the sums."""
        fitted = posterior(self.prior, self.sums)
        n_features, n_actions = len(self.unit), self.n_actions
        weights, n_each = fitted.weights * self.unit, self._linear.shape[1]
        own = weights[n_each : (1 + n_actions) * n_each].reshape(n_actions, n_each, n_features)
        self._linear = np.ascontiguousarray(own + weights[:n_each])
        n_sets = 1 if self.shape.is_shared else n_actions
        bumps = weights[(1 + n_actions) * n_each :].reshape(n_sets, len(self.centres), n_features)
        # Contiguous as in a file: another layout may round a product differently.
        self._bumps = np.ascontiguousarray(bumps)
        self.noise = fitted.noise * np.outer(self.unit, self.unit)

    @property
    def weights(self) -> tuple[FloatArray, FloatArray]:
        """Of (1, z), (n_actions, 1 + n_features, n_features), and of bumps for each set of them."""
        return self._linear, self._bumps

    def with_weights(self, linear: FloatArray, bumps: FloatArray, noise: FloatArray) -> FlowLaw:
        """The same with other weights and another noise; the sums stay."""
        law = copy(self)
        law._linear, law._bumps, law.noise = linear, bumps, noise
        return law

    def inputs(self, z: FloatArray, actions: IntArray) -> FloatArray:
        """(n, n_inputs) what the displacements of points are regressed on."""
        linear = _linear(z)
        own = np.equal.outer(actions, np.arange(self.n_actions)).astype(float)
        parts = [linear, _spread(own, linear)]
        if self.shape.length:
            bumps = self.bumps(z)
            parts.append(bumps if self.shape.is_shared else _spread(own, bumps))
        return np.concatenate(parts, axis=1)

    def bumps(self, z: FloatArray) -> FloatArray:
        """(n, n_bumps) the bumps at points."""
        exponent = z @ self._towards
        exponent -= np.einsum("nf,nf->n", z, z)[:, None] * (0.5 / self.shape.length**2)
        exponent -= self._reach
        return np.exp(exponent, out=exponent)

    def displacement(self, z: FloatArray, actions: IntArray) -> FloatArray:
        """(n, n_features) expected displacement of points."""
        moved = self._straight(z, actions)
        if self.shape.length:
            moved += self._of_sets(self.bumps(z), self._bumps, actions)
        return moved

    def motion(self, z: FloatArray, actions: IntArray) -> tuple[FloatArray, FloatArray]:
        """Displacements, and (n, n_features, n_features) their derivatives by the features of z.

        A bump b of weights w about c has the derivative w b (c - z) / l^2.
        """
        moved = self._straight(z, actions)
        slope = self._linear[actions, 1:].transpose(0, 2, 1)
        if self.shape.length:
            n_sets, n_bumps, n_features = self._bumps.shape
            bumps, outer = self.bumps(z), self._bumps[..., None] * self.centres[:, None]
            by_bumps = self._of_sets(bumps, self._bumps, actions)
            away = self._of_sets(bumps, outer.reshape(n_sets, n_bumps, -1), actions)
            away = away.reshape(len(z), n_features, -1) - by_bumps[..., None] * z[:, None]
            moved, slope = moved + by_bumps, slope + away / self.shape.length**2
        return moved, np.asarray(slope)

    def _straight(self, z: FloatArray, actions: IntArray) -> FloatArray:
        """(n, n_features) what (1, z) adds to the displacement of points."""
        return np.asarray((_linear(z)[:, None] @ self._linear[actions])[:, 0])

    def _of_sets(self, bumps: FloatArray, weights: FloatArray, actions: IntArray) -> FloatArray:
        """Bumps (n, n_bumps) by the weights (n_sets, n_bumps, m) of the set of each action."""
        if self.shape.is_shared:
            return np.asarray(bumps @ weights[0])
        return np.asarray((bumps @ weights)[actions, np.arange(len(actions))])

    def input_slopes(self, z: FloatArray, actions: IntArray) -> FloatArray:
        """(n, n_inputs, n_features) derivative of the inputs by the features of z."""
        n, n_features = z.shape
        own = np.equal.outer(actions, np.arange(self.n_actions)).astype(float)
        linear = np.broadcast_to(
            np.eye(1 + n_features, n_features, -1), (n, 1 + n_features, n_features)
        )
        parts = [linear, _spread(own, linear)]
        if self.shape.length:
            bumps = self._bump_slopes(z)
            parts.append(bumps if self.shape.is_shared else _spread(own, bumps))
        return np.concatenate(parts, axis=1)

    def _bump_slopes(self, z: FloatArray) -> FloatArray:
        """(n, n_bumps, n_features)"""
        away = (self.centres - z[:, None]) / self.shape.length**2
        return np.asarray(self.bumps(z)[..., None] * away)

    def to_arrays(self) -> Arrays:
        """What it predicts with; not the sums."""
        return {
            "shape": np.array(self.shape, dtype=np.float64),
            "centres": self.centres,
            "unit": self.unit,
            "linear": self._linear,
            "bumps": self._bumps,
            "noise": self.noise,
        }

    @classmethod
    def from_arrays(
        cls, saved: ArrayReader, n_features: int, n_actions: int, n_inputs: int | None = None
    ) -> FlowLaw:
        """Take over what `to_arrays` gave, checked; it depends on `n_inputs` numbers of a point."""
        n_inputs = n_features if n_inputs is None else n_inputs
        length, is_shared, looseness = saved.floats("shape", 3, low=0.0).tolist()
        if (length and length < min(LENGTHS[1:])) or looseness <= 0.0:
            raise DataError(f"array 'shape' holds {length} and {looseness}")
        # Copies: products of arrays that lie unevenly in memory may be rounded differently.
        centres = saved.floats("centres", ANY, n_inputs).copy()
        unit = saved.floats("unit", n_features, low=1e-12)
        law = cls(LawShape(length, bool(is_shared), looseness), centres, unit, n_actions)
        n_sets, n_bumps = 1 if is_shared else n_actions, len(law.centres)
        law._linear = saved.floats("linear", n_actions, 1 + n_inputs, n_features).copy()
        bumps = saved.floats("bumps", n_sets, n_bumps, n_features).copy()
        law._bumps = bumps
        law.noise = saved.floats("noise", n_features, n_features)
        return law


def best_shape(
    steps: Steps,
    centres: FloatArray,
    n_actions: int,
    most: int = JUDGED,
    inputs: FloatArray | None = None,
) -> tuple[LawShape, float, int]:
    """The shape of the highest evidence, that evidence, and of how many points it is.

    At most `most` points are judged, evenly spaced in time if there are more. Displacements may
    depend on `inputs` (n, n_inputs) in place of where a step began.
    """
    n = len(steps.action)
    chosen = np.linspace(0, n - 1, min(n, most)).astype(np.intp)
    judged, n = steps.chosen(chosen), len(chosen)
    z = judged.departure if inputs is None else inputs[chosen]
    moved = judged.arrival - judged.departure
    unit = typical(moved)
    targets, best, highest = moved / unit, LawShape(), -np.inf
    scale, dof = np.full(len(unit), LEAST_LAW_NOISE**2), len(unit) + 1.0
    same = np.equal.outer(judged.action, judged.action)
    # Covariance of two points by (1, z), common and of each action; bumps are added below.
    straight = LINEAR_SHARE * (_linear(z) @ _linear(z).T) * (1.0 + same)
    for length in LENGTHS:
        shared = straight
        if length:
            bumps = FlowLaw(LawShape(length), centres, unit, n_actions).bumps(z)
            shared = bumps @ bumps.T
        for is_shared in (True, False) if length else (True,):
            gram = straight if not length else straight + (shared if is_shared else shared * same)
            before = -np.inf
            for looseness in reversed(SIGNAL_TO_NOISE):
                evidence = log_evidence_of_points(looseness * gram, targets, scale, dof)
                if evidence > highest:
                    best, highest = LawShape(length, is_shared, looseness), evidence
                if evidence < before:  # it has one maximum
                    break
                before = evidence
    return best, highest - n * float(np.log(unit).sum()), n


def bump_centres(departure: FloatArray) -> FloatArray:
    """(n_bumps, n_features) of laws of steps that began at (n, n_features); more if there are more.

    With as many bumps as steps a law could imitate anything, a wall as well.
    """
    n = min(MOST_BUMPS, max(FEW_BUMPS, int(BUMPS_PER_STEP * len(departure))))
    return spread_out(departure, n)


def spread_out(points: FloatArray, n: int) -> FloatArray:
    """At most `n` of some points, each the farthest from those before it."""
    n = min(n, len(points))
    chosen, square = [0], np.square(points - points[0]).sum(axis=1)
    for _ in range(n - 1):
        farthest = int(square.argmax())
        chosen.append(farthest)
        square = np.minimum(square, np.square(points - points[farthest]).sum(axis=1))
    return points[chosen]


def typical(displacement: FloatArray) -> FloatArray:
    """(n_features,) root of the mean square of displacements."""
    return np.asarray(np.maximum(np.sqrt(np.square(displacement).mean(axis=0)), 1e-9))


def _linear(z: FloatArray) -> FloatArray:
    inputs = np.ones((len(z), 1 + z.shape[1]))
    np.subtract(z, 0.5, out=inputs[:, 1:])
    return inputs


def _spread(own: FloatArray, inputs: FloatArray) -> FloatArray:
    """Inputs (n, n_inputs, ...) once for each action, zero but for the own one."""
    n, n_inputs, *rest = inputs.shape
    chosen = own.reshape(*own.shape, *[1] * (inputs.ndim - 1)) * inputs[:, None]
    return np.asarray(chosen.reshape(n, own.shape[1] * n_inputs, *rest))
