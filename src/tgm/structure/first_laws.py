"""Laws of displacement for many candidate scales at once: those of the first steps.

All arrays have the dimensions first: there are few, and NumPy is slow where the last axis is short.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from tgm.distributions import BoolArray, FloatArray
from tgm.perception.common_covariance import LOG_2PI
from tgm.perception.feature_kinds import EPISODE_START
from tgm.structure.first_states import over_dims
from tgm.transition.displacements import (
    BROAD_DOF,
    FLOOR,
    LOG_BROAD_SHARE,
    LOG_OWN_SHARE,
    PRIOR_WEIGHT,
)

NEGLIGIBLE = 700.0  # nats; what is so far below is lost in a sum, and exp of less takes long


class _OwnLaws(NamedTuple):
    """The normal law of one action, for each candidate.

    Attributes:
        mean: (n_dims, n_candidates, 1)
        half_precision: (n_dims, n_candidates, 1) half of that of each feature, below zero: the
            variances are learned one by one, so that the number of features does not count here.
        log_peak: (n_candidates, 1) ln of the share of the law, and of its density at the mean.
        is_known: (n_candidates, 1) whether the action has moved anything; None if it always has.
    """

    mean: FloatArray
    half_precision: FloatArray
    log_peak: FloatArray
    is_known: BoolArray | None


class FirstLaws:
    """What each action does to the observation, for each candidate: as in `Displacements`.

    A displacement that changes the state is normal, with mean and variance of those of the action
    so far, or, with a small share, as far as a typical step leads: a Student t.
    """

    def __init__(self, reach: FloatArray, n_actions: int) -> None:
        """Nothing has moved; reach (n_dims, n_candidates) in deviations."""
        n_dims, n_candidates = reach.shape
        self._broad_precision = 1.0 / (BROAD_DOF * np.square(reach[..., None]))
        self._prior_scatter = PRIOR_WEIGHT * reach**2
        self._weight = np.zeros((n_actions, n_candidates))
        self._mean = np.zeros((n_actions, n_dims, n_candidates))
        self._scatter = np.zeros((n_actions, n_dims, n_candidates))
        self._own: dict[int, _OwnLaws | None] = {}  # of the actions that have moved anything
        self._broad_exponent = -0.5 * (BROAD_DOF + n_dims)
        broad_peak = -np.log(reach).sum(axis=0) + float(
            gammaln((BROAD_DOF + n_dims) / 2)
            - gammaln(BROAD_DOF / 2)
            - 0.5 * n_dims * math.log(BROAD_DOF * math.pi)
        )
        self._broad_peak = broad_peak[:, None]

    def log_densities(self, displacements: FloatArray, action: int) -> FloatArray:
        """(n_candidates, n) ln densities of displacements (n_dims, n_candidates, n)."""
        broad = np.square(displacements)
        broad *= self._broad_precision
        log_broad = over_dims(broad)
        np.log1p(log_broad, out=log_broad)
        log_broad *= self._broad_exponent
        log_broad += self._broad_peak
        if action == EPISODE_START or action not in self._own:
            return np.asarray(log_broad)
        own = self._own[action]
        if own is None:
            own = self._own[action] = self._refreshed(action)
        off = displacements - own.mean
        np.square(off, out=off)
        off *= own.half_precision
        log_own = over_dims(off)
        log_own += own.log_peak
        log_rest = log_broad + LOG_BROAD_SHARE
        np.maximum(log_own, log_rest - NEGLIGIBLE, out=log_own)
        np.logaddexp(log_own, log_rest, out=log_own)
        if own.is_known is None:
            return np.asarray(log_own)
        return np.asarray(np.where(own.is_known, log_own, log_broad))

    def _refreshed(self, action: int) -> _OwnLaws:
        """The law of an action, from what was learned of it."""
        weight = self._weight[action]
        total = PRIOR_WEIGHT + weight
        variance = (self._prior_scatter + self._scatter[action]) / total
        variance *= 1.0 + 1.0 / total
        variance += FLOOR
        log_volume = len(variance) * LOG_2PI + np.log(variance).sum(axis=0)
        is_known = weight > 0
        return _OwnLaws(
            self._mean[action, ..., None],
            -0.5 / variance[..., None],
            LOG_OWN_SHARE - 0.5 * log_volume[:, None],
            None if is_known.all() else is_known[:, None],
        )

    def add(self, displacement: FloatArray, action: int, has_moved: BoolArray) -> None:
        """Learn from the candidates for which a step (n_dims, n_candidates) changed the state."""
        if not has_moved.any():
            return
        before = self._weight[action]
        after = before + has_moved
        share = has_moved / np.maximum(after, 1.0)
        mean = self._mean[action]  # a view
        off = displacement - mean
        mean += share * off
        share *= before
        np.square(off, out=off)
        off *= share
        self._scatter[action] += off
        self._weight[action], self._own[action] = after, None


def exp_below(logs: FloatArray, top: FloatArray) -> FloatArray:
    """exp of logs (n, m) less their highest (n, 1), in place of the logs."""
    logs -= top
    np.maximum(logs, -NEGLIGIBLE, out=logs)
    return np.exp(logs, out=logs)
