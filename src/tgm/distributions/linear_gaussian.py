"""Linear regression with unknown weights and noise: the matrix-normal-inverse-Wishart family.

targets | inputs ~ N(weights^T inputs, noise), weights ~ MN(0, diag(precision)^-1, noise),
noise ~ inverse Wishart(scale, dof).
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.linalg.lapack import dpotrf, dtrtrs
from scipy.special import gammaln

from tgm.distributions.arrays import FloatArray

LEAST_FREEDOM = 0.5  # degrees above 2: before any data a Student t may have no variance


@dataclass(frozen=True, eq=False)
class RegressionSums:
    """What regression needs of its data; sums are added, and taken back.

    Attributes:
        weight: number of points.
        inputs: (n_inputs, n_inputs) sum of x x^T.
        products: (n_inputs, n_targets) sum of x y^T.
        targets: (n_targets, n_targets) sum of y y^T.
    """

    weight: float
    inputs: FloatArray
    products: FloatArray
    targets: FloatArray

    @classmethod
    def of(cls, inputs: FloatArray, targets: FloatArray) -> RegressionSums:
        """The sums of points: (n, n_inputs) and (n, n_targets)."""
        return cls(len(inputs), inputs.T @ inputs, inputs.T @ targets, targets.T @ targets)

    def __add__(self, other: RegressionSums) -> RegressionSums:
        return RegressionSums(
            self.weight + other.weight,
            self.inputs + other.inputs,
            self.products + other.products,
            self.targets + other.targets,
        )

    def __sub__(self, other: RegressionSums) -> RegressionSums:
        return RegressionSums(
            self.weight - other.weight,
            self.inputs - other.inputs,
            self.products - other.products,
            self.targets - other.targets,
        )


@dataclass(frozen=True, eq=False)
class RegressionPrior:
    """What is believed of the weights and the noise before any data.

    Attributes:
        precision: (n_inputs,) of each weight, in units of the noise.
        scale: (n_targets,) diagonal of the inverse Wishart's scale.
        dof: its degrees of freedom, above n_targets - 1.
    """

    precision: FloatArray
    scale: FloatArray
    dof: float


@dataclass(frozen=True, eq=False)
class LinearGaussian:
    """A posterior.

    Attributes:
        weights: (n_inputs, n_targets) expected weights.
        root: (n_inputs, n_inputs) lower Cholesky factor of the weights' precision.
        scale: (n_targets, n_targets) of the inverse Wishart.
        dof: its degrees of freedom.
    """

    weights: FloatArray
    root: FloatArray
    scale: FloatArray
    dof: float

    @property
    def noise(self) -> FloatArray:
        """(n_targets, n_targets) scale of the predictive Student t, without doubt of weights."""
        return self.scale / (self.dof - len(self.scale) + 1.0)

    def doubt(self, inputs: FloatArray) -> FloatArray:
        """(n,) x^T precision^-1 x: by it the predictive variance exceeds that of the noise."""
        half = solve_triangular(self.root, inputs.T, lower=True)
        return np.asarray(np.einsum("in,in->n", half, half))

    def predictive_covariance(self, inputs: FloatArray) -> FloatArray:
        """(n, n_targets, n_targets) of targets that are not known yet: noise, and doubt.

        That of a Student t of v = dof - n_targets + 1 degrees of freedom and scale
        noise (1 + doubt); it has one if v is above 2, which any point makes it.
        """
        v = self.dof - len(self.scale) + 1.0
        wider = (1.0 + self.doubt(inputs)) * v / max(v - 2.0, LEAST_FREEDOM)
        return np.asarray(wider[:, None, None] * self.noise)


def posterior(prior: RegressionPrior, sums: RegressionSums) -> LinearGaussian:
    """What is known after the data.

    precision_n = precision + X^T X, weights = precision_n^-1 X^T Y,
    scale_n = scale + Y^T Y - weights^T precision_n weights, dof_n = dof + n.
    """
    root = cholesky(sums.inputs + np.diag(prior.precision), lower=True)
    weights = cho_solve((root, True), sums.products)
    scale = np.diag(prior.scale) + sums.targets - weights.T @ sums.products
    scale = _positive(0.5 * (scale + scale.T), prior.scale)
    return LinearGaussian(weights, root, scale, prior.dof + sums.weight)


def log_evidence(prior: RegressionPrior, sums: RegressionSums) -> float:
    """ln of the marginal likelihood of the data."""
    after, n_targets = posterior(prior, sums), len(prior.scale)
    log_det = float(np.log(prior.precision).sum()) - 2.0 * float(np.log(np.diag(after.root)).sum())
    return (
        -0.5 * sums.weight * n_targets * math.log(math.pi)
        + 0.5 * n_targets * log_det
        + _log_wishart(after.scale, after.dof)
        - _log_wishart(np.diag(prior.scale), prior.dof)
    )


def log_evidence_of_points(
    gram: FloatArray, targets: FloatArray, scale: FloatArray, dof: float
) -> float:
    """The same for few points of many inputs, from `gram` = X diag(precision)^-1 X^T (n, n).

    |precision_n| / |precision| = |1 + gram|, and scale_n = scale + Y^T (1 + gram)^-1 Y.
    """
    n, n_targets = targets.shape
    whole = gram.copy()
    whole.flat[:: n + 1] += 1.0
    # LAPACK itself: shapes are compared by hundreds of these, and what is around it takes longer.
    root, problem = dpotrf(whole.T, lower=True, overwrite_a=True, clean=False)
    if problem:
        raise np.linalg.LinAlgError("the points' covariance is not positive")
    half = dtrtrs(root, targets, lower=True)[0]
    after = _positive(np.diag(scale) + half.T @ half, scale)
    return float(
        -0.5 * n * n_targets * math.log(math.pi)
        - n_targets * float(np.log(np.diag(root)).sum())
        + _log_wishart(after, dof + n)
        - _log_wishart_of_prior(tuple(scale.tolist()), dof)
    )


@functools.lru_cache(maxsize=64)
def _log_wishart_of_prior(scale: tuple[float, ...], dof: float) -> float:
    """That of a diagonal scale, kept: hundreds of shapes have the same prior."""
    return _log_wishart(np.diag(scale), dof)


def _log_wishart(scale: FloatArray, dof: float) -> float:
    """ln of Gamma_d(dof / 2) / |scale|^(dof / 2)."""
    log_det, n = float(np.linalg.slogdet(scale)[1]), len(scale)
    log_gamma = float(gammaln(0.5 * (dof - np.arange(n))).sum())
    return log_gamma + 0.25 * n * (n - 1) * math.log(math.pi) - 0.5 * dof * log_det


def _positive(scale: FloatArray, least: FloatArray) -> FloatArray:
    """Rounding may take more from a scale than there was: it never falls below the prior's."""
    values, vectors = np.linalg.eigh(scale / np.sqrt(np.outer(least, least)))
    if values[0] >= 1.0:
        return scale
    mended = (vectors * np.maximum(values, 1.0)) @ vectors.T
    return np.asarray(mended * np.sqrt(np.outer(least, least)))
