"""Predictive densities: Student t of each component, with missing features left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import gammaln

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.distributions.cholesky import factorise
from tgm.distributions.gaussian import squared_distances

BLOCK = 1 << 17  # numbers in an array of points by components


class Predictive(Protocol):
    """The density of a new point of each component."""

    def log_density(self, points: FloatArray) -> FloatArray:
        """ln p(x_n | k) of the features that are not NaN: (N, O) to (N, K)."""

    def draw(self, labels: IntArray, rng: np.random.Generator) -> FloatArray:
        """A point of each of the components `labels` (N,): (N, O)."""


def patterns(points: FloatArray) -> Iterator[tuple[BoolArray, IntArray]]:
    """Which features (O,) are known, and the rows that have just these, for each such set."""
    known = ~np.isnan(points)
    if known.all():
        yield np.ones(points.shape[1], dtype=np.bool_), np.arange(len(points))
        return
    packed = np.packbits(known, axis=1)
    _, first, which = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    which = which.ravel()
    order = np.argsort(which, kind="stable")
    ends = np.cumsum(np.bincount(which))
    for index, end in enumerate(ends):
        start = ends[index - 1] if index else 0
        yield known[first[index]], order[start:end]


@dataclass(frozen=True, eq=False)
class Students:
    """A multivariate Student t for each component: dof (K,), mean (K, O), shape (K, O, O)."""

    dof: FloatArray
    mean: FloatArray
    shape: FloatArray

    def log_density(self, points: FloatArray) -> FloatArray:
        """ln p(x_n | k) of the features that are not NaN: (N, O) to (N, K)."""
        result = np.empty((len(points), len(self.dof)))
        for known, rows in patterns(points):
            n_known = int(known.sum())
            if not n_known:
                result[rows] = 0.0
                continue
            factor = factorise(self.shape[:, known][:, :, known], "shape")
            constant = (
                gammaln(0.5 * (self.dof + n_known))
                - gammaln(0.5 * self.dof)
                - 0.5 * (n_known * np.log(np.pi * self.dof) + factor.log_det)
            )
            distances = squared_distances(
                points[np.ix_(rows, known)], self.mean[:, known], factor.whitening
            )
            falling = np.log1p(distances / self.dof)
            result[rows] = constant - 0.5 * (self.dof + n_known) * falling
        return result

    def draw(self, labels: IntArray, rng: np.random.Generator) -> FloatArray:
        """A point of each of the components `labels` (N,): (N, O)."""
        lower = np.linalg.cholesky(self.shape)
        normal = rng.standard_normal((len(labels), self.mean.shape[1]))
        width = np.sqrt(self.dof[labels] / rng.chisquare(self.dof[labels]))
        offset = np.einsum("nij,nj->ni", lower[labels], normal)
        return np.asarray(self.mean[labels] + width[:, None] * offset)


@dataclass(frozen=True, eq=False)
class IndependentStudents:
    """A Student t for each component and feature: dof (K,), mean (K, O), variance (K, O)."""

    dof: FloatArray
    mean: FloatArray
    variance: FloatArray

    def log_density(self, points: FloatArray) -> FloatArray:
        """ln p(x_n | k) of the features that are not NaN: (N, O) to (N, K)."""
        result = np.empty((len(points), len(self.dof)))
        for k, dof in enumerate(self.dof):
            constant = gammaln(0.5 * (dof + 1)) - gammaln(0.5 * dof)
            square = (points - self.mean[k]) ** 2 / (dof * self.variance[k])
            each = constant - 0.5 * np.log(np.pi * dof * self.variance[k])
            each = each - 0.5 * (dof + 1) * np.log1p(square)
            result[:, k] = np.nansum(each, axis=1)
        return result

    def draw(self, labels: IntArray, rng: np.random.Generator) -> FloatArray:
        """A point of each of the components `labels` (N,): (N, O)."""
        deviates = rng.standard_t(self.dof[labels][:, None], size=self.mean[labels].shape)
        return np.asarray(self.mean[labels] + np.sqrt(self.variance[labels]) * deviates)
