"""Perception and transitions learned jointly: the model of the paper's figure 5 (a).

P = P(D) P(B) P(mu, Lambda) times, for each of M pairs of consecutive observations,
Cat(z0; D) Cat(z1; B[a, z0]) N(x0; z0) N(x1; z1). The paper drops it because the transitions spoil
the clusters (figure 6), and does not print its updates; these follow from its mean-field recipe,
ln Q(y) = E[ln P] over all other factors, with Q = Q(Z0) Q(Z1) Q(D) Q(B) Q(mu, Lambda):

    ln r0_nk = E[ln D_k] + sum_j r1_nj E[ln B[a_n]_kj] + E[ln N(x0_n; k)] + const
    ln r1_nj = sum_k r0_nk E[ln B[a_n]_kj] + E[ln N(x1_n; j)] + const

and, as everywhere, prior + expected statistics = posterior. As drawn there, a pair stands alone: an
observation in the middle of a trial is x1 of one pair and x0 of the next, with a state in each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax, xlogy

from tgm.distributions import BoolArray, FloatArray, IntArray, Moments, dirichlet, normal_wishart
from tgm.errors import DataError
from tgm.perception.mixture import Mixture
from tgm.perception.variational import responsibilities
from tgm.transition import transition_counts

LEAST_POINTS = 0.5  # a component that explains less in total is gone


@dataclass(frozen=True, eq=False)
class Pairs:
    """Consecutive observations.

    before, after (M, O): the observations around each step. actions (M,): what was done between.
    """

    before: FloatArray
    actions: IntArray
    after: FloatArray

    def __post_init__(self) -> None:
        shapes = self.before.shape, self.actions.shape, self.after.shape
        if self.before.ndim != 2 or shapes[0] != shapes[2] or shapes[1] != shapes[0][:1]:
            raise DataError(f"before, actions, after have shapes {shapes}; wanted (M, O), (M,)")
        if len(self.actions) and self.actions.min() < 0:
            raise DataError(f"actions hold {self.actions.min()}; they count from 0")


@dataclass(frozen=True, eq=False)
class JointPrior:
    """What is believed before the pairs: the mixture, and b (A, K, K) of the transitions."""

    mixture: Mixture
    transition_concentration: FloatArray

    @classmethod
    def of(cls, mixture: Mixture, n_actions: int, concentration: float) -> JointPrior:
        """The same pseudo-count for every transition; the paper's is one."""
        shape = (n_actions, mixture.n_components, mixture.n_components)
        return cls(mixture, np.full(shape, concentration))


@dataclass(frozen=True, eq=False)
class JointFit:
    """The outcome of a fit.

    posterior: mixture and transitions after the pairs. before, after (M, K): the responsibilities
    r0 and r1. free_energies (n_iterations + 1,): never rising.
    """

    posterior: JointPrior
    before: FloatArray
    after: FloatArray
    free_energies: FloatArray
    converged: bool

    @property
    def active(self) -> BoolArray:
        """Which components (K,) are responsible for something, on either side of a step."""
        return np.asarray((self.before + self.after).sum(axis=0) > LEAST_POINTS)


def fit_jointly(
    prior: JointPrior, pairs: Pairs, *, tolerance: float = 1e-8, max_iterations: int = 500
) -> JointFit:
    """Iterate responsibilities and parameters until the free energy stops falling.

    Starts from the responsibilities under the prior mixture, which has seen no transition.
    `tolerance` is in nats per pair.
    """
    before = responsibilities(prior.mixture, pairs.before)
    after = responsibilities(prior.mixture, pairs.after)
    posterior, energy = absorb(prior, pairs, before, after)
    energies, converged = [energy], False
    while not converged and len(energies) <= max_iterations:
        before = update_before(posterior, pairs, after)
        after = update_after(posterior, pairs, before)
        posterior, energy = absorb(prior, pairs, before, after)
        converged = energies[-1] - energy <= tolerance * len(pairs.actions)
        energies.append(energy)
    return JointFit(posterior, before, after, np.array(energies), converged)


def update_before(belief: JointPrior, pairs: Pairs, after: FloatArray) -> FloatArray:
    """r0 (M, K), given r1 (M, K)."""
    log_transition = dirichlet.expected_log(belief.transition_concentration)
    message = _through(log_transition.transpose(0, 2, 1), pairs.actions, after)
    log_joint = belief.mixture.log_joint(pairs.before) + message
    return np.asarray(np.exp(log_softmax(log_joint, axis=1)))


def update_after(belief: JointPrior, pairs: Pairs, before: FloatArray) -> FloatArray:
    """r1 (M, K), given r0 (M, K)."""
    log_transition = dirichlet.expected_log(belief.transition_concentration)
    message = _through(log_transition, pairs.actions, before)
    density = normal_wishart.expected_log_density(belief.mixture.components, pairs.after)
    return np.asarray(np.exp(log_softmax(density + message, axis=1)))


def absorb(
    prior: JointPrior, pairs: Pairs, before: FloatArray, after: FloatArray
) -> tuple[JointPrior, float]:
    """The prior after the pairs, and the free energy with it.

    D learns from r0, B from r0 r1, the components from both. With this posterior most terms of the
    free energy cancel: F = sum of r0 ln r0 + sum of r1 ln r1 - ln evidence of the weights, of the
    rows of B, and of the components, each given the expected statistics.
    """
    statistics = Moments.of_points(
        np.concatenate([pairs.before, pairs.after]), np.concatenate([before, after])
    )
    weights, rows = prior.mixture.weight_concentration, prior.transition_concentration
    new_weights = weights + before.sum(axis=0)
    new_rows = rows + transition_counts(before, pairs.actions, after, len(rows))
    components = normal_wishart.update(prior.mixture.components, statistics)
    evidence = (
        normal_wishart.log_evidence(prior.mixture.components, statistics).sum()
        + (dirichlet.log_normaliser(new_weights) - dirichlet.log_normaliser(weights))
        + (dirichlet.log_normaliser(new_rows) - dirichlet.log_normaliser(rows)).sum()
    )
    entropy = xlogy(before, before).sum() + xlogy(after, after).sum()
    return JointPrior(Mixture(new_weights, components), new_rows), float(entropy - evidence)


def _through(matrices: FloatArray, actions: IntArray, resp: FloatArray) -> FloatArray:
    """Each row of resp (M, K) times the matrix of its action, (A, K, K)."""
    message = np.empty_like(resp)
    for action in np.unique(actions):
        chosen = actions == action
        message[chosen] = resp[chosen] @ matrices[action]
    return message
