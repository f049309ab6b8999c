"""Records a TGMAgent while it learns: metrics, history, checkpoints, final model."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from pathlib import Path
from typing import Any, Self

from tgm.agent import EpisodeInfo, TGMAgent
from tgm.agent.recording import Ending
from tgm.envs import EnvSpec
from tgm.errors import RunError
from tgm.files.atomic import link_or_copy
from tgm.learners.learner import Learner, LearnInfo
from tgm.learners.snapshot import recorded_features
from tgm.runs.admission import check_is_new, packages_of
from tgm.runs.chunk import Chunk
from tgm.runs.folder import (
    CHECKPOINT_FOLDER,
    HISTORY_FOLDER,
    MODEL_FILE,
    RESULT_FILE,
    RunFolder,
    numbered,
)
from tgm.runs.history import HistoryWriter
from tgm.runs.model_record import ModelRecord
from tgm.runs.result import result_of
from tgm.runs.timing import CHECKPOINT_SECONDS, CheckpointClock, next_line
from tgm.runs.unrecorded import UnrecordedChanges

STOP_SECONDS = 1.0  # to wait for an episode end when asked to stop
KEPT_CHECKPOINTS = 2
LIVE_SECONDS = 2.0  # the newest chunk is written at least so often, for viewers of a live run
RECENT_EPISODES = 20  # whose mean return is part of the result


class RunRecorder:
    """Writes the run directory of one agent. Give it to `TGMAgent.learn` as `run_dir`."""

    def __init__(
        self, folder: RunFolder, agent: TGMAgent, checkpoint_seconds: float = CHECKPOINT_SECONDS
    ) -> None:
        """Record `agent` in a directory that was made for it.

        Args:
            folder: the open directory.
            agent: the one that will learn.
            checkpoint_seconds: least time between two checkpoints, see `timing`; 0 for one after
                each episode.
        """
        self.path = folder.path
        self._folder = folder
        self._agent = agent
        self._history = HistoryWriter(
            self.path / HISTORY_FOLDER,
            recorded_features(agent.interface.n_features),
            agent.interface.n_actions,
            agent.n_episodes,
        )
        self._model = ModelRecord(self._history, agent.interface.n_features)
        self.observed = self._model.observed  # without a call in between: it runs at every step
        self._clock = CheckpointClock(checkpoint_seconds, agent.n_steps)
        self.look_at = 0  # the step from which the clock is looked at within an episode
        self._began, self._began_at = time.monotonic(), agent.n_steps
        self._live_at = self._began + LIVE_SECONDS
        self._moves: list[dict[str, Any]] = []  # since the last line of metrics
        self._forgotten_before = agent.n_forgotten  # at the last line of metrics
        self.episodes: list[EpisodeInfo] = []  # since the last line of metrics
        self._broken_off: list[dict[str, Any]] = []  # episodes, since the last line of metrics
        self._recorded_at = 0
        self._due_at = 0  # the step at which the model or a line of metrics is to be kept
        self._terms: dict[str, float] = {}
        self._stops, self._stop_at = False, 0.0
        self._in_metrics: LearnInfo | None = None  # the one that is in the last line of metrics
        self._resumed: LearnInfo | None = None  # the one before all that the agent remembers
        self._returns: deque[float] = deque(maxlen=RECENT_EPISODES)

    @classmethod
    def begin(
        cls,
        agent: TGMAgent,
        path: Path,
        n_steps: int,
        world: EnvSpec | None = None,
        checkpoint_seconds: float = CHECKPOINT_SECONDS,
    ) -> Self:
        """Begin a run in a directory that does not exist yet.

        Args:
            agent: the one that will learn.
            path: where; refused if it exists.
            n_steps: how many steps are planned.
            world: its environment; found out if not given.
            checkpoint_seconds: least time between two checkpoints.
        """
        check_is_new(agent, path)
        if world is None:
            no_env = EnvSpec("", is_whole=False)  # somebody else acts, or the data is a log
            world = no_env if agent.env is None else EnvSpec.of(agent.env)
        folder = RunFolder.create(
            path,
            agent="tgm-paper" if agent.config.structure == "mean_shift" else "tgm",
            world=world,
            seed=agent.seed,
            steps=n_steps,
            config=agent.config.to_dict(),
            interface=agent.interface.to_dict(),
            packages={} if agent.env is None else packages_of(agent.env, world.module),
        )
        return cls(folder, agent, checkpoint_seconds)

    @property
    def due_at(self) -> int:
        """The step from which the next learning step is to be recorded."""
        return self._due_at if self._model.is_followed else 0

    @property
    def stops(self) -> bool:
        """Whether the agent was asked to stop."""
        return self._stops

    def request_stop(self, *, at_once: bool = False) -> None:
        """Let the agent stop with a checkpoint, at the end of the episode if it is near.

        After a second without an end, or `at_once`, the episode is broken off after the step that
        is under way. May be called by a signal handler.
        """
        self._stop_at = time.monotonic() + (0.0 if at_once else STOP_SECONDS)
        self._stops = True
        self.look_at = 0

    # --- what the agent tells -------------------------------------------------------------------

    def learned(self, learn_info: LearnInfo, agent: TGMAgent) -> None:
        """Keep what changed, and a line of metrics if there is news."""
        step = agent.n_steps
        if not self._model.is_followed or step >= self._history.full_at:
            self._keep_model(step, agent.learner)
        if learn_info.moves:
            self._moves += ({"step": step} | move.to_dict() for move in learn_info.moves)
        if step >= next_line(self._recorded_at) or learn_info.free_energy_path:
            self._record(learn_info)
        self._due_at = min(
            next_line(self._recorded_at), self._history.full_at, self._show_what_is_there(step)
        )

    def _keep_model(self, step: int, learner: Learner) -> None:
        if self._model.needs_snapshot(step):
            self._folder.check_place()
        snapshot = self._model.keep(step, learner, self._agent.n_episodes)
        if snapshot is not None:
            self._terms = snapshot.free_energy_terms

    def _record(self, learn_info: LearnInfo) -> None:
        self._history.gather()
        record = self._agent.info(learn_info, ()).to_dict()
        record["n_forgotten"], record["moves"] = self._n_forgotten, self._moves
        if self._terms:
            record["free_energy_terms"] = self._terms
        if self._broken_off:
            record["broken_off"] = self._broken_off
        del record["episodes"]  # they follow as they are
        episodes = self.episodes
        self._returns.extend([episode.total_reward for episode in episodes])
        self._moves, self._terms, self.episodes, self._broken_off = [], {}, [], []
        self._forgotten_before = self._agent.n_forgotten
        self._recorded_at, self._in_metrics = self._agent.n_steps, learn_info
        # Last, because it may write and fail: then the record is complete and not repeated.
        self._folder.append(record, episodes)

    def _show_what_is_there(self, step: int) -> int:
        """Write for viewers of a live run, if it is time; returns the step at which to look again.

        A quick agent comes to its next line long before; one in a slow world does not.
        """
        now = time.monotonic()
        if now >= self._live_at:
            self._folder.flush()
            self._write_history()
        speed = (step - self._began_at) / max(now - self._began, 1e-9)
        return step + 1 + int(speed * LIVE_SECONDS)

    @property
    def _n_forgotten(self) -> int:
        """Points evicted since the last line of metrics."""
        return self._agent.n_forgotten - self._forgotten_before

    @property
    def _not_in_metrics(self) -> LearnInfo | None:
        """The newest LearnInfo, if it is in no line of metrics."""
        newest = self._agent.learn_info or self._resumed
        return None if newest is self._in_metrics else newest

    def _write_history(self, *, sync: bool = False) -> None:
        self._folder.check_place()
        self._history.write(sync=sync)
        self._live_at = time.monotonic() + LIVE_SECONDS

    def episode_ended(self, agent: TGMAgent) -> bool:
        """Write a checkpoint if it is time; False if the agent shall stop."""
        if self._stops or self._clock.is_due_between():
            self._checkpoint()
        return not self._stops

    def within_episode(self, agent: TGMAgent) -> bool:
        """Write a checkpoint if no episode end has come for long; False if the agent shall stop."""
        must_stop = self._stops and time.monotonic() >= self._stop_at
        if must_stop or self._clock.is_due_within():
            self._checkpoint()
        self.look_at = self._clock.next_look(agent.n_steps)
        if self._stops:  # and perhaps just now
            self.look_at = 0
        return not must_stop

    def close(self, ending: Ending, reason: str = "") -> None:
        """Write what is left, the final model, and how it ended."""
        try:
            if ending == "finished" and self._stops:
                if not self._checkpoint_file().is_file():
                    self._checkpoint()  # it was asked to during its last steps
                within = self._clock.newest_is_within
                reason = f"stopped {'within an episode' if within else 'between two episodes'}"
                ending = "interrupted"
            self._write_rest(is_finished=ending == "finished")
            self._folder.finish(ending, self._result(), reason)
        except RunError as error:
            words = reason or str(error)
            with contextlib.suppress(RunError):
                self._folder.finish(ending if reason else "failed", self._result(), words)
            if ending != "failed":
                raise  # otherwise the failure itself is what counts
        finally:
            self._folder.release()

    def _write_rest(self, *, is_finished: bool) -> None:
        """The last checkpoint, line of metrics and chunk, and the final model."""
        # Where no episode ever ended, there may be no other checkpoint to go on from.
        is_first = self._agent.n_episodes == 1
        if is_finished and (self._agent.is_between_episodes or is_first):
            self._folder.flush(sync=True)
            self._save()  # killed before its chunk is written, an earlier one counts
        if is_finished and self._agent.n_states:
            # For viewers: kept points, priors and evidence as they are at the end.
            self._history.add_full(self._agent.n_steps, self._agent.learner.snapshot())
        if (learn_info := self._not_in_metrics) is not None:
            self._record(learn_info)
        self._write_history(sync=True)
        if is_finished:
            self._write_model()

    def _write_model(self) -> None:
        """The final model: the newest checkpoint itself, if the run ended between two episodes."""
        model, checkpoint = self.path / MODEL_FILE, self._checkpoint_file()
        if self._agent.is_between_episodes and checkpoint.is_file():
            link_or_copy(model, checkpoint)  # the result, which follows, syncs this directory
        else:
            self._agent.save(model)

    def _result(self) -> dict[str, Any]:
        return result_of(self._agent, self._returns)

    # --- checkpoints ------------------------------------------------------------------------------

    def _checkpoint(self) -> None:
        """All that is needed to go on: between two episodes exactly, within one in a new one."""
        began = time.monotonic()
        self._folder.flush(sync=True)
        self._write_history(sync=True)
        self._save()
        self._clock.wrote(began, within=not self._agent.is_between_episodes)

    def _save(self) -> None:
        """The agent, and what is needed to go on with its files; older checkpoints make room.

        A checkpoint that cannot be loaded again (`TGMAgent.save`) ends the run with a RunError.
        """
        self._folder.check_place()
        learn_info = self._not_in_metrics
        notes = {
            "metrics_bytes": self._folder.metrics_bytes,
            "chunk": self._history.first_step,
            "n_observations": self._history.n_observations,
            "n_frames": self._history.n_frames,
            "moves": self._moves,
            "n_forgotten": self._n_forgotten,
            "episodes": [episode.to_dict() for episode in self.episodes],
            "recorded_at": self._recorded_at,
            "terms": self._terms,
            "returns": list(self._returns),
            "unrecorded": self._model.changes.to_dict(),
            "not_in_metrics": None
            if learn_info is None
            else learn_info._replace(moves=())._asdict(),
        }
        within = [] if self._agent.is_between_episodes else [self._agent.episode().to_dict()]
        if broken_off := self._broken_off + within:
            notes["broken_off"] = broken_off
        self._agent.save(self._checkpoint_file(), notes)
        for _, old in numbered(self.path / CHECKPOINT_FOLDER)[:-KEPT_CHECKPOINTS]:
            with contextlib.suppress(OSError):  # it is tried again at the next one
                old.unlink(missing_ok=True)

    def _checkpoint_file(self) -> Path:
        """Where the checkpoint of this moment is, or would be."""
        return self.path / CHECKPOINT_FOLDER / f"{self._agent.n_steps:010d}.safetensors"

    @classmethod
    def resume(
        cls,
        agent: TGMAgent,
        path: Path,
        notes: dict[str, Any] | None,
        chunk: Chunk | None,
        checkpoint_seconds: float = CHECKPOINT_SECONDS,
    ) -> Self:
        """Go on with a run from a checkpoint: `notes` are its own, `chunk` the one it names.

        Without them, from the beginning. What came after is cut off.
        """
        folder = RunFolder(path, 0 if notes is None else notes["metrics_bytes"])
        recorder = cls(folder, agent, checkpoint_seconds)
        try:
            (path / RESULT_FILE).unlink(missing_ok=True)
            first = 0 if notes is None else notes["chunk"]
            for step, file in numbered(path / HISTORY_FOLDER):
                if notes is None or step > first:
                    file.unlink()
            folder.remove_unfinished()
        except OSError as error:
            folder.release()
            raise RunError(f"{path}: cannot be written ({error.strerror})") from None
        if notes is not None and chunk is not None:
            recorder._history.resume(chunk, agent.n_episodes)
            recorder._model.resume(UnrecordedChanges.from_dict(notes["unrecorded"]))
            if notes["not_in_metrics"] is None:
                recorder._in_metrics = agent.learn_info  # if it has learned since the checkpoint
            else:
                recorder._resumed = LearnInfo(**notes["not_in_metrics"])
            recorder._moves = list(notes["moves"])
            recorder._forgotten_before = agent.n_forgotten - notes["n_forgotten"]
            recorder.episodes = [EpisodeInfo.from_dict(saved) for saved in notes["episodes"]]
            recorder._broken_off = list(notes.get("broken_off", []))
            recorder._recorded_at, recorder._terms = notes["recorded_at"], notes["terms"]
            recorder._returns.extend(notes["returns"])
        return recorder
