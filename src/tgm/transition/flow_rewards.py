"""Rewards of a world that flows, as functions of where a step arrives.

A reward is constant, linear, quadratic, or has two levels, one of them in a region between
thresholds, apart for steps that end; the evidence decides.
"""

from __future__ import annotations

import numpy as np

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.distributions.linear_gaussian import (
    RegressionPrior,
    RegressionSums,
    log_evidence,
    posterior,
)
from tgm.distributions.logistic import quadratic
from tgm.transition.flow_ends import Thresholds, region
from tgm.transition.flow_units import Steps

LEAST_REWARD_NOISE = 1e-4  # deviation of rewards, in deviations of all of them
SAME_LEVEL = 1e-3  # of the difference of two levels of reward, by which rewards of one may differ
LOOSE_REWARD = 1e4  # prior variance of the weights of a reward, in variances of its noise


class RewardLaw:
    """Expected rewards, of steps that go on and of steps that end.

    Attributes:
        forms: for both, 0 constant, 1 linear, 2 quadratic in the arrival, 3 of two levels.
        regions: for both, where there is one of the levels of form 3.
        weights: for both, (n_inputs,) of the form.
        noise: deviation of rewards of steps that go on from what is expected.
    """

    def __init__(
        self,
        n_actions: int,
        forms: tuple[int, ...] = (0, 0),
        weights: tuple[FloatArray, ...] = (np.zeros(1), np.zeros(1)),
        regions: tuple[Thresholds | None, ...] = (None, None),
    ) -> None:
        """By default there are no rewards."""
        self.n_actions, self.forms, self.weights = n_actions, forms, weights
        self.regions = regions
        self.noise = 0.0

    @classmethod
    def of(
        cls,
        z: FloatArray,
        actions: IntArray,
        arrival: FloatArray,
        reward: FloatArray,
        ended: BoolArray,
        n_actions: int,
        directions: FloatArray | None = None,
    ) -> RewardLaw:
        """Learn from steps: points (n, n_features), the others (n,).

        There may be thresholds in the directions (n_directions, n_features); by default none.
        """
        law = cls(n_actions)
        found = [
            law._learn(z[chosen], actions[chosen], arrival[chosen], reward[chosen], directions)
            for chosen in (~ended, ended)
        ]
        law.forms, law.weights = tuple(one[0] for one in found), tuple(one[1] for one in found)
        law.regions = tuple(one[2] for one in found)
        off = (reward - law.expected(z, actions, arrival, np.zeros(len(z))))[~ended]
        law.noise = float(off.std()) if len(off) else 0.0
        return law

    @classmethod
    def log_evidence(cls, steps: Steps, n_actions: int) -> float:
        """ln evidence of the rewards of steps that are all of one kind, in their own unit."""
        z, arrival = steps.departure, steps.arrival
        axes = np.eye(z.shape[1])
        return cls(n_actions)._learn(z, steps.action, arrival, steps.reward, axes)[3]

    def _learn(
        self,
        z: FloatArray,
        actions: IntArray,
        arrival: FloatArray,
        reward: FloatArray,
        directions: FloatArray | None = None,
    ) -> tuple[int, FloatArray, Thresholds | None, float]:
        """The number of the best form, its weights, its region and its evidence."""
        if len(reward) == 0 or np.ptp(reward) == 0.0:
            return 0, np.full(1, reward[0] if len(reward) else 0.0), None, 0.0
        where = None if directions is None else _levels(actions, arrival, reward, directions)
        best, highest, unit = (0, np.full(1, reward.mean()), where), -np.inf, reward.std()
        for form in range(3 if where is None else 4):
            inputs = self._inputs(form, z, actions, arrival, where)
            prior = RegressionPrior(
                np.full(inputs.shape[1], 1.0 / LOOSE_REWARD), np.full(1, LEAST_REWARD_NOISE**2), 2.0
            )
            sums = RegressionSums.of(inputs, reward[:, None] / unit)
            evidence = log_evidence(prior, sums)
            if form == 3 and where is not None:  # less the cost of choosing the thresholds
                evidence -= where.n_finite * float(np.log(2.0 * len(where.low) * len(z)))
            if evidence > highest:
                weights = posterior(prior, sums).weights[:, 0] * unit
                best, highest = (form, weights, where if form == 3 else None), evidence
        return *best, highest

    def _inputs(
        self,
        form: int,
        z: FloatArray,
        actions: IntArray,
        arrival: FloatArray,
        where: Thresholds | None,
    ) -> FloatArray:
        """(n, n_inputs) of a form: 0 constant, 1 linear, 2 quadratic, 3 outside of a region."""
        if form == 0:
            return np.ones((len(z), 1))
        own = np.equal.outer(actions, np.arange(self.n_actions)).astype(float)
        if form == 3 and where is not None:
            return np.column_stack([np.ones(len(z)), where.probability(arrival), own])
        at = np.concatenate([np.ones((len(z), 1)), arrival], 1) if form == 1 else quadratic(arrival)
        return np.concatenate([at, z, own], axis=1)

    def expected(
        self, z: FloatArray, actions: IntArray, arrival: FloatArray, p_end: FloatArray
    ) -> FloatArray:
        """(n,) expected reward of steps that end with probability `p_end`."""
        goes_on, ends = (
            weights[0] if form == 0 else self._inputs(form, z, actions, arrival, where) @ weights
            for form, weights, where in zip(self.forms, self.weights, self.regions, strict=True)
        )
        return np.asarray((1.0 - p_end) * goes_on + p_end * ends)


def _levels(
    actions: IntArray, arrival: FloatArray, reward: FloatArray, directions: FloatArray
) -> Thresholds | None:
    """The region in which rewards have one of two levels, but for what each action costs."""
    lowest = np.full(int(actions.max()) + 1, np.inf)
    np.minimum.at(lowest, actions, reward)
    above = reward - lowest[actions]
    is_high = above > 0.5 * above.max()
    if above.max() == 0.0 or np.abs(above - above.max() * is_high).max() > SAME_LEVEL * above.max():
        return None
    high, low = arrival[is_high], arrival[~is_high]
    found = region(high, low, directions)
    return region(low, high, directions) if found is None else found


def has_found(steps: Steps) -> bool:
    """Whether it matters where the agent is: by rewards beside those of actions, or by ends.

    An end is the same as to go on without a reward.
    """
    best = -np.inf
    for action in np.unique(steps.action):
        own = steps.reward[steps.action == action]
        if np.ptp(own) > 0.0:
            return True
        best = max(best, float(own[0]))
    return bool(steps.ended.any()) and best != 0.0
