"""Laws of displacement for many candidate scales at once: those of the first steps."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

from tgm.distributions import BoolArray, FloatArray
from tgm.perception.common_covariance import LOG_2PI
from tgm.perception.feature_kinds import EPISODE_START
from tgm.transition.displacements import (
    BROAD_DOF,
    FLOOR,
    LOG_BROAD_SHARE,
    LOG_OWN_SHARE,
    PRIOR_WEIGHT,
)


class FirstLaws:
    """What each action does to the observation, for each candidate: as in `Displacements`.

    A displacement that changes the state is normal, with mean and variance of those of the action
    so far, or, with a small share, as far as a typical step leads: a Student t.
    """

    def __init__(self, reach: FloatArray, n_actions: int) -> None:
        """Nothing has moved; reach (n_candidates, n_dims) in deviations."""
        n_candidates, n_dims = reach.shape
        self._reach = reach
        self._prior_scatter = PRIOR_WEIGHT * reach**2
        self._weight = np.zeros((n_candidates, n_actions))
        self._mean = np.zeros((n_candidates, n_actions, n_dims))
        self._scatter = np.zeros((n_candidates, n_actions, n_dims))
        self._broad_peak = -np.log(reach).sum(axis=1) + float(
            gammaln((BROAD_DOF + n_dims) / 2)
            - gammaln(BROAD_DOF / 2)
            - 0.5 * n_dims * math.log(BROAD_DOF * math.pi)
        )

    def log_densities(self, displacements: FloatArray, action: int) -> FloatArray:
        """(n_candidates, n) ln densities of displacements (n_candidates, n, n_dims)."""
        n_dims = displacements.shape[2]
        broad = displacements / self._reach[:, None]
        log_broad = np.log1p(np.einsum("ckd,ckd->ck", broad, broad) / BROAD_DOF)
        log_broad *= 0.5 * (BROAD_DOF + n_dims)
        log_broad = np.asarray(self._broad_peak[:, None] - log_broad)
        if action == EPISODE_START:
            return log_broad
        weight = self._weight[:, action, None]
        is_known = weight > 0
        if not is_known.any():
            return log_broad
        # The variances are learned one by one: the number of features does not count here.
        total = PRIOR_WEIGHT + weight
        variance = (self._prior_scatter + self._scatter[:, action]) / total
        variance *= 1.0 + 1.0 / total
        variance += FLOOR
        off = displacements - self._mean[:, action, None]
        log_own = np.einsum("ckd,ckd,cd->ck", off, off, 1.0 / variance)
        log_own *= -0.5
        log_own -= 0.5 * (n_dims * LOG_2PI + np.log(variance).sum(axis=1))[:, None]
        log_own += LOG_OWN_SHARE
        own = np.logaddexp(log_own, log_broad + LOG_BROAD_SHARE, out=log_own)
        return own if is_known.all() else np.asarray(np.where(is_known, own, log_broad))

    def add(self, displacement: FloatArray, action: int, has_moved: BoolArray) -> None:
        """Learn from the candidates for which a step (n_candidates, n_dims) changed the state."""
        if not has_moved.any():
            return
        before = self._weight[:, action].copy()
        after = before + has_moved
        share = has_moved / np.maximum(after, 1.0)
        off = displacement - self._mean[:, action]
        self._mean[:, action] += share[:, None] * off
        self._scatter[:, action] += (share * before)[:, None] * off**2
        self._weight[:, action] = after
