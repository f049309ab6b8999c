"""Expected information gain of a try, and transition rows sampled from their posterior."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma

from tgm.distributions import FloatArray
from tgm.transition.sparse import SparseTransitions


def expected_information_gain(
    model: SparseTransitions, n_slots: int, row_prior: float
) -> FloatArray:
    """(n_slots, n_actions) expected information gain of one more try of each action, in nats.

    The outcomes of a row are its known successors, with their counts, and "any other state" with
    `row_prior`. The gain is the expected KL divergence of the Dirichlet after the try from the
    Dirichlet before: sum over j of p_j [ ln (a0 / a_j) + psi(a_j + 1) - psi(a0 + 1) ].

    Args:
        model: the transition counts.
        n_slots: number of states, counted in slots.
        row_prior: concentration of "any other state", in tries.
    """
    counts = model.probability[:n_slots] * model.visits[:n_slots, :, None]
    other = np.full((*counts.shape[:2], 1), row_prior)
    concentration = np.concatenate([counts, other], axis=2)
    total = concentration.sum(axis=2, keepdims=True)
    share = concentration / total
    safe = np.where(concentration > 0, concentration, 1.0)
    gain = np.log(total / safe) + digamma(safe + 1) - digamma(total + 1)
    return np.asarray(np.sum(share * gain, axis=2))


def sampled_rows(
    model: SparseTransitions, n_slots: int, row_prior: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """One sample of every row from its Dirichlet.

    Args:
        model: the transition counts.
        n_slots: number of states, counted in slots.
        row_prior: concentration of "any other state", in tries.
        rng: source of randomness.

    Returns:
        (n_slots, n_actions, width) probabilities of the successors, and (n_slots, n_actions) the
        probability of any other state.
    """
    counts = model.probability[:n_slots] * model.visits[:n_slots, :, None]
    draws = rng.standard_gamma(np.maximum(counts, 0.0))  # zero where there are no counts
    other = rng.standard_gamma(np.full(counts.shape[:2], row_prior))
    total = draws.sum(axis=2) + other
    return np.asarray(draws / total[..., None]), np.asarray(other / total)
