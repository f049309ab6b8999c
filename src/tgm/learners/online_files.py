"""What the default learner writes into files, and takes back."""

from __future__ import annotations

import math

import numpy as np

from tgm.distributions import BoolArray, FloatArray
from tgm.files.arrays import ArrayReader, Arrays, number, prefixed
from tgm.learners.online_knowledge import OnlineKnowledge
from tgm.learners.revising import Reviser
from tgm.perception.coordinates import Coordinates
from tgm.planning.exploration.strategy import ExplorationStrategy
from tgm.structure.search import StructureSearch


class OnlineFiles(OnlineKnowledge):
    """The part of `OnlineLearner` that is written into files."""

    first_covariance: FloatArray
    log_evidence: float
    n_steps: int
    exploration: ExplorationStrategy
    _search: StructureSearch
    _reviser: Reviser
    _changed_at: float
    _pool_at: float

    def to_arrays(self) -> Arrays:
        """Everything that matters between two episodes, as named arrays."""
        if self.coordinates is None:
            return {}
        return {
            **prefixed("coordinates", self.coordinates.to_arrays()),
            "first_covariance": self.first_covariance,
            "log_evidence": number(self.log_evidence),
            "n_steps": np.array([self.n_steps]),
            "changed_at": number(self._changed_at),
            "pool_at": number(self._pool_at),
            **prefixed("prior", self.world.states.scale_to_arrays()),
            **prefixed("world", self.world.to_arrays()),
            **prefixed("planner", self.planner.to_arrays()),
            **prefixed("exploration", self.exploration.to_arrays()),
            **prefixed("structure", self._search.to_arrays()),
            **prefixed("revising", self._reviser.to_arrays()),
        }

    def restore(self, saved: ArrayReader, relevant: BoolArray | None = None) -> None:
        """Take over, into a learner that knows nothing, what `to_arrays` gave.

        `relevant` (n_observed,) names the features of an observation that it learns from; all
        if it is not given.
        """
        if saved.is_empty:
            return
        states = self.world.states
        n_features = states.n_features
        relevant = np.ones(n_features, dtype=bool) if relevant is None else relevant
        coordinates = Coordinates.from_arrays(saved.part("coordinates"), relevant)
        states.restore_scale(saved.part("prior"))
        self.first_covariance = saved.positive_definite("first_covariance", n_features, n_features)
        self.world.restore(saved.part("world"))
        self.planner.restore(saved.part("planner"), states.n_slots)
        self.exploration.restore(saved.part("exploration"))
        self._search.restore(saved.part("structure"), states.n_slots)
        self._reviser.restore(saved.part("revising"))
        self.log_evidence = saved.number("log_evidence")
        self.n_steps = saved.count("n_steps")
        self._changed_at = saved.number("changed_at", infinite=-math.inf)
        self._pool_at = saved.number("pool_at", infinite=math.inf)
        self.coordinates = coordinates
