"""The Normal-Wishart family: beliefs about the mean and precision of K Gaussian components.

Lambda_k ~ Wishart(W_k, v_k) and mu_k | Lambda_k ~ N(m_k, (beta_k Lambda_k)^-1).
Erratum 1: wherever the print has K for a dimension, this module has O, the number of features.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy.special import digamma, gammaln, multigammaln

from tgm.distributions.arrays import BoolArray, FloatArray, IntArray
from tgm.distributions.cholesky import Factor, factorise
from tgm.distributions.gaussian import squared_distances
from tgm.distributions.moments import Moments
from tgm.errors import DataError


@dataclass(frozen=True, eq=False)
class NormalWishart:
    """K Normal-Wishart distributions.

    mean (K, O): m. mean_precision (K,): beta, above 0. dof (K,): v, above O - 1.
    inverse_scale (K, O, O): W^-1, positive definite; the scatter of data is added to it.
    """

    mean: FloatArray
    mean_precision: FloatArray
    dof: FloatArray
    inverse_scale: FloatArray

    def __post_init__(self) -> None:
        n_components, n_features = self.mean.shape
        for name, shape in (
            ("mean_precision", (n_components,)),
            ("dof", (n_components,)),
            ("inverse_scale", (n_components, n_features, n_features)),
        ):
            seen = getattr(self, name).shape
            if seen != shape:
                raise DataError(f"{name} has shape {seen}; mean {self.mean.shape} wants {shape}")
        _check_above(self.mean_precision, 0, "mean_precision")
        _check_above(self.dof, n_features - 1, "dof")

    @property
    def n_components(self) -> int:
        """K."""
        return len(self.mean)

    @property
    def n_features(self) -> int:
        """O."""
        return int(self.mean.shape[1])

    @cached_property
    def factor(self) -> Factor:
        """The Cholesky factor of inverse_scale, computed once."""
        return factorise(self.inverse_scale, "inverse_scale")

    @cached_property
    def scale(self) -> FloatArray:
        """W, of shape (K, O, O), computed once."""
        return self.factor.inverse

    def shifted(self, offset: FloatArray) -> Self:
        """The same components with `offset` (O,) added to every mean."""
        return replace(self, mean=self.mean + offset)

    def take(self, indices: IntArray | BoolArray) -> Self:
        """Some of the components, in the order given."""
        return type(self)(
            mean=self.mean[indices],
            mean_precision=self.mean_precision[indices],
            dof=self.dof[indices],
            inverse_scale=self.inverse_scale[indices],
        )


def _check_above(values: FloatArray, bound: float, name: str) -> None:
    for index in np.flatnonzero(~(np.isfinite(values) & (values > bound))):
        raise DataError(f"{name}[{index}] is {values[index]}; it must be finite and above {bound}")


def concatenate(parts: Sequence[NormalWishart]) -> NormalWishart:
    """All components of all parts, in order."""
    return NormalWishart(
        mean=np.concatenate([part.mean for part in parts]),
        mean_precision=np.concatenate([part.mean_precision for part in parts]),
        dof=np.concatenate([part.dof for part in parts]),
        inverse_scale=np.concatenate([part.inverse_scale for part in parts]),
    )


def update(prior: NormalWishart, moments: Moments) -> NormalWishart:
    """The conjugate update of the prior by the data in `moments`, one set of points per component.

    beta' = beta + N, v' = v + N, m' = (beta m + N xbar) / beta',
    W'^-1 = W^-1 + N S + beta N / beta' (xbar - m)(xbar - m)^T.
    """
    weight = moments.weight
    mean_precision = prior.mean_precision + weight
    share = weight / mean_precision
    gap = moments.mean - prior.mean
    between = (prior.mean_precision * share)[:, None, None] * gap[:, :, None] * gap[:, None, :]
    return NormalWishart(
        mean=prior.mean + share[:, None] * gap,
        mean_precision=mean_precision,
        dof=prior.dof + weight,
        inverse_scale=prior.inverse_scale + moments.scatter + between,
    )


def expected_precision(components: NormalWishart) -> FloatArray:
    """E[Lambda] = v W, of shape (K, O, O)."""
    return np.asarray(components.dof[:, None, None] * components.scale)


def expected_covariance(components: NormalWishart) -> FloatArray:
    """The inverse of E[Lambda], W^-1 / v, of shape (K, O, O)."""
    return np.asarray(components.inverse_scale / components.dof[:, None, None])


def expected_log_det(components: NormalWishart) -> FloatArray:
    """E[ln |Lambda|] = O ln 2 + ln |W| + sum over i = 1..O of psi((v + 1 - i) / 2), (K,)."""
    n_features = components.n_features
    # Erratum 2: i runs over 1..O; the authors' code starts at 0.
    i = np.arange(1, n_features + 1)
    psi = digamma((components.dof[:, None] + 1 - i) / 2).sum(axis=1)
    return np.asarray(n_features * np.log(2) - components.factor.log_det + psi)


def wishart_log_normaliser(components: NormalWishart) -> FloatArray:
    """ln of the integral of |Lambda|^((v - O - 1) / 2) exp(-tr(W^-1 Lambda) / 2), (K,)."""
    n_features, dof = components.n_features, components.dof
    log_gamma = multigammaln(dof / 2, n_features)
    return np.asarray(0.5 * dof * (n_features * np.log(2) - components.factor.log_det) + log_gamma)


def log_normaliser(components: NormalWishart) -> FloatArray:
    """ln Z of the joint density over (mu, Lambda), of shape (K,)."""
    mean_part = 0.5 * components.n_features * np.log(2 * np.pi / components.mean_precision)
    return np.asarray(mean_part + wishart_log_normaliser(components))


def kl(p: NormalWishart, q: NormalWishart) -> FloatArray:
    """KL(p_k || q_k), of shape (K,)."""
    n_features = p.n_features
    ratio = q.mean_precision / p.mean_precision
    distance = p.dof * p.factor.quadratic(p.mean - q.mean)
    mean_part = 0.5 * (n_features * (ratio - 1 - np.log(ratio)) + q.mean_precision * distance)
    wishart_part = (
        wishart_log_normaliser(q)
        - wishart_log_normaliser(p)
        + 0.5 * (p.dof - q.dof) * expected_log_det(p)
        + 0.5 * p.dof * (p.factor.trace_with(q.inverse_scale) - n_features)
    )
    return np.asarray(mean_part + wishart_part)


def log_evidence(prior: NormalWishart, moments: Moments) -> FloatArray:
    """ln of the marginal likelihood of each component's data under its prior, (K,)."""
    posterior = update(prior, moments)
    constant = -0.5 * prior.n_features * moments.weight * np.log(2 * np.pi)
    return np.asarray(constant + log_normaliser(posterior) - log_normaliser(prior))


