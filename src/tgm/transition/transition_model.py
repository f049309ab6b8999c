"""Dirichlet transition counts, learned from beliefs that are held fixed (section 3)."""

from __future__ import annotations

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.errors import DataError
from tgm.perception.component_map import ComponentMap


def transition_counts(
    before: FloatArray, actions: IntArray, after: FloatArray, n_actions: int
) -> FloatArray:
    """Expected number of times that each action led from each state to each state.

    counts[a, k, j] = sum over n of [a = a_n] r0_nk r1_nj: k is the state before, j the one after
    (erratum 3). Uncertain beliefs add fractions: 0.5 x 0.5 = 0.25.

    Args:
        before, after: (n_transitions, n_states) beliefs before and after each transition.
        actions: (n_transitions,) the action of each transition.
        n_actions: number of actions.

    Returns:
        (n_actions, n_states, n_states)
    """
    n_states = before.shape[1]
    counts = np.zeros((n_actions, n_states, n_states))
    for action in np.unique(actions):
        chosen = actions == action
        counts[action] = before[chosen].T @ after[chosen]
    return counts


class TransitionModel:
    """Transition counts b in three parts: counts of forgotten data, of kept data, and the prior.

    The prior concentration b0 is added when b is read, so that it is never re-indexed.
    """

    def __init__(self, n_actions: int, prior_concentration: float | None = None) -> None:
        """Start without states.

        Args:
            n_actions: number of actions.
            prior_concentration: b0 of every entry; None means 1 / n_states, one pseudo-count a row.
                Erratum 9: the published b0 = 1 puts n_states pseudo-counts on every row, which
                flattens the learned probabilities.
        """
        self._prior_concentration = prior_concentration
        self._folded = np.zeros((n_actions, 0, 0))
        self._kept = np.zeros((n_actions, 0, 0))

    @property
    def n_actions(self) -> int:
        """Number of actions."""
        return len(self._folded)

    @property
    def n_states(self) -> int:
        """Number of states."""
        return self._folded.shape[1]

    @property
    def evidence(self) -> FloatArray:
        """(n_actions, n_states, n_states) expected counts of the data, without the prior."""
        return self._folded + self._kept

    @property
    def folded_evidence(self) -> FloatArray:
        """The part of the evidence that comes from forgotten data."""
        return self._folded.copy()

    @property
    def kept_evidence(self) -> FloatArray:
        """The part of the evidence that comes from kept data."""
        return self._kept.copy()

    @property
    def prior_concentration(self) -> float:
        """b0, the concentration that every entry has before any data."""
        if self._prior_concentration is not None:
            return self._prior_concentration
        return 1.0 / max(self.n_states, 1)

    @property
    def folded(self) -> FloatArray:
        """Concentration of the empirical prior: b0 plus the forgotten data."""
        return self.prior_concentration + self._folded

    @property
    def posterior(self) -> FloatArray:
        """Concentration after all data: the empirical prior plus the kept data."""
        return self.folded + self._kept

    def probabilities(self) -> FloatArray:
        """(n_actions, n_states, n_states) expected transition[action, state, next_state]."""
        posterior = self.posterior
        return np.asarray(posterior / posterior.sum(axis=-1, keepdims=True))

    def apply(self, change: ComponentMap) -> None:
        """Re-index the counts after a change of components."""
        self._folded = change.carry_pair_counts(self._folded)
        self._kept = change.carry_pair_counts(self._kept)

    def fold(self, counts: FloatArray) -> None:
        """Add the counts of transitions that will be forgotten to the folded counts."""
        self._folded = self._folded + counts

    def keep(self, counts: FloatArray) -> None:
        """Set the counts of the kept transitions, which are counted again at every fit."""
        self._kept = counts

    def restore(self, folded: FloatArray, kept: FloatArray) -> None:
        """Set counts read from a file; both (n_actions, n_states, n_states)."""
        for name, counts in (("folded", folded), ("kept", kept)):
            if (counts < 0).any():
                raise DataError(f"transition counts '{name}' hold {counts.min()}, below 0")
        self._folded, self._kept = folded, kept
