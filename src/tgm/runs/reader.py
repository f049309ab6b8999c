"""Reads run directories; nothing that is in them is trusted."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tgm.agent import TGMAgent
from tgm.agent.model_file import read_model
from tgm.agent.spaces import Interface
from tgm.envs import EnvSpec
from tgm.errors import RunError, TGMError
from tgm.files import opened, parse_json, read_arrays, read_bytes
from tgm.files.format import check_format, format_of
from tgm.files.reading import ReadOnce, identity
from tgm.learners.snapshot import recorded_features
from tgm.runs.chunk import Chunk, Frame
from tgm.runs.folder import (
    CHECKPOINT_FOLDER,
    HISTORY_FOLDER,
    METRICS_FILE,
    MODEL_FILE,
    RESULT_FILE,
    RUN_FILE,
    is_own_file,
    numbered,
)
from tgm.runs.history import FORMAT
from tgm.runs.lock import is_locked
from tgm.runs.replay import with_all_frames

State = Literal["live", "unknown", "finished", "interrupted", "failed", "broken"]

LARGEST_JSON = 4_000_000  # bytes of run.json or result.json: the largest maze has a million
MOST_JSON_VALUES = 100_000  # values in either of them
LONGEST_LINE = 4_000_000  # bytes of a line of metrics
MOST_IN_LINE = 400_000  # values in it
MOST_STEPS = 2**53  # that are planned
MOST_CHECKPOINTS = 20  # that are looked at, the newest; a run keeps two
TAIL = 65_536  # bytes in which the last line of metrics is looked for, at first


@dataclass(frozen=True)
class RunStatus:
    """How a run stands.

    Attributes:
        state: live while somebody writes it; interrupted if it was stopped or killed; unknown if
            it is one of the two, and this machine cannot see which.
        reason: why, where there is something to say.
        result: what result.json says, if it is there.
        last: the last whole line of the metrics, if there is one.
    """

    state: State
    reason: str = ""
    result: dict[str, Any] = field(default_factory=dict)
    last: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """A run directory that was found to be one.

    Attributes:
        folder: where it is.
        metadata: what run.json says.
    """

    folder: Path
    metadata: dict[str, Any]
    _kept: ReadOnce = field(default_factory=ReadOnce, repr=False, compare=False)

    @classmethod
    def open(cls, folder: str | Path) -> Run:
        """The run in `folder`, or a RunError that says why there is none."""
        folder = Path(folder)
        path = folder / RUN_FILE
        if not is_own_file(path):
            raise RunError(f"{folder}: not a run (there is no {RUN_FILE} in it)")
        kept = ReadOnce()
        metadata = kept.get(path, _read_json)
        check_format(folder, "a run", format_of(metadata))
        wanted: dict[str, Any] = {
            "agent": str,
            "seed": int,
            "steps": int,
            "config": dict,
            "interface": dict,
        }
        for name, kind in wanted.items():
            if not isinstance(metadata.get(name), kind):
                raise RunError(f"{path}: '{name}' is {metadata.get(name)!r:.100}")
        _check_ranges(path, metadata)
        return cls(folder, metadata, kept)

    @property
    def is_current(self) -> bool:
        """Whether the run.json in the directory is still the one that was read."""
        return self._kept.is_current(self.folder / RUN_FILE)

    @property
    def name(self) -> str:
        """The name of its directory."""
        return self.folder.name

    @property
    def world(self) -> EnvSpec:
        """The environment of the run."""
        return EnvSpec.from_dict(self.metadata.get("world"))

    def status(self) -> RunStatus:
        """How it stands; looks at the ends of its files only."""
        locked = is_locked(self.folder)
        if locked:
            return RunStatus("live", last=self._last_line(strict=False))
        path = self.folder / RESULT_FILE
        if locked is None and not is_own_file(path):  # a writer removes the result first
            reason = (
                "live or killed: its lock cannot be asked, and its writer is on another machine"
            )
            return RunStatus("unknown", reason, last=self._last_line(strict=False))
        try:
            last = self._last_line(strict=True)
            if not is_own_file(path):
                return RunStatus("interrupted", "it was killed", last=last)
            result = self._kept.get(path, _read_json)
        except RunError as error:
            return RunStatus("broken", str(error))
        state = result.get("status")
        if state not in ("finished", "interrupted", "failed"):
            return RunStatus("broken", f"{path}: status {state!r}")
        is_ours = bool(self.metadata["interface"])
        if state == "finished" and is_ours and not is_own_file(self.folder / MODEL_FILE):
            return RunStatus("broken", f"{self.folder}: its model is missing", result, last)
        return RunStatus(state, str(result.get("reason", "")), result, last)

    # --- what was learned -------------------------------------------------------------------------

    def agent(self) -> TGMAgent:
        """The final agent; without one that can be read, that of the newest checkpoint."""
        return self.agent_and_troubles()[0]

    def agent_and_troubles(self) -> tuple[TGMAgent, tuple[str, ...]]:
        """The newest agent that can be read, and a line for each that could not."""
        troubles: list[str] = []
        final = self.folder / MODEL_FILE
        files = [path for _, path in self.checkpoints()]
        if is_own_file(final):
            # Beside a run that goes on, the final model is that of an earlier end.
            place = len(files) if (self.folder / RESULT_FILE).is_file() else 0
            files.insert(place, final)
        for path in reversed(files):
            try:
                return TGMAgent.load(path), tuple(troubles)
            except RunError as error:
                troubles.append(str(error))
        if troubles:
            raise RunError("; ".join(troubles))
        raise RunError(f"{self.folder}: no model was saved yet")

    def checkpoints(self) -> list[tuple[int, Path]]:
        """(step, file) of the newest checkpoints, the oldest first."""
        return numbered(self.folder / CHECKPOINT_FOLDER)[-MOST_CHECKPOINTS:]

    def recorded_steps(self) -> int:
        """The steps that are recorded: at the end, or else as far as the metrics tell.

        A final model and checkpoints count too.
        """
        status = self.status()
        given = status.result.get("steps", status.last.get("step"))
        checkpoints = self.checkpoints()
        steps = [step for step, _ in checkpoints]
        if isinstance(given, int | float) and 0 <= given <= MOST_STEPS:  # NaN is not
            steps.append(int(given))
        final = self.folder / MODEL_FILE
        is_checkpoint = any(identity(final) == identity(path) for _, path in checkpoints)
        if is_own_file(final) and not is_checkpoint:  # one file may have both names
            with contextlib.suppress(RunError):  # what cannot be read cannot be lost
                known = self._kept.get(final, lambda path: read_model(path)[1].get("n_steps"))
                steps += [known] if isinstance(known, int) else []
        return max(steps, default=0)

    # --- how it was learned -----------------------------------------------------------------------

    def metrics(self) -> Iterator[dict[str, Any]]:
        """The lines of the metrics; one that is still being written is left out."""
        path = self.folder / METRICS_FILE
        if not is_own_file(path):
            return
        with opened(path) as (file, _):
            for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), start=1):
                if not line.endswith(b"\n"):
                    if len(line) == LONGEST_LINE:
                        raise RunError(f"{path}:{number}: a line of over {LONGEST_LINE} bytes")
                    return
                yield _parse_line(path, number, line)

    def chunk_steps(self) -> list[int]:
        """The steps after which the chunks of the history begin, in order."""
        return [step for step, _ in numbered(self.folder / HISTORY_FOLDER)]

    def chunk(self, first_step: int) -> Chunk:
        """The chunk of the history that begins after a step, with a frame for every change."""
        chunk = self.chunk_file(first_step)
        try:
            return with_all_frames(chunk)
        except TGMError as error:
            raise RunError(f"{self.chunk_path(first_step)}: {error}") from None

    def chunk_file(self, first_step: int) -> Chunk:
        """The same as it is in its file: what was just added to the model has no frame."""
        path = self.chunk_path(first_step)
        if not is_own_file(path):
            raise RunError(f"{path}: there is no such file")
        arrays, _ = read_arrays(path, FORMAT)
        try:
            interface = Interface.from_dict(self.metadata["interface"])
            n_features = recorded_features(interface.n_features)
            return Chunk.of(first_step, arrays, n_features, interface.n_actions)
        except KeyError as error:
            raise RunError(f"{path}: {error} is missing") from None
        except TGMError as error:
            raise RunError(f"{path}: {error}") from None

    def chunk_path(self, first_step: int) -> Path:
        """The file of the chunk that begins after a step."""
        return self.folder / HISTORY_FOLDER / f"{first_step:010d}.safetensors"

    def frame_at(self, step: int) -> Frame:
        """The model after `step`, rebuilt from the history."""
        for first in reversed([first for first in self.chunk_steps() if first <= step]):
            frame = self.chunk(first).frame_at(step)
            if frame is not None:
                return frame
        raise RunError(f"{self.folder}: nothing was learned by step {step}")

    def frames(self, every: int) -> Iterator[tuple[int, Frame]]:
        """(step, model after it) for every so many steps, and for the last one."""
        firsts = self.chunk_steps()
        for index, first in enumerate(firsts):
            chunk = self.chunk(first)
            is_last = index + 1 == len(firsts)
            last = chunk.last_step if is_last else min(chunk.last_step, firsts[index + 1] - 1)
            steps = list(range(-(-first // every) * every, last + 1, every))
            if is_last and last % every:
                steps.append(last)
            for step in steps:
                frame = chunk.frame_at(step)
                if frame is not None:
                    yield step, frame

    def _last_line(self, *, strict: bool) -> dict[str, Any]:
        """The last whole line of the metrics, or {} if there is none."""
        path = self.folder / METRICS_FILE
        if not is_own_file(path):
            return {}
        try:
            return self._kept.get(path, _read_last_line)
        except RunError:
            if strict:
                raise
            return {}


def find_runs(root: Path) -> list[Path]:
    """The directories directly under `root` that hold a run.json, by name; links are left out."""
    try:
        entries = sorted(root.iterdir())
    except OSError:
        return []
    return [path for path in entries if not path.is_symlink() and (path / RUN_FILE).is_file()]


def _read_json(path: Path) -> dict[str, Any]:
    metadata = parse_json(read_bytes(path, LARGEST_JSON), path, MOST_JSON_VALUES)
    if not isinstance(metadata, dict):
        raise RunError(f"{path}: holds no JSON object")
    return metadata


def _read_last_line(path: Path) -> dict[str, Any]:
    with opened(path) as (file, size):
        tail = TAIL
        while True:
            start = max(0, size - tail)
            file.seek(start)
            whole = file.read(size - start).split(b"\n")[:-1]
            if len(whole) > (start > 0) or start == 0 or tail > LONGEST_LINE:
                break
            tail *= 8
    return _parse_line(path, None, whole[-1]) if whole else {}


def _check_ranges(path: Path, metadata: dict[str, Any]) -> None:
    """RunError for numbers of run.json that no run has."""
    if metadata["seed"] < 0 or not 0 <= metadata["steps"] < MOST_STEPS:
        raise RunError(f"{path}: its seed and steps are out of range")
    try:
        if metadata["interface"]:
            Interface.from_dict(metadata["interface"])
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise RunError(f"{path}: its interface is wrong ({error!s:.100})") from None


def _parse_line(path: Path, number: int | None, line: bytes) -> dict[str, Any]:
    where = f"{path}:{number}" if number is not None else f"{path}, last line"
    record = parse_json(line, where, MOST_IN_LINE)
    if not isinstance(record, dict):
        raise RunError(f"{where}: not a JSON object")
    step = record.get("step")
    if not isinstance(step, int | float) or not -MOST_STEPS < step < MOST_STEPS:
        raise RunError(f"{where}: its step is {step!r:.100}")
    return record
