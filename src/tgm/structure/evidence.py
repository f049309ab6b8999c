"""Merges and splits of states, weighed by evidence: of the observations and of the transitions."""

from __future__ import annotations

import math

import numpy as np

from tgm.distributions.moments import Moments
from tgm.distributions.normal_gamma import NormalGamma, log_evidence
from tgm.inference.step_filter import STAY
from tgm.perception.observation_model import ObservationModel
from tgm.transition.rows import NO_COUNT, Row, row_log_evidence
from tgm.transition.sparse import SparseTransitions

HARDLY_KNOWN = 3.0  # points; a state with fewer may be an outlier of another
END_PRIOR = 0.5  # Beta(1/2, 1/2) on whether an action ends the episode
REWARD_NOISE = 0.1  # of the range of rewards: a guess of their deviation in a row, worth one try
REWARD_SPREAD = 0.5  # of the range: deviation of the rows' expected rewards
LEAST_REWARD = 1e-100  # a smaller difference is 0: its square would be no positive number


def transition_gain(
    transitions: SparseTransitions, one: int, other: int, n_states: int, row_prior: float
) -> float:
    """Nats of evidence of the transitions won by making two states one.

    Args:
        transitions: what is known.
        one, other: the two.
        n_states: number of states, both counted.
        row_prior: tries that the base of a row is worth.
    """
    elsewhere = base_of_rows(n_states, transitions.n_actions, row_prior)
    into = _gain_of_rows_into(transitions, one, other, elsewhere)
    return into + _gain_of_rows_out_of(transitions, one, other, elsewhere, row_prior)


def base_of_rows(n_states: int, n_actions: int, row_prior: float) -> float:
    """Concentration of each state but its own in a row of which nothing is known.

    An action leads to few places, however many states there are.
    """
    return row_prior * (1.0 - STAY) / min(max(2, n_states), 2 * n_actions)


def missed_chances(weights: tuple[float, float], ages: tuple[float, float]) -> float:
    """Visits to the older of two states since the birth of the younger, if that is hardly known.

    A state that was seen once or twice, while its neighbour was seen often, is an outlier of it.

    Args:
        weights: points of the two.
        ages: share of the run for which each of the two has existed.
    """
    younger, older = (0, 1) if ages[0] < ages[1] else (1, 0)
    if weights[younger] >= HARDLY_KNOWN:
        return 0.0
    return weights[older] * ages[younger]


def split_gain(states: ObservationModel, first: Moments, second: Moments, n_states: int) -> float:
    """Nats of evidence won by seeing the points of one state as two, without the transitions.

    Beside the observations, the number of states counts: one in three ways leads to a new one. How
    the points are dealt out to the halves is left to the transitions, which predict it where the
    halves are two places (see `StructureSearch.split`).
    """
    return states.split_gain(first, second) + math.log(max(1.0, n_states / 3))


def _gain_of_rows_into(
    transitions: SparseTransitions, one: int, other: int, elsewhere: float
) -> float:
    """A row that leads to both has one outcome where it had two."""
    gain, predecessors = 0.0, transitions.predecessors
    for state, action in sorted(predecessors[one] & predecessors[other]):  # sums depend on order
        if state not in (one, other):
            row = transitions.row(state, action)
            gain += math.lgamma(elsewhere + row[one] + row[other]) + math.lgamma(elsewhere)
            gain -= math.lgamma(elsewhere + row[one]) + math.lgamma(elsewhere + row[other])
    return gain


def _gain_of_rows_out_of(
    transitions: SparseTransitions, one: int, other: int, elsewhere: float, row_prior: float
) -> float:
    """If the two are one state, each action does the same in both."""

    def evidence(row: Row, own: int) -> float:
        concentrations = [row_prior * STAY if after == own else elsewhere for after in row]
        return row_log_evidence(row.values(), concentrations, row_prior)

    gain = 0.0
    for action in range(transitions.n_actions):
        first, second = transitions.row(one, action), transitions.row(other, action)
        shared = first and second
        if not shared and not ({one, other} <= first.keys() | second.keys()):
            continue  # this action says nothing for or against
        both: Row = {}
        for row in (first, second):
            for after, count in row.items():
                target = one if after == other else after
                both[target] = both.get(target, 0.0) + count
        gain += evidence(both, one) - evidence(first, one) - evidence(second, other)
        if shared:
            gain += _gain_of_ends(transitions, one, other, action)
            gain += _gain_of_rewards(transitions, one, other, action)
    return gain


def _gain_of_ends(transitions: SparseTransitions, one: int, other: int, action: int) -> float:
    """Whether the episode ends is an outcome too."""

    def evidence(states: tuple[int, ...]) -> float:
        ends = sum(float(transitions.end_sum[state, action]) for state in states)
        tries = sum(float(transitions.visits[state, action]) for state in states)
        counts = (max(ends, 0.0), max(tries - ends, 0.0))
        return row_log_evidence(counts, (END_PRIOR, END_PRIOR), 2 * END_PRIOR)

    return evidence((one, other)) - evidence((one,)) - evidence((other,))


def _gain_of_rewards(transitions: SparseTransitions, one: int, other: int, action: int) -> float:
    """Rewards that differ speak against one state; that they are equal says nothing.

    Where most rewards of a world are the same, two states that are not one have the same too: the
    textbook's gain of a normal-gamma pair, which rewards equality without end, is cut at 0.
    """
    tries, total, square = (
        [float(values[one, action]), float(values[other, action])]
        for values in (transitions.visits, transitions.reward_sum, transitions.reward_square)
    )
    if min(tries) <= NO_COUNT:
        return 0.0
    first, second = total[0] / tries[0], total[1] / tries[1]
    if math.isclose(first, second, abs_tol=LEAST_REWARD):
        return 0.0
    prior = _reward_prior(transitions)
    apart = sum(log_evidence(prior, *row) for row in zip(tries, total, square, strict=True))
    return min(0.0, log_evidence(prior, sum(tries), sum(total), sum(square)) - apart)


def _reward_prior(transitions: SparseTransitions) -> NormalGamma:
    """What is expected of the rewards of a row, from the range of those of all rows."""
    tried = transitions.visits > NO_COUNT
    rewards = transitions.reward_sum[tried] / transitions.visits[tried]
    low, high = float(np.min(rewards)), float(np.max(rewards))
    noise = REWARD_NOISE * (high - low)
    strength = (REWARD_NOISE / REWARD_SPREAD) ** 2
    return NormalGamma(0.5 * (low + high), strength, 0.5, 0.5 * noise * noise)
