"""Scalars for TensorBoard; needs the extra `tensorboard`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tgm.agent import LearningInfo
from tgm.errors import ConfigError, RunError


class TensorBoardWriter:
    """A callback that writes returns, lengths, states, kept points and free energy as scalars.

    `agent.learn(5000, callback=TensorBoardWriter("logs"))`, then `tensorboard --logdir logs`.
    """

    def __init__(self, folder: str | Path) -> None:
        """Write event files to `folder`."""
        try:
            from tensorboard.compat.proto import event_pb2, summary_pb2
            from tensorboard.summary.writer.event_file_writer import EventFileWriter
        except ImportError:
            raise ConfigError(
                "TensorBoard is not installed: pip install temporal-gaussian-mixture[tensorboard]"
            ) from None
        self._event, self._summary = event_pb2.Event, summary_pb2.Summary
        try:
            self._writer = EventFileWriter(str(folder))
        except OSError as error:
            raise RunError(f"{folder}: cannot be written ({error.strerror})") from None

    def __call__(self, info: LearningInfo) -> None:
        """Write the episodes that ended, and the model's numbers with each."""
        for episode in info.episodes:
            self._write(episode.step, "episode/return", episode.total_reward)
            self._write(episode.step, "episode/length", episode.length)
        if info.episodes:
            self._write(info.step, "model/states", info.n_states)
            self._write(info.step, "model/kept_points", info.n_kept)
            self._write(info.step, "model/free_energy", info.free_energy)

    def close(self) -> None:
        """Write what is left."""
        self._writer.close()

    def _write(self, step: int, name: str, value: float) -> None:
        values: list[Any] = [self._summary.Value(tag=name, simple_value=float(value))]
        summary = self._summary(value=values)
        self._writer.add_event(self._event(step=step, wall_time=time.time(), summary=summary))
