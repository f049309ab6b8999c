"""Rewards of a world that flows, as functions of where a step arrives.

A reward is constant, linear or quadratic, apart for steps that end; the evidence decides.
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
from tgm.transition.flow_units import Steps

LEAST_REWARD_NOISE = 1e-4  # deviation of rewards, in deviations of all of them
LOOSE_REWARD = 1e4  # prior variance of the weights of a reward, in variances of its noise


class RewardLaw:
    """Expected rewards, of steps that go on and of steps that end.

    Attributes:
        forms: for both, 0 constant, 1 linear, 2 quadratic in the arrival.
        weights: for both, (n_inputs,) of the form.
        noise: deviation of rewards of steps that go on from what is expected.
    """

    def __init__(
        self,
        n_actions: int,
        forms: tuple[int, ...] = (0, 0),
        weights: tuple[FloatArray, ...] = (np.zeros(1), np.zeros(1)),
    ) -> None:
        """By default there are no rewards."""
        self.n_actions, self.forms, self.weights = n_actions, forms, weights
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
    ) -> RewardLaw:
        """Learn from steps: points (n, n_features), the others (n,)."""
        law = cls(n_actions)
        found = [
            law._learn(z[chosen], actions[chosen], arrival[chosen], reward[chosen])
            for chosen in (~ended, ended)
        ]
        law.forms, law.weights = tuple(one[0] for one in found), tuple(one[1] for one in found)
        off = (reward - law.expected(z, actions, arrival, np.zeros(len(z))))[~ended]
        law.noise = float(off.std()) if len(off) else 0.0
        return law

    @classmethod
    def log_evidence(cls, steps: Steps, n_actions: int) -> float:
        """ln evidence of the rewards of steps that are all of one kind, in their own unit."""
        return cls(n_actions)._learn(steps.departure, steps.action, steps.arrival, steps.reward)[2]

    def _learn(
        self, z: FloatArray, actions: IntArray, arrival: FloatArray, reward: FloatArray
    ) -> tuple[int, FloatArray, float]:
        """The number of the best form, its weights and its evidence."""
        if len(reward) == 0 or np.ptp(reward) == 0.0:
            return 0, np.full(1, reward[0] if len(reward) else 0.0), 0.0
        best, highest, unit = (0, np.full(1, reward.mean())), -np.inf, reward.std()
        for form in range(3):
            inputs = self._inputs(form, z, actions, arrival)
            prior = RegressionPrior(
                np.full(inputs.shape[1], 1.0 / LOOSE_REWARD), np.full(1, LEAST_REWARD_NOISE**2), 2.0
            )
            sums = RegressionSums.of(inputs, reward[:, None] / unit)
            evidence = log_evidence(prior, sums)
            if evidence > highest:
                best, highest = (form, posterior(prior, sums).weights[:, 0] * unit), evidence
        return *best, highest

    def _inputs(
        self, form: int, z: FloatArray, actions: IntArray, arrival: FloatArray
    ) -> FloatArray:
        """(n, n_inputs) of a form: 0 constant, 1 linear, 2 quadratic in the arrival."""
        if form == 0:
            return np.ones((len(z), 1))
        own = np.equal.outer(actions, np.arange(self.n_actions)).astype(float)
        at = np.concatenate([np.ones((len(z), 1)), arrival], 1) if form == 1 else quadratic(arrival)
        return np.concatenate([at, z, own], axis=1)

    def expected(
        self, z: FloatArray, actions: IntArray, arrival: FloatArray, p_end: FloatArray
    ) -> FloatArray:
        """(n,) expected reward of steps that end with probability `p_end`."""
        goes_on, ends = (
            weights[0] if form == 0 else self._inputs(form, z, actions, arrival) @ weights
            for form, weights in zip(self.forms, self.weights, strict=True)
        )
        return np.asarray((1.0 - p_end) * goes_on + p_end * ends)
