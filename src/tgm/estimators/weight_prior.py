"""Priors of the weights of a mixture: a Dirichlet process, or a finite Dirichlet distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import betaln, digamma

from tgm.distributions import FloatArray, IntArray, dirichlet


class WeightPrior(Protocol):
    """What the mixture needs to know of its weights; `counts` (K,) are points per component."""

    @property
    def concentration(self) -> float:
        """Of the process, or of each component."""

    def log_evidence(self, counts: FloatArray) -> FloatArray:
        """ln of the evidence of assignments, given their expected counts: (..., K) to (...)."""

    def expected_log(self, counts: FloatArray) -> FloatArray:
        """E[ln D_k], of shape (K,)."""

    def mean(self, counts: FloatArray) -> FloatArray:
        """E[D_k], of shape (K,), scaled to a sum of 1."""


@dataclass(frozen=True)
class DirichletProcess:
    """Stick-breaking weights: v_k ~ Beta(1, concentration), the most populous component first.

    Components without points need not be represented: they change neither the evidence nor the
    expectations of the others, so that models with different numbers of components compare.
    """

    concentration: float = 1.0

    def log_evidence(self, counts: FloatArray) -> FloatArray:
        """Sum over k of ln B(1 + N_k, a + N of the components after k) - ln B(1, a)."""
        own, after, _ = self._sticks(counts)
        return np.asarray(np.sum(betaln(own, after) - betaln(1.0, self.concentration), axis=-1))

    def expected_log(self, counts: FloatArray) -> FloatArray:
        """E[ln v_k] + sum of E[ln (1 - v_j)] over the components j before k."""
        own, after, order = self._sticks(counts)
        total = digamma(own + after)
        rest = digamma(after) - total
        result = np.empty(len(counts))
        result[order] = digamma(own) - total + np.cumsum(rest) - rest
        return result

    def mean(self, counts: FloatArray) -> FloatArray:
        """E[v_k] times the product of E[1 - v_j] over the components j before k."""
        own, after, order = self._sticks(counts)
        share = own / (own + after)
        left = np.concatenate([[1.0], np.cumprod(1.0 - share)[:-1]])
        result = np.empty(len(counts))
        result[order] = share * left
        return np.asarray(result / result.sum())

    def _sticks(self, counts: FloatArray) -> tuple[FloatArray, FloatArray, IntArray]:
        """Both parameters of each stick's Beta posterior, in the order of the sticks."""
        order = np.argsort(-counts, axis=-1, kind="stable")
        sizes = np.take_along_axis(counts, order, axis=-1)
        after = np.cumsum(sizes[..., ::-1], axis=-1)[..., ::-1] - sizes
        return 1.0 + sizes, self.concentration + np.maximum(after, 0.0), order


@dataclass(frozen=True)
class FiniteDirichlet:
    """Symmetric Dirichlet weights over the components of the mixture."""

    concentration: float = 1.0

    def log_evidence(self, counts: FloatArray) -> FloatArray:
        """ln B(d + N) - ln B(d)."""
        before = np.full(counts.shape[-1], self.concentration)
        after = dirichlet.log_normaliser(before + counts)
        return np.asarray(after - dirichlet.log_normaliser(before))

    def expected_log(self, counts: FloatArray) -> FloatArray:
        """psi(d + N_k) - psi(sum)."""
        return dirichlet.expected_log(self.concentration + counts)

    def mean(self, counts: FloatArray) -> FloatArray:
        """(d + N_k) / sum."""
        return dirichlet.mean(self.concentration + counts)