def predictive_log_density(components: NormalWishart, points: FloatArray) -> FloatArray:
    """ln p(x_n | component k), a Student t with v + 1 - O degrees of freedom: (N, K)."""
    n_features, beta = components.n_features, components.mean_precision
    dof = components.dof + 1 - n_features
    # Shape matrix of the t: W^-1 (1 + beta) / (beta dof), that is W^-1 times `spread` over dof.
    spread = (1 + beta) / beta
    distances = squared_distances(points, components.mean, components.factor.whitening)
    constant = (
        gammaln(0.5 * (dof + n_features))
        - gammaln(0.5 * dof)
        - 0.5 * (n_features * np.log(np.pi * spread) + components.factor.log_det)
    )
    return np.asarray(constant - 0.5 * (dof + n_features) * np.log1p(distances / spread))


def expected_log_density(components: NormalWishart, points: FloatArray) -> FloatArray:
    """E[ln N(x_n; mu_k, Lambda_k^-1)], the Gaussian part of ln rho: (N, K)."""
    distances = squared_distances(points, components.mean, components.factor.whitening)
    return np.asarray(expected_log_density_at_mean(components) - 0.5 * components.dof * distances)


def expected_log_density_at_mean(components: NormalWishart) -> FloatArray:
    """E[ln N(x; mu_k, Lambda_k^-1)] at x = m_k, of shape (K,): the part that no x changes."""
    n_features = components.n_features
    # Erratum 1: O, not K, in both places.
    return np.asarray(
        0.5 * expected_log_det(components)
        - 0.5 * n_features * np.log(2 * np.pi)
        - 0.5 * n_features / components.mean_precision
    )
