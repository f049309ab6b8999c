"""The interface of a recorder; `tgm.runs` has the one for run directories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from tgm.agent.info import EpisodeInfo
from tgm.distributions import FloatArray
from tgm.errors import ConfigError
from tgm.learners.learner import LearnInfo
from tgm.learners.step_info import StepInfo

if TYPE_CHECKING:
    from tgm.agent.agent import TGMAgent

Ending = Literal["finished", "interrupted", "failed"]

GOES_ON, TERMINATED, TRUNCATED = range(3)
NO_ACTION = -1  # at a reset


class Recorder(Protocol):
    """Gets what happens, in the order of time; it changes nothing in the agent.

    Attributes:
        look_at: the step from which `within_episode` is called; 0 to be called after every step.
        episodes: the agent adds those that ended, with the learning step that follows.
    """

    look_at: int
    episodes: list[EpisodeInfo]

    @property
    def due_at(self) -> int:
        """The step from which the next learning step is to be recorded; 0: every one."""

    def observed(
        self, point: FloatArray, action: int, reward: float, end: int, info: StepInfo
    ) -> None:
        """An observation (n_features,) was made and learned from.

        Args:
            point: the observation; the environment may use its array again.
            action: NO_ACTION at a reset.
            reward: of the step.
            end: GOES_ON, TERMINATED or TRUNCATED.
            info: what the step did to the agent.
        """

    def learned(self, learn_info: LearnInfo, agent: TGMAgent) -> None:
        """A learning step was done; `agent.info` makes its record.

        Before the step `due_at` it is called only for learning steps with moves.
        `agent.learn_info` is always the newest one.
        """

    def episode_ended(self, agent: TGMAgent) -> bool:
        """Between two episodes, with all that was due learned; False asks the agent to stop."""

    def within_episode(self, agent: TGMAgent) -> bool:
        """After a step that did not end the episode; False: break the episode off and stop."""

    def close(self, ending: Ending, reason: str = "") -> None:
        """Nothing more will come."""


OpenRecorder = Callable[["TGMAgent", Path, int], Recorder]

_opener: OpenRecorder | None = None


def set_opener(opener: OpenRecorder) -> None:
    """Say how `learn(run_dir=...)` opens its recorder; `tgm.runs` does when it is imported."""
    global _opener
    _opener = opener


def open_recorder(agent: TGMAgent, folder: Path, n_steps: int) -> Recorder:
    """A recorder of `agent` in `folder`, until it has taken `n_steps` steps in all."""
    if _opener is None:
        raise ConfigError("run_dir needs the package tgm.runs; import tgm, not a part of it")
    return _opener(agent, folder, n_steps)
