"""What leaves the agent while it learns: frozen records for callbacks, logs and viewers."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields
from typing import Any

from tgm.errors import DataError
from tgm.files.schema import LARGEST_NUMBER
from tgm.perception.component_map import Move


@dataclass(frozen=True)
class EpisodeInfo:
    """One finished episode: its number, the step at which it ended, its return and its end."""

    episode: int
    step: int
    total_reward: float
    length: int
    terminated: bool

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "episode": self.episode,
            "step": self.step,
            "total_reward": self.total_reward,
            "length": self.length,
            "terminated": self.terminated,
        }

    def to_json(self) -> str:
        """The same as JSON, in a third of the time: a run has thousands of episodes."""
        total = float(self.total_reward)
        reward = repr(total) if math.isfinite(total) else json.dumps(total)
        return (
            f'{{"episode": {self.episode}, "step": {self.step}, "total_reward": {reward}, '
            f'"length": {self.length}, "terminated": {"true" if self.terminated else "false"}}}'
        )

    @classmethod
    def from_dict(cls, values: Any) -> EpisodeInfo:
        """What `to_dict` gave, checked; it may come from somebody else's file."""
        kinds = ((int,), (int,), (int, float), (int,), (bool,))
        names = [field.name for field in fields(cls)]
        if not isinstance(values, dict) or set(values) != set(names):
            raise DataError(f"an episode has {', '.join(names)}; this one is {values!r:.100}")
        for name, kind in zip(names, kinds, strict=True):
            if type(values[name]) not in kind or not abs(values[name]) <= LARGEST_NUMBER:
                raise DataError(f"the {name} of an episode is {values[name]!r:.100}")
        return cls(**values)


@dataclass(frozen=True)
class LearningInfo:
    """One learning step.

    Attributes:
        step: environment steps so far.
        episode: episodes begun so far.
        n_states: active components.
        n_fixed: how many of them are fixed.
        n_kept: points in memory after forgetting.
        n_forgotten: points that were let go of since the last learning step; what they taught
            stays, in the priors (mean shift) or in the counts.
        free_energy: of the fit, in nats; with learning at every step, the negative log evidence of
            all observations so far, each judged before it was seen.
        free_energy_terms: with mean shift, the nine expectations of Appendix B by name.
        free_energy_path: with mean shift, the free energy after each sweep of the fit.
        moves: what changed in the structure, and why.
        episodes: the episodes that ended since the last record.
        advice: signs that learning does not work, each with what to do (`agent.diagnosis`).
    """

    step: int
    episode: int
    n_states: int
    n_fixed: int
    n_kept: int
    n_forgotten: int
    free_energy: float
    free_energy_terms: dict[str, float]
    free_energy_path: tuple[float, ...]
    moves: tuple[Move, ...]
    episodes: tuple[EpisodeInfo, ...]
    advice: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "step": self.step,
            "episode": self.episode,
            "n_states": self.n_states,
            "n_fixed": self.n_fixed,
            "n_kept": self.n_kept,
            "n_forgotten": self.n_forgotten,
            "free_energy": self.free_energy,
            "free_energy_terms": dict(self.free_energy_terms),
            "free_energy_path": list(self.free_energy_path),
            "moves": [move.to_dict() for move in self.moves],
            "episodes": [episode.to_dict() for episode in self.episodes],
            "advice": list(self.advice),
        }
