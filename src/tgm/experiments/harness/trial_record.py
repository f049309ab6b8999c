"""Run directories of trials, so that `tgm runs` and the inspector show them side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from tgm.agent import TGMAgent
from tgm.agent.recording import Ending
from tgm.envs import EnvSpec
from tgm.experiments.baselines.deep import DeepAgent
from tgm.experiments.baselines.recording import EpisodeRecorder
from tgm.experiments.harness.agent import Agent, InPieces
from tgm.runs import Run, RunFolder, RunRecorder
from tgm.runs.folder import begin_in_free, write_result


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
        self._n_written = 0

    def look(self, step: int) -> None:
        """A line of metrics with the episodes that ended since the last."""
        news = self._episodes.episodes[self._n_written :]
        self._n_written += len(news)
        self._folder.append({"step": step, "episode": self._episodes.n_begun}, news)

    def close(self, ending: Ending, result: Mapping[str, Any], reason: str = "") -> None:
        """Write how it ended."""
        self._folder.finish(ending, result, reason)


class LastingRecorder(RunRecorder):
    """A recorder that outlives the calls of `TGMAgent.learn` that it is given to."""

    def close(self, ending: Ending, reason: str = "") -> None:
        """Nothing: the end of a piece is not the end of the run."""

    def end(self, ending: Ending, reason: str = "") -> None:
        """The end of the run."""
        super().close(ending, reason)


class AgentRecord:
    """The run directory of a TGMAgent that learns in pieces."""

    def __init__(self, recorder: LastingRecorder) -> None:
        """Close `recorder` when the trial is over."""
        self._recorder = recorder

    def look(self, step: int) -> None:
        """Nothing: the recorder sees every step."""

    def close(self, ending: Ending, result: Mapping[str, Any], reason: str = "") -> None:
        """End the recording, and add the result of the trial to its own."""
        self._recorder.end(ending, reason)
        path = self._recorder.path
        write_result(path, {**Run.open(path).status().result, **result})


def begin_record(
    folder: Path,
    name: str,
    *,
    agent: str,
    learner: Agent,
    episodes: EpisodeRecorder,
    world: EnvSpec,
    seed: int,
    steps: int,
) -> TrialRecord:
    """Begin a run directory under `folder`; an interrupted one of that name stays as it is."""
    if isinstance(learner, InPieces) and isinstance(learner.agent, TGMAgent):
        begin = partial(LastingRecorder.begin, learner.agent, n_steps=steps, world=world)
        recorder = begin_in_free(folder / name, begin)
        learner.learn_piece = partial(learner.agent.learn, run_dir=recorder)
        return AgentRecord(recorder)
    create = partial(
        RunFolder.create,
        agent=agent,
        world=world,
        seed=seed,
        steps=steps,
        config=asdict(learner.config) if isinstance(learner, DeepAgent) else {},
    )
    return EpisodesRecord(begin_in_free(folder / name, create), episodes)
