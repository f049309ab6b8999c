"""The files of a run, and their one writer. docs/run-format.md describes them."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import platform
import re
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

import gymnasium as gym
import numpy as np
import scipy

from tgm.agent import EpisodeInfo
from tgm.agent.recording import Ending
from tgm.envs import EnvSpec
from tgm.errors import RunError, RunExistsError
from tgm.files.atomic import make_folder, remove_temporary_files, sync_folder, write_json
from tgm.files.format import FORMAT
from tgm.runs.lock import OPEN_FLAGS, Lock
from tgm.version import __version__

RUN_FILE, METRICS_FILE, RESULT_FILE = "run.json", "metrics.jsonl", "result.json"
MODEL_FILE = "model.safetensors"
HISTORY_FOLDER, CHECKPOINT_FOLDER = "history", "checkpoints"
NUMBER = re.compile(r"[0-9]{10,18}")  # the step that a file is named by
MOST_FILES = 100_000  # checkpoints or pieces of history of a run
FLUSH_SECONDS = 0.5  # a reader is behind by no more than this

Begun = TypeVar("Begun")


class _Lines(NamedTuple):
    """The metrics: bytes that are in the file, and the records that follow.

    One value, so that Ctrl-C never finds the one changed and not the other.
    """

    n_bytes: int
    new: list[tuple[Mapping[str, Any], Sequence[EpisodeInfo]]]


class RunFolder:
    """Owner of one run directory while it is written: the lock, the metrics and the result.

    Any agent can be recorded with it; `RunRecorder` adds what a TGMAgent knows.
    """

    def __init__(self, path: Path, metrics_bytes: int = 0) -> None:
        """Take over a directory that is a run; its metrics are cut to so many bytes."""
        for name in (HISTORY_FOLDER, CHECKPOINT_FOLDER):
            if (path / name).is_symlink():
                raise RunError(f"{path / name}: leads elsewhere; nothing is written through a link")
        self.path = path
        self._lock = Lock(path)
        self._name = str(path)
        self._identity: list[tuple[int, int]] = []
        self._lines = _Lines(metrics_bytes, [])
        self._flushed_at = time.monotonic()
        self._metrics = -1
        try:
            for name in (HISTORY_FOLDER, CHECKPOINT_FOLDER):
                (path / name).mkdir(exist_ok=True)  # empty ones get lost where runs are copied
            self._identity = _identities(self._name)
            self._metrics = os.open(path / METRICS_FILE, OPEN_FLAGS, 0o644)
            size = os.fstat(self._metrics).st_size
            if size < metrics_bytes:
                raise RunError(
                    f"{path / METRICS_FILE}: has {size} of the {metrics_bytes} bytes that the "
                    "checkpoint counts on; the run cannot go on from there"
                )
            os.ftruncate(self._metrics, metrics_bytes)
            sync_folder(path)
        except OSError as error:
            self.release()
            raise RunError(f"{path}: cannot be written ({error.strerror})") from None
        except RunError:
            self.release()
            raise

    @classmethod
    def create(
        cls,
        path: Path,
        *,
        agent: str,
        world: EnvSpec,
        seed: int,
        steps: int,
        config: Mapping[str, Any],
        interface: Mapping[str, Any] | None = None,
        packages: Mapping[str, str] | None = None,
    ) -> Self:
        """Begin a run in a directory that does not exist yet.

        Args:
            path: where; refused if it exists, so that no run is ever overwritten.
            agent: what learns: "tgm", "tgm-paper", "dqn" and so on.
            world: the environment of the run.
            seed: what everything random follows from.
            steps: how many are planned.
            config: its settings, as JSON can hold them.
            interface: what it sees and does, for viewers.
            packages: versions of the packages that the environment comes from.
        """
        metadata = {
            "format": FORMAT,
            "agent": agent,
            "world": world.to_dict(),
            "seed": seed,
            "steps": steps,
            "config": dict(config),
            "interface": dict(interface or {}),
            "versions": versions() | dict(packages or {}),
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
        }

        def fill(unfinished: Path) -> None:
            for name in (HISTORY_FOLDER, CHECKPOINT_FOLDER):
                (unfinished / name).mkdir()
            write_json(unfinished / RUN_FILE, metadata)

        make_folder(path, fill)
        return cls(path)

    @property
    def metrics_bytes(self) -> int:
        """The length of the metrics' file, as far as it was written."""
        return self._lines.n_bytes

    def check_place(self) -> None:
        """Raise a RunError if another directory is where the run was: nothing is written there."""
        try:
            is_ours = _identities(self._name) == self._identity
        except OSError:
            is_ours = False
        if not is_ours:
            raise RunError(
                f"{self.path}: is no longer the directory of this run, which was moved or replaced "
                "while it was written; nothing was written to the new one"
            )

    def append(self, record: Mapping[str, Any], episodes: Sequence[EpisodeInfo]) -> None:
        """Add a line to the metrics; it reaches the file within half a second or at `flush`.

        Args:
            record: the line; it is kept until then, and must not be changed.
            episodes: those that ended, which the line holds under that name.
        """
        self._lines.new.append((record, episodes))
        if time.monotonic() - self._flushed_at >= FLUSH_SECONDS:
            self.flush()

    def flush(self, *, sync: bool = False) -> None:
        """Write what was appended; `sync` waits until it is on the disk."""
        self._flushed_at = time.monotonic()
        self.check_place()
        n_bytes, new = self._lines
        data = "".join([_line(record, episodes) for record, episodes in new]).encode()
        try:
            if data:
                _write_at(self._metrics, data, n_bytes)
                self._lines = _Lines(n_bytes + len(data), [])
            if sync:
                os.fsync(self._metrics)
        except OSError as error:
            raise RunError(
                f"{self.path / METRICS_FILE}: cannot be written ({error.strerror})"
            ) from error

    def finish(self, ending: Ending, result: Mapping[str, Any], reason: str = "") -> None:
        """Write how it ended, and let go of the directory."""
        try:
            self.flush(sync=True)
            write_result(self.path, {"status": ending, "reason": reason, **result})
        finally:
            self.release()

    def remove_unfinished(self) -> None:
        """Remove files that a writer had begun when it was killed; no removed file comes back."""
        for folder in (self.path, self.path / HISTORY_FOLDER, self.path / CHECKPOINT_FOLDER):
            remove_temporary_files(folder)

    def release(self) -> None:
        """Let go of the directory as it is."""
        if self._metrics >= 0:
            os.close(self._metrics)
            self._metrics = -1
        self._lock.release()


