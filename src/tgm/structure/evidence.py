"""Merges and splits of states, weighed by evidence: of the observations and of the transitions."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from tgm.distributions import BoolArray, FloatArray
from tgm.distributions.moments import Moments
from tgm.inference.step_filter import STAY
from tgm.perception.component_prior import ComponentPrior
from tgm.perception.gaussian_states import GaussianStates
from tgm.transition.sparse import Row, SparseTransitions, row_log_evidence

TWO_MEANS_ROUNDS = 10
HARDLY_KNOWN = 3.0  # points
END_PRIOR = 0.5  # Beta(1/2, 1/2) on whether an action ends the episode


def merge_gain(
    components: GaussianStates,
    model: SparseTransitions,
    one: int,
    other: int,
    *,
    row_prior: float,
    missed: float,
) -> float:
    """Nats of evidence won by making two states one.

    Args:
        components, model: what is known of states and transitions.
        one, other: the two.
        row_prior: tries that the base of a row is worth.
        missed: how often the rarer one could have been seen since its birth but was not; see
            `missed_chances`.
    """
    prior = components.prior
    first, second = components.moments(one), components.moments(other)
    gain = _evidence(prior, first + second) - _evidence(prior, first) - _evidence(prior, second)
    gain -= prior.log_repulsion(first.mean - second.mean)
    elsewhere = base_of_rows(components.n_alive, model.n_actions, row_prior)
    return (
        gain
        + math.log1p(missed)
        + _gain_of_rows_into(model, one, other, elsewhere)
        + _gain_of_rows_out_of(model, one, other, elsewhere, row_prior)
    )


def base_of_rows(n_states: int, n_actions: int, row_prior: float) -> float:
    """Concentration of each state but its own in a row of which nothing is known.

    An action leads to few places, however many states there are.
    """
    return row_prior * (1.0 - STAY) / min(max(2, n_states), 2 * n_actions)


def missed_chances(
    components: GaussianStates, one: int, other: int, age: Mapping[int, float]
) -> float:
    """Visits to the older of two states since the birth of the younger, if that is hardly known.

    A state that was seen once or twice, while its neighbour was seen often, is an outlier of it.
    `age` is the share of the run for which each of the two has lived.
    """
    younger, older = (one, other) if age[one] < age[other] else (other, one)
    if components.weight[younger] >= HARDLY_KNOWN:
        return 0.0
    return float(components.weight[older] * age[younger])


def _gain_of_rows_into(model: SparseTransitions, one: int, other: int, elsewhere: float) -> float:
    """A row that leads to both has one outcome where it had two."""
    gain = 0.0
    # Sorted, because sums round in their order.
    for state, action in sorted(model.predecessors[one] & model.predecessors[other]):
        if state not in (one, other):
            row = model.row(state, action)
            gain += math.lgamma(elsewhere + row[one] + row[other]) + math.lgamma(elsewhere)
            gain -= math.lgamma(elsewhere + row[one]) + math.lgamma(elsewhere + row[other])
    return gain


def _gain_of_rows_out_of(
    model: SparseTransitions, one: int, other: int, elsewhere: float, row_prior: float
) -> float:
    """If the two are one state, each action does in both the same."""

    def evidence(row: Row, home: int) -> float:
        concentrations = [row_prior * STAY if after == home else elsewhere for after in row]
        return row_log_evidence(row.values(), concentrations, row_prior)

    gain = 0.0
    for action in range(model.n_actions):
        first, second = model.row(one, action), model.row(other, action)
        shared = first and second
        if not shared and not ({one, other} <= first.keys() | second.keys()):
            continue  # nothing about this action speaks for or against
        both: Row = {}
        for row in (first, second):
            for after, count in row.items():
                target = one if after == other else after
                both[target] = both.get(target, 0.0) + count
        gain += evidence(both, one) - evidence(first, one) - evidence(second, other)
        if shared:
            gain += _gain_of_ends(model, one, other, action)
    return gain


def _gain_of_ends(model: SparseTransitions, one: int, other: int, action: int) -> float:
    """Whether the episode ends there is an outcome too."""

    def evidence(states: tuple[int, ...]) -> float:
        ends = sum(float(model.end_sum[state, action]) for state in states)
        tries = sum(float(model.visits[state, action]) for state in states)
        counts = (max(ends, 0.0), max(tries - ends, 0.0))
        return row_log_evidence(counts, (END_PRIOR, END_PRIOR), 2 * END_PRIOR)

    return evidence((one, other)) - evidence((one,)) - evidence((other,))


def two_sides(points: FloatArray) -> BoolArray | None:
    """(n,) one side of the best cut of points (n, n_features) into two, or None.

    Two-means, started from a cut across the longest axis.
    """
    centred = points - points.mean(axis=0)
    axis = np.linalg.eigh(centred.T @ centred)[1][:, -1]
    side = np.asarray(centred @ axis > 0)
    for _ in range(TWO_MEANS_ROUNDS):
        if side.all() or not side.any():
            return None
        here, there = points[side].mean(axis=0), points[~side].mean(axis=0)
        new = np.sum((points - here) ** 2, axis=1) < np.sum((points - there) ** 2, axis=1)
        if (new == side).all():
            return side
        side = np.asarray(new)
    return None if side.all() or not side.any() else side


def split_gain(prior: ComponentPrior, points: FloatArray, side: BoolArray, n_states: int) -> float:
    """Nats of evidence won by seeing points (n, n_features) as two states, not one.

    Beside the observations, the two ways in which the points can be dealt out to states count:
    (n1 - 1)! (n2 - 1)! / (n - 1)! as in a Chinese restaurant whose appetite for new states is a
    third of those it has, the share of "new" in the base of a row.
    """
    first, second = Moments.of_points(points[side]), Moments.of_points(points[~side])
    gain = _evidence(prior, first) + _evidence(prior, second)
    gain -= _evidence(prior, first + second)
    gain += prior.log_repulsion(first.mean - second.mean)
    here, there = first.weight, second.weight
    seating = math.lgamma(here) + math.lgamma(there) - math.lgamma(here + there)
    return gain + seating + math.log(max(1.0, n_states / 3))


def spread_ratio(prior: ComponentPrior, moments: Moments) -> float:
    """How much wider a component is along its widest axis than is believed of a state."""
    widest = np.linalg.eigvals(prior.precision @ moments.scatter).real.max()
    return float(widest / moments.weight)


def _evidence(prior: ComponentPrior, moments: Moments) -> float:
    return prior.log_evidence(float(moments.weight), moments.scatter)
