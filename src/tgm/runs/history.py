"""The history of a run: what was seen, and how the model changed by it, in chunks of arrays."""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tgm.agent.recording import NO_ACTION
from tgm.distributions import FloatArray
from tgm.errors import RunError, TGMError
from tgm.files.arrays import Arrays
from tgm.files.atomic import sync_file, sync_folder
from tgm.files.store import read_arrays, write_arrays
from tgm.learners.snapshot import Changes, Snapshot
from tgm.runs.chunk import COLUMNS, Chunk

CHUNK_STEPS = 5000  # at least so many steps are in a chunk
CHUNK_NUMBERS = 1_000_000  # in the frames of a chunk, from which it is closed earlier
FIRST_FULL = 500  # the second full frame of a run; then one for each chunk
FORMAT = "tgm-history"

# The columns of an observation, besides its point, in the order in which `pack` takes them. Its
# step and episode are not written: they follow from the actions.
_SEEN = [
    (name, COLUMNS[name][0])
    for name in (
        "obs.action",
        "obs.reward",
        "obs.end",
        "obs.state",
        "obs.log_density",
        "obs.share",
        "obs.weight",
    )
]

# Each other table is one flat row of numbers while it grows; these are the columns of an entry.
TABLES: dict[str, tuple[str, ...]] = {
    "frame": (
        "frame.step",
        "frame.n_obs",
        "frame.is_full",
        "frame.n_components",
        "frame.n_removed",
        "frame.n_rows",
    ),
    "component": (
        "component.id",
        "component.weight",
        "component.is_fixed",
        "component.mean",
        "component.covariance",
    ),
    "removed": ("removed.id",),
    "row": ("row.state", "row.action", "row.visits", "row.reward", "row.end", "row.n_next"),
    "next": ("next.state", "next.count"),
    "full": ("full.q", "full.prior_mean", "full.prior_covariance", "full.log_evidence"),
    "kept": ("kept.frame", "kept.point", "kept.state"),
    "belief": ("belief.observation", "belief.state", "belief.probability"),
}


_ROW_WIDTH = len(TABLES["row"])
_pack_belief = struct.Struct(f"={len(TABLES['belief'])}d").pack


def next_full(step: int) -> int:
    """The step from which another full frame is wanted after one at `step`."""
    return FIRST_FULL if step < FIRST_FULL else step + CHUNK_STEPS


def _packed(values: Sequence[float] | FloatArray) -> bytes:
    return values.tobytes() if isinstance(values, np.ndarray) else array("d", values).tobytes()


