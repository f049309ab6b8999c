"""Rows of observations in which values may be missing: they are integrated out, not guessed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tgm.distributions import BoolArray, Features, FloatArray, IntArray, Moments, NormalWishart
from tgm.distributions.cholesky import factorise
from tgm.distributions.gaussian import squared_distances
from tgm.distributions.normal_wishart import expected_log_density_at_mean

LOG_2PI = float(np.log(2 * np.pi))
LEAST_VALUE_VARIANCE = 1e-6  # of a value, where features have unit variance; none is known better


def blurred(moments: Moments, blur: float) -> Moments:
    """The moments of points that lie around their values with variance `blur`."""
    own = blur * moments.weight[..., None, None] * np.eye(moments.n_features)
    return Moments(moments.weight, moments.mean, moments.scatter + own)


@dataclass(frozen=True, eq=False)
class Pattern:
    """The rows in which the same features were observed.

    Attributes:
        rows: (n,) their indices.
        seen: (n_features,) which features were observed.
        features: of the observed values (n, n_seen); None if none was observed.
    """

    rows: IntArray
    seen: BoolArray
    features: Features | None


class ObservedRows:
    """Observations, sorted by which of their values are missing.

    Attributes:
        points: (n_rows, n_features), NaN where a value is missing.
        blur: variance of what was observed around its value, the same of all features.
        patterns: rows with the same missing values together.
    """

    def __init__(self, points: FloatArray, blur: float = 0.0) -> None:
        """Sort rows (n_rows, n_features)."""
        self.points, self.blur = points, blur
        missing = np.isnan(points)
        kinds, kind_of = np.zeros((1, points.shape[1]), bool), np.zeros(len(points), np.intp)
        if missing.any():
            kinds, kind_of = np.unique(missing, axis=0, return_inverse=True)
        self.patterns = []
        for index, kind in enumerate(kinds):
            rows = np.flatnonzero(kind_of.reshape(-1) == index)
            seen = points[np.ix_(rows, ~kind)]
            features = Features.of_points(seen) if seen.shape[1] else None
            self.patterns.append(Pattern(rows, ~kind, features))

    def expected_log_densities(self, states: NormalWishart) -> FloatArray:
        """(n_rows, n_states) E[ln p(x | state)], with ln of the integral over missing values.

        The integral of exp E[ln N(x; mu, Lambda^-1)] over the missing part of x is a Gaussian in
        the observed part, whose covariance is that of the inverse of E[Lambda]. Blur counts as the
        mean over what may have been there: -blur tr(precision of the observed part) / 2.
        """
        covariance = states.inverse_scale / states.dof[:, None, None]
        at_mean = expected_log_density_at_mean(states)
        log_det = states.factor.log_det - states.n_features * np.log(states.dof)
        # The density of the Gaussian itself has -ln|covariance| / 2 in the place of this.
        excess = at_mean + 0.5 * (states.n_features * LOG_2PI + log_det)
        return np.asarray(self.log_densities(states.mean, covariance, self.blur) + excess)

    def log_densities(
        self, means: FloatArray, covariances: FloatArray, blur: float = 0.0
    ) -> FloatArray:
        """(n_rows, n_states) ln N(x; mean, covariance) of the observed values."""
        result = np.zeros((len(self.points), len(means)))
        for pattern in self.patterns:
            if pattern.features is None:
                continue
            seen = pattern.seen
            inner = covariances[:, seen][:, :, seen]
            factor = factorise(inner, "covariances")
            centred = means[:, seen] - pattern.features.centre
            squares = squared_distances(pattern.features.points, centred, factor.whitening)
            squares += factor.log_det + seen.sum() * LOG_2PI
            if blur:
                squares += blur * np.square(factor.whitening).sum(axis=(1, 2))
            result[pattern.rows] = -0.5 * squares
        return result

    def moments(self, resp: FloatArray, means: FloatArray, covariances: FloatArray) -> Moments:
        """The expected moments of each state's points, the missing values included.

        Args:
            resp: (n_rows, n_states) responsibilities.
            means: (n_states, n_features) of the Gaussians that say what the missing values are.
            covariances: (n_states, n_features, n_features) of them.
        """
        total = Moments.of_nothing(means.shape[1], (len(means),))
        for pattern in self.patterns:
            seen, weights = pattern.seen, resp[pattern.rows]
            if pattern.features is not None:
                part = Moments.of_features(pattern.features, weights)
                part = blurred(part, self.blur)
                if not seen.all():
                    part = _completed(part, seen, means, covariances)
            else:
                weight = weights.sum(axis=0)
                part = Moments(weight, means, weight[:, None, None] * covariances)
            total = total + part
        return total

    def filled(self, resp: FloatArray, means: FloatArray, covariances: FloatArray) -> FloatArray:
        """(n_rows, n_features) with expected values in place of missing ones."""
        points = self.points.copy()
        for pattern in self.patterns:
            seen = pattern.seen
            if seen.all():
                continue
            rows, hidden = pattern.rows, ~seen
            weights = resp[rows]
            guess = weights @ means[:, hidden]
            if pattern.features is not None:
                slope = _slopes(seen, covariances)
                offset = points[np.ix_(rows, seen)][:, None, :] - means[:, seen]
                guess = guess + np.einsum("nk,kij,nkj->ni", weights, slope, offset)
            points[np.ix_(rows, hidden)] = guess
        return points


def _slopes(seen: BoolArray, covariances: FloatArray) -> FloatArray:
    """(n_states, n_hidden, n_seen) how the hidden features follow the seen ones."""
    inner, cross = covariances[:, seen][:, :, seen], covariances[:, ~seen][:, :, seen]
    return np.swapaxes(np.linalg.solve(inner, np.swapaxes(cross, 1, 2)), 1, 2)


def _completed(
    part: Moments, seen: BoolArray, means: FloatArray, covariances: FloatArray
) -> Moments:
    """Moments of the seen features, completed with those that are expected of the hidden ones."""
    slope, hidden = _slopes(seen, covariances), ~seen
    n_states, n_features = means.shape
    lift = np.zeros((n_states, n_features, int(seen.sum())))
    lift[:, seen] = np.eye(int(seen.sum()))
    lift[:, hidden] = slope
    mean = means + np.einsum("kij,kj->ki", lift, part.mean - means[:, seen])
    scatter = lift @ part.scatter @ np.swapaxes(lift, 1, 2)
    left = covariances[:, hidden][:, :, hidden] - slope @ covariances[:, seen][:, :, hidden]
    block = np.ix_(np.arange(n_states), np.flatnonzero(hidden), np.flatnonzero(hidden))
    scatter[block] += part.weight[:, None, None] * left
    return Moments(part.weight, mean, scatter)
