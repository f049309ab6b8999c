"""Variational inference in the mixture: alternate responsibilities and parameters."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy

from tgm.distributions import BoolArray, Features, FloatArray, Moments, normal_wishart
from tgm.errors import DataError
from tgm.perception.free_energy import collapsed_free_energy
from tgm.perception.mixture import Mixture
from tgm.perception.points import as_mask, as_points, as_responsibilities

# Squared distance between data and means, in units of a component's covariance. phi @ theta cancels
# terms of this size: up to the limit the error in ln rho is below 1e-9, above it differences x - m
# are taken first.
EXPANSION_LIMIT = 1e6


@dataclass(frozen=True, eq=False)
class Fit:
    """The result of a fit, and its course.

    prior, folded, posterior: before the data, after the forgotten points, after all points.
    responsibilities (N, K): of all points. free_energies (n_iterations + 1,): never rising.
    """

    prior: Mixture
    folded: Mixture
    posterior: Mixture
    responsibilities: FloatArray
    free_energies: FloatArray
    converged: bool

    @property
    def n_iterations(self) -> int:
        """How many times the responsibilities were recomputed after the first time."""
        return len(self.free_energies) - 1

    @property
    def free_energy(self) -> float:
        """F at the end."""
        return float(self.free_energies[-1])

    @property
    def active(self) -> BoolArray:
        """Which components (K,) are responsible for something.

        The responsibilities must sum to more than half a point. If there are fewer points than
        components, half of an equal share is enough, so that some component is always active.
        """
        n_samples, n_components = self.responsibilities.shape
        threshold = min(0.5, 0.5 * n_samples / n_components)
        return np.asarray(self.responsibilities.sum(axis=0) > threshold)


def log_responsibilities(mixture: Mixture, points: npt.ArrayLike) -> FloatArray:
    """ln r_nk = ln rho_nk - ln of the sum over k of rho_nk: points (N, O) to (N, K)."""
    features = Features.of_points(as_points(points, mixture.n_features))
    return _assign(mixture, features)[0]


def responsibilities(mixture: Mixture, points: npt.ArrayLike) -> FloatArray:
    """r_nk, the probability that point n belongs to component k: points (N, O) to (N, K)."""
    return assess(mixture, points)[0]


def assess(mixture: Mixture, points: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Responsibilities (N, K) of points (N, O), and (N,) ln of the sum over k of rho_nk.

    The second is a log density of each point, with the expected logarithms of the parameters in
    place of the parameters.
    """
    features = Features.of_points(as_points(points, mixture.n_features))
    _, resp, log_density = _assign(mixture, features)
    return resp, log_density


def fit(
    prior: Mixture,
    points: npt.ArrayLike,
    *,
    forget: npt.ArrayLike | None = None,
    initial_responsibilities: npt.ArrayLike | None = None,
    tolerance: float = 1e-8,
    max_iterations: int = 500,
) -> Fit:
    """Iterate responsibilities and parameters until the free energy stops falling.

    points (N, O); forget (N,), the points to fold into the prior; initial_responsibilities
    (N, K), by default those under the prior. `tolerance` is in nats per point: it does not depend
    on the units of the points.
    """
    array = as_points(points, prior.n_features)
    # Far from the origin means would lose digits: sweep in coordinates centred on the data.
    centre = array.mean(axis=0)
    data, local = _Data.of(array - centre, forget), prior.shifted(-centre)
    if initial_responsibilities is None:
        sweep = _sweep(local, data, local)
    else:
        resp = as_responsibilities(initial_responsibilities, len(array), prior.n_components)
        sweep = _absorb(local, data, resp, xlogy(resp, resp).sum(axis=0))
    energies, converged = [sweep.free_energy], False
    while not converged and len(energies) <= max_iterations:
        sweep = _sweep(local, data, sweep.posterior)
        converged = energies[-1] - sweep.free_energy <= tolerance * len(array)
        energies.append(sweep.free_energy)
    folded = prior.update(sweep.forgotten.shifted(centre))
    posterior = folded.update(sweep.kept.shifted(centre))
    return Fit(prior, folded, posterior, sweep.resp, np.array(energies), converged)


@dataclass(frozen=True, eq=False)
class _Data:
    """The features of all points, of the forgotten ones and of the kept ones."""

    features: Features
    forget: BoolArray
    forgotten: Features
    kept: Features

    @classmethod
    def of(cls, points: FloatArray, forget: npt.ArrayLike | None) -> "_Data":
        features = Features.of_points(points)
        if forget is None:
            nothing = np.zeros(len(points), dtype=np.bool_)
            return cls(features, nothing, features.take(nothing), features)
        mask = as_mask(forget, len(points))
        return cls(features, mask, features.take(mask), features.take(~mask))

    def moments(self, resp: FloatArray) -> tuple[Moments, Moments]:
        """The moments of the forgotten and of the kept points."""
        if not self.forget.any():
            none = Moments.of_nothing(self.features.points.shape[1], (resp.shape[1],))
            return none, Moments.of_features(self.kept, resp)
        return (
            Moments.of_features(self.forgotten, resp[self.forget]),
            Moments.of_features(self.kept, resp[~self.forget]),
        )


@dataclass(frozen=True, eq=False)
class _Sweep:
    """Responsibilities, and the moments, posterior and free energy that follow from them."""

    resp: FloatArray
    forgotten: Moments
    kept: Moments
    posterior: Mixture
    free_energy: float


def _sweep(prior: Mixture, data: _Data, belief: Mixture) -> _Sweep:
    """Responsibilities under `belief`, then the prior's update by the data they weigh."""
    log_resp, resp, _ = _assign(belief, data.features)
    # Use the log responsibilities: r ln r from r alone fails where r underflows to 0.
    return _absorb(prior, data, resp, np.einsum("nk,nk->k", resp, log_resp))


def _absorb(prior: Mixture, data: _Data, resp: FloatArray, log_q: FloatArray) -> _Sweep:
    forgotten, kept = data.moments(resp)
    together = forgotten + kept
    energy = collapsed_free_energy(prior, together, log_q)
    if not np.isfinite(energy):
        spread = np.ptp(data.features.points, axis=0)
        raise DataError(
            f"the free energy is {energy}: points that span {spread.tolist()} are too far from "
            f"the prior's scale for double precision; rescale them or set the prior from them"
        )
    return _Sweep(resp, forgotten, kept, prior.update(together), energy)


def _assign(mixture: Mixture, features: Features) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log responsibilities and responsibilities, both (N, K) and stored component by component.

    The third is (N,) ln of the sum over k of rho_nk.
    """
    if _expansion_is_safe(mixture, features):
        log_joint = mixture.natural_parameters(features.centre).T @ features.values.T
    else:
        log_joint = mixture.log_joint(features.points + features.centre).T.copy()
    highest = log_joint.max(axis=0)
    log_joint -= highest
    resp = np.exp(log_joint)
    total = resp.sum(axis=0)
    resp /= total
    log_total = np.log(total)
    log_joint -= log_total
    return log_joint.T, resp.T, log_total + highest


def _expansion_is_safe(mixture: Mixture, features: Features) -> bool:
    reach = np.abs(features.points).max(axis=0)
    span = np.maximum(reach, np.abs(mixture.components.mean - features.centre))
    precision = np.abs(normal_wishart.expected_precision(mixture.components))
    farthest = np.einsum("ki,kij,kj->k", span, precision, span)
    return bool(np.all(farthest < EXPANSION_LIMIT))
