"""Run directories of trials, so that `tgm runs` and the inspector show them side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from tgm.agent import LearningInfo, TGMAgent
from tgm.agent.recording import Ending
from tgm.distributions import FloatArray
from tgm.experiments.baselines import Student
from tgm.experiments.baselines.deep import DeepAgent
from tgm.experiments.baselines.recording import EpisodeRecorder
from tgm.experiments.baselines.student import InPieces
from tgm.runs import Run, RunFolder, RunRecorder, World
from tgm.runs.folder import write_result


class TrialRecord(Protocol):
    """Writes the run directory of one trial."""

    def look(self, step: int) -> None:
        """The agent has come to `step`."""

    def close(self, ending: Ending, result: Mapping[str, Any], reason: str = "") -> None:
        """The trial is over; `result` goes into result.json."""


class NoRecord:
    """For a trial that leaves no run directory."""

    def look(self, step: int) -> None:
        """Nothing."""

    def close(self, ending: Ending, result: Mapping[str, Any], reason: str = "") -> None:
        """Nothing."""


class EpisodesRecord:
    """The run directory of an agent of which only its episodes are known."""

    def __init__(self, folder: RunFolder, episodes: EpisodeRecorder) -> None:
        """Write to `folder` what `episodes` has seen."""
        self._folder = folder
        self._episodes = episodes
        self._n_told = 0

    def look(self, step: int) -> None:
        """A line of metrics with the episodes that ended since the last."""
        news = self._episodes.episodes[self._n_told :]
        self._n_told += len(news)
        self._folder.append(
            {
                "step": step,
                "episode": self._episodes.n_begun,
                "episodes": [asdict(episode) for episode in news],
            }
        )

    def close(self, ending: Ending, result: Mapping[str, Any], reason: str = "") -> None:
        """Write how it ended."""
        self._folder.finish(ending, result, reason)


class AgentRecord:
    """The run directory of a TGMAgent that learns in pieces: its recorder stays open over them."""

    def __init__(self, recorder: RunRecorder) -> None:
        """Hand everything on to `recorder`."""
        self._recorder = recorder

    def look(self, step: int) -> None:
        """Nothing: the recorder sees every step."""

    def close(self, ending: Ending, result: Mapping[str, Any], reason: str = "") -> None:
        """Close the recorder, and add the result of the trial to its own."""
        self._recorder.close(ending, reason)
        path = self._recorder.path
        write_result(path, {**Run.open(path).status().result, **result})


class KeptOpen:
    """A recorder for `TGMAgent.learn` that outlives the call."""

    def __init__(self, recorder: RunRecorder) -> None:
        """Hand on to `recorder` all but the end of a call."""
        self._recorder = recorder

    def observed(
        self, point: FloatArray, action: int, reward: float, end: int, agent: TGMAgent
    ) -> None:
        """Handed on."""
        self._recorder.observed(point, action, reward, end, agent)

    def learned(self, info: LearningInfo, agent: TGMAgent) -> None:
        """Handed on."""
        self._recorder.learned(info, agent)

    def episode_ended(self, agent: TGMAgent) -> bool:
        """Handed on."""
        return self._recorder.episode_ended(agent)

    def close(self, ending: Ending, reason: str = "") -> None:
        """The end of a piece is not the end of the run; AgentRecord tells that."""


def begin_record(
    folder: Path,
    name: str,
    *,
    agent: str,
    student: Student,
    episodes: EpisodeRecorder,
    world: World,
    seed: int,
    steps: int,
) -> TrialRecord:
    """Begin a run directory under `folder`; an interrupted one of that name stays as it is."""
    path = _free(folder / name)
    if isinstance(student, InPieces) and isinstance(student.agent, TGMAgent):
        recorder = RunRecorder.begin(student.agent, path, steps, world)
        student.learn_piece = partial(student.agent.learn, run_dir=KeptOpen(recorder))
        return AgentRecord(recorder)
    run = RunFolder.create(
        path,
        agent=agent,
        world=world,
        seed=seed,
        steps=steps,
        config=asdict(student.config) if isinstance(student, DeepAgent) else {},
    )
    return EpisodesRecord(run, episodes)


def _free(path: Path) -> Path:
    free, number = path, 1
    while free.exists():
        number += 1
        free = path.with_name(f"{path.name}-{number}")
    return free
