"""The history of a run: what was seen, and how the model changed by it, in chunks of arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tgm.agent.model_file import write_arrays
from tgm.agent.snapshot import Changes, ComponentRecord, RowRecord, Snapshot
from tgm.distributions.saved import Arrays
from tgm.runs.chunk import COLUMNS, Chunk

CHUNK_STEPS = 500  # at least so many steps are in a chunk
FORMAT = "tgm-history"


class HistoryWriter:
    """Owner of the newest chunk; the older ones are files that never change again.

    A chunk begins with all that is known and goes on with what changed at each learning step. It is
    closed when the changes fill as much room as the beginning, and at least 500 steps.
    """

    def __init__(self, folder: Path, n_features: int, n_actions: int) -> None:
        """No chunk yet."""
        self._folder = folder
        self._widths = {"d": n_features, "A": n_actions}
        self._begin(0)

    def _begin(self, first_step: int) -> None:
        self.first_step = first_step
        self._columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        self._n_first = 0  # components and rows of the first frame
        self._n_more = 0  # and of those that followed
        self._n_written = -1

    @property
    def n_observations(self) -> int:
        """Observations in the newest chunk."""
        return len(self._columns["obs.step"])

    @property
    def n_frames(self) -> int:
        """Frames in the newest chunk."""
        return len(self._columns["frame.step"])

    def wants_full(self, step: int) -> bool:
        """Whether the next frame must be a full one: then a new chunk begins with it."""
        is_long = step - self.first_step >= CHUNK_STEPS and self._n_more >= self._n_first
        return self.n_frames == 0 or is_long

    def observe(
        self,
        step: int,
        episode: int,
        point: list[float],
        action: int,
        reward: float,
        state: int,
        log_density: float,
        end: int,
    ) -> None:
        """Add an observation."""
        self._columns["obs.step"].append(
            (step, episode, action, state, end, reward, log_density, point)
        )

    def add_full(self, step: int, snapshot: Snapshot) -> None:
        """Add a full frame; if there are frames already and it is time, in a new chunk."""
        if self.n_frames and self.wants_full(step):
            self.write()
            self._begin(step)
        self._add(step, snapshot.components, [], snapshot.rows, is_full=True)
        columns = self._columns
        columns["full.q"].extend(snapshot.q.tolist())
        columns["full.prior_mean"].extend(snapshot.prior_mean.tolist())
        columns["full.prior_covariance"].extend(snapshot.prior_covariance.tolist())
        columns["full.log_evidence"].extend(snapshot.log_evidence.tolist())
        columns["kept.frame"].extend([self.n_frames - 1] * len(snapshot.kept_points))
        columns["kept.point"].extend(snapshot.kept_points.tolist())
        columns["kept.state"].extend(snapshot.kept_states.tolist())

    def add_changes(self, step: int, changes: Changes) -> None:
        """Add what changed, if anything did."""
        if changes.components or changes.removed or changes.rows:
            self._add(step, changes.components, changes.removed, changes.rows, is_full=False)

    def _add(
        self,
        step: int,
        components: list[ComponentRecord],
        removed: list[int],
        rows: list[RowRecord],
        *,
        is_full: bool,
    ) -> None:
        columns = self._columns
        columns["frame.step"].append((step, is_full, len(components), len(removed), len(rows)))
        columns["component.id"].extend(components)
        columns["removed.id"].extend(removed)
        columns["row.state"].extend(rows)
        self._count(len(components) + len(rows))

    def _count(self, n_entries: int) -> None:
        if self.n_frames == 1:
            self._n_first = n_entries
        else:
            self._n_more += n_entries

    # --- files ------------------------------------------------------------------------------------

    def write(self, *, sync: bool = False) -> None:
        """Write the newest chunk as far as it is, if it has grown since the last time."""
        size = self.n_observations + self.n_frames
        if size == self._n_written and not sync:
            return
        path = self._folder / f"{self.first_step:010d}.safetensors"
        write_arrays(path, self._arrays(), FORMAT, {"first_step": self.first_step}, sync=sync)
        self._n_written = size

    def _arrays(self) -> Arrays:
        """The columns as arrays."""
        columns = self._columns
        observations, frames = columns["obs.step"], columns["frame.step"]
        components, rows = columns["component.id"], columns["row.state"]
        lists: dict[str, list[Any]] = dict(columns)
        for names, records in (
            (OBSERVATION, observations),
            (FRAME, frames),
            (COMPONENT, components),
        ):
            transposed = zip(*records, strict=True) if records else [()] * len(names)
            lists |= {name: list(v) for name, v in zip(names, transposed, strict=True)}
        for index, name in enumerate(ROW):
            lists[name] = [record[index] for record in rows]
        lists["row.n_next"] = [len(record[5]) for record in rows]
        lists["next.state"] = [state for record in rows for state in record[5]]
        lists["next.count"] = [count for record in rows for count in record[6]]
        return {
            name: np.array(lists[name], dtype=dtype).reshape(
                [len(lists[name]), *(self._widths[letter] for letter in shape)]
            )
            for name, (dtype, shape) in COLUMNS.items()
        }

    def resume(self, chunk: Chunk, n_observations: int, n_frames: int) -> None:
        """Go on with a chunk as it was when it had so many observations and frames."""
        self._begin(chunk.first_step)
        lists = {name: a.tolist() for name, a in chunk.cut(n_observations, n_frames).arrays.items()}
        columns = self._columns
        for names in (OBSERVATION, FRAME, COMPONENT):
            columns[names[0]] = list(zip(*(lists[name] for name in names), strict=True))
        columns["component.id"] = [
            (id_, weight, mean, [v for line in covariance for v in line], fixed)
            for id_, weight, mean, covariance, fixed in columns["component.id"]
        ]
        after = iter(zip(lists["next.state"], lists["next.count"], strict=True))
        for *row, n_next in zip(*(lists[n] for n in ROW), lists["row.n_next"], strict=True):
            pairs = [next(after) for _ in range(n_next)]
            columns["row.state"].append((*row, [s for s, _ in pairs], [c for _, c in pairs]))
        for name in ("removed.id", *(n for n in COLUMNS if n.startswith(("full.", "kept.")))):
            columns[name] = lists[name]
        entries = [n_components + n_rows for _, _, n_components, _, n_rows in columns["frame.step"]]
        self._n_first, self._n_more = sum(entries[:1]), sum(entries[1:])


OBSERVATION = (
    "obs.step",
    "obs.episode",
    "obs.action",
    "obs.state",
    "obs.end",
    "obs.reward",
    "obs.log_density",
    "obs.point",
)
FRAME = ("frame.step", "frame.is_full", "frame.n_components", "frame.n_removed", "frame.n_rows")
COMPONENT = (
    "component.id",
    "component.weight",
    "component.mean",
    "component.covariance",
    "component.is_fixed",
)
ROW = ("row.state", "row.action", "row.visits", "row.reward", "row.end")
