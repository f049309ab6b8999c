"""What a learner knows at one moment, as plain numbers: for records and viewers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from tgm.distributions import FloatArray, IntArray

Table = list[float] | FloatArray
"""Entries of the same kind, one after the other in one flat row of numbers: a list if they are
few, or an array. Flat, because thousands of small tuples would keep the garbage collector busy."""

MOST_RECORDED = 64  # features of an observation that is recorded as it is


def is_recorded(n_features: int) -> bool:
    """Whether observations of so many features are recorded as they are.

    Of a wider one the id of its state is recorded in its place, as one number without variance.
    """
    return n_features <= MOST_RECORDED


def recorded_features(n_features: int) -> int:
    """Numbers that are recorded of an observation of so many features."""
    return n_features if is_recorded(n_features) else 1


class Changes(NamedTuple):
    """Components and rows that are new or have changed, and the ids of those that are gone.

    Attributes:
        components: id, weight in points, whether it is fixed, mean, covariance row by row.
        rows: state id, action, tries, mean reward, probability of an end, number of next states.
        next_states: id and count, row after row.
        removed: ids.
    """

    components: Table
    rows: Table
    next_states: Table
    removed: list[int]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Everything.

    Attributes:
        known: all components and rows.
        q: (n_states, n_actions) greedy action values, in the order of the components.
        prior_mean: (n_states, n_features) what was believed of each component before its kept data.
        prior_covariance: (n_states, n_features, n_features)
        log_evidence: (n_states,) nats that each component adds to the evidence.
        prior_dof: points that the prior covariance of a component is worth: with `weight` points
            of scatter S about their mean its covariance is (prior + S) / (prior_dof + weight).
        kept_points: (n_kept, n_features) observations in memory.
        kept_states: (n_kept,) the id of the component that each belongs to; -1 for none.
        free_energy_terms: parts of the free energy by name, where they are known.
    """

    known: Changes
    q: FloatArray
    prior_mean: FloatArray
    prior_covariance: FloatArray
    log_evidence: FloatArray
    prior_dof: float
    kept_points: FloatArray
    kept_states: IntArray
    free_energy_terms: dict[str, float] = field(default_factory=dict)

    def seen_as(
        self,
        known: Changes,
        points: Callable[[FloatArray], FloatArray],
        covariances: Callable[[FloatArray], FloatArray],
        n_features: int,
    ) -> Snapshot:
        """The same in other coordinates of `n_features`, given by functions of what is here."""
        if not is_recorded(n_features):
            return replace(self, known=known).narrow()
        return replace(
            self,
            known=known,
            prior_mean=points(self.prior_mean),
            prior_covariance=covariances(self.prior_covariance),
            kept_points=points(self.kept_points),
        )

    def narrow(self) -> Snapshot:
        """The same where ids are recorded in place of observations; `known` is so already."""
        width = 5  # id, weight, whether it is fixed, id, 0
        ids = np.asarray(self.known.components).reshape(-1, width)[:, :1]
        return replace(
            self,
            prior_mean=ids,
            prior_covariance=np.zeros((len(ids), 1, 1)),
            kept_points=self.kept_states[:, None].astype(np.float64),
        )

    @classmethod
    def empty(cls, n_features: int, n_actions: int, kept_points: FloatArray) -> Snapshot:
        """Points in memory, but no component yet."""
        if not is_recorded(n_features):
            n_features, kept_points = 1, np.full((len(kept_points), 1), -1.0)
        return cls(
            Changes([], [], [], []),
            np.empty((0, n_actions)),
            np.empty((0, n_features)),
            np.empty((0, n_features, n_features)),
            np.empty(0),
            0.0,
            kept_points,
            np.full(len(kept_points), -1, dtype=np.intp),
        )