class HistoryWriter:
    """Owner of the newest chunk; the older ones are files that never change again.

    A chunk begins with all that is known and goes on with what changed at each learning step. It is
    closed when what followed fills as much room as the beginning, and has at least 5,000 steps; or
    when it has a million numbers, as where thousands of states are planned again.
    """

    def __init__(self, folder: Path, n_features: int, n_actions: int, n_episodes: int) -> None:
        """No chunk yet, after so many episodes."""
        self._folder = folder
        self._lengths = {"d": n_features, "A": n_actions}
        self.observations: list[bytes] = []
        """For each new observation what `pack` gives of it: a recorder adds them.

        Bytes, because every step adds to them, and an environment may use its arrays again.
        """
        self._observation = np.dtype([*_SEEN, ("obs.point", np.float64, (n_features,))])
        numbers = "".join("q" if kind is np.int64 else "d" for _, kind in _SEEN)
        self.pack = struct.Struct(f"={numbers}{8 * n_features}s").pack
        """action, reward, end, state, log_density, share, weight and the bytes of the point."""
        self._component_width = sum(self._width(name) for name in TABLES["component"])
        self.full_at = 0  # the step from which the next frame must be a full one
        self._unsynced: set[Path] = set()  # chunks that may not be on the disk yet
        self._begin(0, n_episodes)
        self._is_whole = True

    def _begin(self, first_step: int, n_episodes: int) -> None:
        """An empty chunk; the caller says when it is whole."""
        self._is_whole = False  # nothing is half added
        self.first_step = first_step
        self._n_episodes = n_episodes  # that were begun before
        # In parts, which stay where they are: to copy what grows would cost as much again.
        self._tables: dict[str, list[bytes]] = {name: [] for name in TABLES}
        self.observations.clear()
        self._gathered: list[bytes] = []  # the older ones, many in each
        self._n_gathered = 0
        self.n_frames = 0
        self._n_first = 0  # components and rows of the first frame
        self._n_more = 0  # and of those that followed
        self._n_numbers = 0  # in all frames
        self._n_written = -1
        self._is_relied_on = False  # whether a checkpoint counts on the chunk's file
        self._prior_dof = 0.0

    @property
    def path(self) -> Path:
        """The file of the newest chunk."""
        return self._folder / f"{self.first_step:010d}.safetensors"

    @property
    def n_observations(self) -> int:
        """Observations in the newest chunk."""
        return self._n_gathered + len(self.observations)

    def gather(self) -> None:
        """Put the new observations together; now and then, so that their room is used again."""
        was_whole, self._is_whole = self._is_whole, False
        self._gathered.append(b"".join(self.observations))
        self._n_gathered += len(self.observations)
        self.observations.clear()
        self._is_whole = was_whole

    def note_belief(self, belief: Sequence[tuple[int, float]]) -> None:
        """Attach a belief to the newest observation: state ids with their probabilities.

        Needed only where the belief is not its recorded state with probability 1. What the
        probabilities lack to 1 belongs to no known state. Call it once for an observation.
        """
        newest = self.n_observations - 1
        self._tables["belief"].extend([_pack_belief(newest, state, p) for state, p in belief])

    def add_full(self, step: int, snapshot: Snapshot) -> None:
        """Add a full frame."""
        self._is_whole = False
        self.full_at = next_full(step)
        self._prior_dof = snapshot.prior_dof
        self._add(step, snapshot.known, is_full=True)
        n_states = len(snapshot.q)
        full = [
            np.asarray(part).reshape(n_states, -1)
            for part in (
                snapshot.q,
                snapshot.prior_mean,
                snapshot.prior_covariance,
                snapshot.log_evidence,
            )
        ]
        self._tables["full"].append(np.concatenate(full, axis=1).tobytes())
        frames = np.full((len(snapshot.kept_points), 1), self.n_frames - 1.0)
        kept = [frames, snapshot.kept_points, snapshot.kept_states[:, None]]
        self._tables["kept"].append(np.concatenate(kept, axis=1).tobytes())
        self._is_whole = True

    def add_changes(self, step: int, changes: Changes) -> None:
        """Add what changed, if anything did."""
        if len(changes.components) or changes.removed or len(changes.rows):
            self._is_whole = False
            self._add(step, changes, is_full=False)
            self._is_whole = True

    def _add(self, step: int, changes: Changes, *, is_full: bool) -> None:
        tables, (components, rows, next_states, removed) = self._tables, changes
        n_components, n_rows = len(components) // self._component_width, len(rows) // _ROW_WIDTH
        counts = n_components, len(removed), n_rows
        tables["frame"].append(_packed((step, self.n_observations, is_full, *counts)))
        numbers = {"component": components, "removed": removed, "row": rows, "next": next_states}
        for name, values in numbers.items():
            if len(values):
                tables[name].append(_packed(values))
        self.n_frames += 1
        self._n_numbers += len(components) + len(rows) + len(next_states)
        if self.n_frames == 1:
            self._n_first = n_components + n_rows
        else:
            self._n_more += n_components + n_rows

    # --- files ------------------------------------------------------------------------------------

    def begin_chunk(self, step: int, n_episodes: int) -> None:
        """Write the chunk and begin another, if it is long enough; a full frame must follow."""
        n_entries = self._n_more + self.n_observations
        is_long = step - self.first_step >= CHUNK_STEPS and n_entries >= self._n_first
        is_large = self._n_numbers >= CHUNK_NUMBERS and step > self.first_step
        if self.n_frames and (is_long or is_large):
            self.write()
            self._begin(step, n_episodes)

    def write(self, *, sync: bool = False) -> None:
        """Write the newest chunk as far as it is, if it has grown since the last time.

        Where Ctrl-C came in the middle of a frame, the file that is there is the better one: the
        checkpoints count on it.

        Args:
            sync: wait until all chunks are on the disk, because a checkpoint will count on them.
        """
        is_relied_on = sync or self._is_relied_on
        size = self.n_observations + self.n_frames + len(self._tables["belief"])
        is_new = size != self._n_written or is_relied_on != self._is_relied_on
        if self._is_whole and is_new:
            # Where a checkpoint counts on the file, content that cannot be read or is not on the
            # disk must not replace it: after a power cut both would be lost.
            check = self._read_back if is_relied_on else None
            metadata = {"first_step": self.first_step}
            write_arrays(
                self.path, self._arrays(), FORMAT, metadata, sync=is_relied_on, check=check
            )
            self._n_written = size
            (self._unsynced.discard if is_relied_on else self._unsynced.add)(self.path)
        if sync:
            self._sync_older()
            self._is_relied_on = True

    def _read_back(self, path: Path) -> None:
        """Read a chunk that was just written, or raise a RunError."""
        arrays, _ = read_arrays(path, FORMAT)
        try:
            Chunk.of(self.first_step, arrays, self._lengths["d"], self._lengths["A"])
        except TGMError as error:
            raise RunError(f"{path}: {error}") from None

    def _sync_older(self) -> None:
        try:
            for path in sorted(self._unsynced):
                sync_file(path)
            if self._unsynced:
                sync_folder(self._folder)
        except OSError as error:
            raise RunError(f"{self._folder}: cannot be written ({error.strerror})") from error
        self._unsynced.clear()

    def _arrays(self) -> Arrays:
        """The columns of all tables."""
        self.gather()
        self._gathered = [b"".join(self._gathered)]
        observations = np.frombuffer(self._gathered[0], self._observation)
        arrays: Arrays = {name: observations[name] for name in observations.dtype.names or ()}
        is_start = arrays["obs.action"] == NO_ACTION
        arrays["obs.step"] = self.first_step + np.cumsum(~is_start)
        arrays["obs.episode"] = self._n_episodes + np.cumsum(is_start)
        for table, names in TABLES.items():
            widths = [self._width(name) for name in names]
            values = np.frombuffer(b"".join(self._tables[table])).reshape(-1, sum(widths))
            columns = np.split(values, np.cumsum(widths)[:-1], axis=1)
            for name, column in zip(names, columns, strict=True):
                dtype, shape = self._type(name)
                arrays[name] = column.astype(dtype).reshape(len(values), *shape)
        arrays["prior.dof"] = np.array([self._prior_dof])
        return arrays

    def _type(self, name: str) -> tuple[Any, tuple[int, ...]]:
        """The type of a column, and the shape of one entry."""
        dtype, letters = COLUMNS[name]
        return dtype, tuple(self._lengths[letter] for letter in letters)

    def _width(self, name: str) -> int:
        """Numbers in one entry of a column."""
        return math.prod(self._type(name)[1])

    def resume(self, chunk: Chunk, n_episodes: int) -> None:
        """Go on with a chunk; if it has no observation yet, after so many episodes."""
        arrays = chunk.arrays
        if len(arrays["obs.step"]):
            is_start = arrays["obs.action"][0] == NO_ACTION
            n_episodes = int(arrays["obs.episode"][0]) - int(is_start)
        self._begin(chunk.first_step, n_episodes)
        for table, names in TABLES.items():
            n_entries = len(arrays[names[0]])
            columns = [arrays[name].reshape(n_entries, self._width(name)) for name in names]
            entries = np.concatenate(columns, axis=1, dtype=np.float64)
            self._tables[table] = [entries.tobytes()]
        frames = (*self._tables["component"], *self._tables["row"], *self._tables["next"])
        self._n_numbers = sum(len(part) for part in frames) // 8
        seen = (arrays[name].tolist() for name, _ in _SEEN)
        for *numbers, point in zip(*seen, arrays["obs.point"], strict=True):
            self.observations.append(self.pack(*numbers, point.tobytes()))
        self.n_frames = len(arrays["frame.step"])
        self._prior_dof = float(arrays["prior.dof"][0])
        full = arrays["frame.step"][arrays["frame.is_full"]]
        self.full_at = next_full(int(full[-1])) if len(full) else 0
        entries = arrays["frame.n_components"] + arrays["frame.n_rows"]
        self._n_first, self._n_more = int(entries[:1].sum()), int(entries[1:].sum())
        self._is_relied_on = True
        self._is_whole = True
