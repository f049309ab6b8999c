"""What a learner knows at one moment, as plain values: for records and viewers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tgm.distributions import FloatArray, IntArray

ComponentRecord = tuple[int, float, list[float], list[float], bool]
"""id, weight in points, mean, covariance (row by row), whether it is fixed."""

RowRecord = tuple[int, int, float, float, float, list[int], list[float]]
"""State id, action, tries, mean reward, probability of an end, ids of next states, their counts."""


@dataclass(frozen=True)
class Changes:
    """Components and rows that are new or have changed, and the ids of those that are gone."""

    components: list[ComponentRecord]
    removed: list[int]
    rows: list[RowRecord]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Everything.

    Attributes:
        components, rows: all of them.
        q: (n_states, n_actions) greedy action values, in the order of the components.
        prior_mean: (n_states, n_features) what was believed of each component before its kept data.
        prior_covariance: (n_states, n_features, n_features)
        log_evidence: (n_states,) nats that each component adds to the evidence.
        kept_points: (n_kept, n_features) observations in memory.
        kept_states: (n_kept,) the id of the component that each belongs to; -1 for none.
        free_energy_terms: parts of the free energy by name, where they are known.
    """

    components: list[ComponentRecord]
    rows: list[RowRecord]
    q: FloatArray
    prior_mean: FloatArray
    prior_covariance: FloatArray
    log_evidence: FloatArray
    kept_points: FloatArray
    kept_states: IntArray
    free_energy_terms: dict[str, float] = field(default_factory=dict)

    @classmethod
    def empty(cls, n_features: int, n_actions: int, kept_points: FloatArray) -> Snapshot:
        """Points in memory, but no component yet."""
        return cls(
            [],
            [],
            np.empty((0, n_actions)),
            np.empty((0, n_features)),
            np.empty((0, n_features, n_features)),
            np.empty(0),
            kept_points,
            np.full(len(kept_points), -1, dtype=np.intp),
        )