def _identities(path: str) -> list[tuple[int, int]]:
    """What tells the directories of a run from others that have their names.

    It is asked for before every write: names take a fraction of the time of paths.
    """
    found = [os.stat(path)]  # noqa: PTH116
    found += [os.lstat(f"{path}/{name}") for name in (HISTORY_FOLDER, CHECKPOINT_FOLDER)]
    return [(status.st_dev, status.st_ino) for status in found]


def is_own_file(path: Path) -> bool:
    """Whether it is a file of the run: no link to elsewhere, and no pipe to wait for."""
    return path.is_file() and not path.is_symlink()


def numbered(folder: Path) -> list[tuple[int, Path]]:
    """(step, file) of the checkpoints or chunks in a folder of a run, in their order."""
    files: list[Path] = []
    if folder.is_dir() and not folder.is_symlink():
        files = list(islice(folder.glob("*.safetensors"), MOST_FILES + 1))
    if len(files) > MOST_FILES:
        raise RunError(f"{folder}: holds more than {MOST_FILES} files")
    return sorted(
        (int(path.stem), path)
        for path in files
        if NUMBER.fullmatch(path.stem) and is_own_file(path)
    )


def write_result(path: Path, result: Mapping[str, Any]) -> None:
    """Write result.json, whole or not at all; numbers that are not finite become null."""
    write_json(path / RESULT_FILE, {name: _finite(value) for name, value in result.items()})


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that results depend on."""
    return {
        "python": platform.python_version(),
        "temporal-gaussian-mixture": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "gymnasium": gym.__version__,
    }


def begin_in_free(path: Path, begin: Callable[[Path], Begun]) -> Begun:
    """Begin a run in `path`, or if that is there already, in `path`-2 and so on.

    Several processes may look for a name at once: the second one takes the next.

    Args:
        path: the directory that is wanted.
        begin: makes the run in a directory, or raises a RunExistsError.
    """
    for number in itertools.count(1):
        free = path if number == 1 else path.with_name(f"{path.name}-{number}")
        if not os.path.lexists(free):
            with contextlib.suppress(RunExistsError):
                return begin(free)
    raise AssertionError  # there are numbers enough


def _line(record: Mapping[str, Any], episodes: Sequence[EpisodeInfo]) -> str:
    ended = ", ".join([episode.to_json() for episode in episodes])
    return f'{json.dumps(record)[:-1]}, "episodes": [{ended}]}}\n'


def _write_at(file: int, data: bytes, offset: int) -> None:
    """Write all of `data` at `offset`, or nothing: what was written before a failure is cut off."""
    done = 0
    try:
        os.lseek(file, offset, os.SEEK_SET)
        while done < len(data):
            done += os.write(file, data[done:])
    except OSError:
        os.ftruncate(file, offset)
        raise


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
