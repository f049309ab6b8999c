"""What a model file says of an agent besides its arrays, checked when it is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from tgm.agent.info import EpisodeInfo
from tgm.agent.spaces import Interface
from tgm.config import TGMConfig
from tgm.errors import RunError
from tgm.perception.component_map import Move


@dataclass(frozen=True)
class AgentMetadata:
    """Settings, counts and random generators of an agent, and what it has not reported yet.

    Attributes:
        config, seed, interface: what it was made with.
        n_steps, n_episodes: steps taken and episodes begun.
        exploration_rng, predict_rng: states of its random generators, as NumPy gives them.
        pending_moves, n_evicted, pending_episodes: for the report of the next learning step.
        notes: what `save` was given.
    """

    config: TGMConfig
    seed: int
    interface: Interface
    n_steps: int
    n_episodes: int
    exploration_rng: Any
    predict_rng: Any
    pending_moves: list[Move]
    n_evicted: int
    pending_episodes: list[EpisodeInfo]
    notes: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return vars(self) | {
            "config": self.config.to_dict(),
            "interface": self.interface.to_dict(),
            "pending_moves": [move.to_dict() for move in self.pending_moves],
            "pending_episodes": [episode.to_dict() for episode in self.pending_episodes],
        }

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> Self:
        """What `to_dict` gave; a KeyError or TGMError names what does not fit."""
        interface = Interface.from_dict(saved["interface"])
        config = TGMConfig.from_dict(saved["config"])
        if saved["n_steps"] < 0 or saved["n_episodes"] < 0:
            raise RunError("its counts of steps and episodes are below 0")
        return cls(
            config,
            saved["seed"],
            interface,
            int(saved["n_steps"]),
            int(saved["n_episodes"]),
            saved["exploration_rng"],
            saved["predict_rng"],
            [Move.from_dict(move) for move in saved["pending_moves"]],
            int(saved["n_evicted"]),
            [EpisodeInfo.from_dict(episode) for episode in saved["pending_episodes"]],
            saved.get("notes") or {},
        )
