"""Frames that a history file leaves out, computed from its observations.

After an ordinary observation the model differs from the one before by one added point and one
added transition, so the file stores no frame for it. `with_all_frames` inserts these frames.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tgm.distributions import FloatArray
from tgm.distributions.small import shift_moments
from tgm.errors import DataError
from tgm.files.arrays import Arrays
from tgm.perception.observation_model import NO_STATE
from tgm.runs.chunk import COLUMNS, Chunk

MOST_GROWTH = 10  # successors in inserted rows, per number in the file
MOST_INSERTED = 20_000_000  # numbers in all inserted frames: means, covariances and rows


@dataclass
class _Component:
    """The moments of one state; its scatter includes that of the prior."""

    weight: float
    is_fixed: bool
    mean: FloatArray  # (n_features,)
    scatter: FloatArray  # (n_features, n_features)


@dataclass
class _Row:
    visits: float = 0.0
    reward: float = 0.0
    end: float = 0.0
    next: dict[int, float] = field(default_factory=dict)


def add_point(known: _Component, point: FloatArray, share: float) -> None:
    """Add a point (n_features,) of weight `share`, with the sum that the learner uses."""
    before, after = known.weight, known.weight + share
    shift_moments(known.mean, known.scatter, point, share / after, share * before / after)
    known.weight = after


def add_transition(row: _Row, after: int, weight: float, reward: float, end: bool) -> None:
    """Add a transition of that weight; the row holds the mean reward and the share of ends."""
    visits = row.visits + weight
    row.reward += (reward - row.reward) * weight / visits
    row.end += (end - row.end) * weight / visits
    row.visits = visits
    row.next[after] = row.next.get(after, 0.0) + weight


class _Writer:
    """The columns of the output: frames, components, removals and rows."""

    NAMES = tuple(name for name in COLUMNS if name.split(".")[0] in
                  ("frame", "component", "removed", "row", "next"))  # fmt: skip

    def __init__(self) -> None:
        # Flat arrays: eight bytes for each number of a covariance.
        self.columns: dict[str, array[Any]] = {
            name: array("d" if COLUMNS[name][0] is np.float64 else "q") for name in self.NAMES
        }

    def frame(self, step: int, n_obs: int, is_full: bool, counts: tuple[int, int, int]) -> None:
        self._append("frame", (step, n_obs, is_full, *counts))

    def component(self, name: int, known: _Component, covariance: FloatArray) -> None:
        values = (name, known.weight, known.mean, covariance, known.is_fixed)
        self._append("component", values)

    def removed(self, name: int) -> None:
        self._append("removed", (name,))

    def row(self, key: tuple[int, int], row: _Row) -> None:
        self._append("row", (*key, row.visits, row.reward, row.end, len(row.next)))
        self.columns["next.state"].extend(row.next.keys())
        self.columns["next.count"].extend(row.next.values())

    def _append(self, table: str, values: tuple[object, ...]) -> None:
        names = _TABLE_COLUMNS[table]
        for name, value in zip(names, values, strict=True):
            if isinstance(value, np.ndarray):
                self.columns[name].frombytes(value.tobytes())
            else:
                self.columns[name].append(value)

    def arrays(self, n_features: int) -> Arrays:
        shapes = {"": (), "d": (n_features,), "dd": (n_features, n_features)}
        return {
            name: np.frombuffer(values, np.dtype(values.typecode))
            .astype(COLUMNS[name][0], copy=False)
            .reshape(-1, *shapes[COLUMNS[name][1]])
            for name, values in self.columns.items()
        }


_TABLE_COLUMNS = {
    table: tuple(name for name in COLUMNS if name.startswith(f"{table}."))
    for table in ("frame", "component", "removed", "row", "next")
}


class _Replay:
    """The model while it is rebuilt from the frames and observations of a chunk, in order."""

    def __init__(self, chunk: Chunk) -> None:
        self._a = {
            name: values.tolist() if values.ndim == 1 else values
            for name, values in chunk.arrays.items()
        }
        self._dof = self._a["prior.dof"][0]
        self._components: dict[int, _Component] = {}
        self._rows: dict[tuple[int, int], _Row] = {}
        size = sum(values.size for values in chunk.arrays.values())
        self._successors_left = min(MOST_GROWTH * size, MOST_INSERTED // 2)
        self._next_index = {"component": 0, "removed": 0, "row": 0, "next": 0}
        self.writer = _Writer()
        self.frame_of: list[int] = []  # index in the output of each frame of the file

    def _take(self, table: str) -> int:
        index = self._next_index[table]
        self._next_index[table] = index + 1
        return index

    def frame(self, frame: int) -> None:
        """A frame of the file."""
        a, writer = self._a, self.writer
        counts = tuple(a[f"frame.n_{name}"][frame] for name in ("components", "removed", "rows"))
        self.frame_of.append(len(writer.columns["frame.step"]))
        is_full = a["frame.is_full"][frame]
        writer.frame(a["frame.step"][frame], a["frame.n_obs"][frame], is_full, counts)
        if is_full:
            self._components.clear()
            self._rows.clear()
        for _ in range(counts[1]):
            name = a["removed.id"][self._take("removed")]
            self._components.pop(name, None)
            writer.removed(name)
        for _ in range(counts[0]):
            i = self._take("component")
            weight, covariance = a["component.weight"][i], a["component.covariance"][i]
            known = _Component(
                weight,
                a["component.is_fixed"][i],
                a["component.mean"][i].copy(),
                covariance * (self._dof + weight),
            )
            self._components[a["component.id"][i]] = known
            writer.component(a["component.id"][i], known, covariance)
        for _ in range(counts[2]):
            self._row()

    def _row(self) -> None:
        a, i = self._a, self._take("row")
        after = {}
        for _ in range(a["row.n_next"][i]):
            j = self._take("next")
            after[a["next.state"][j]] = a["next.count"][j]
        key = a["row.state"][i], a["row.action"][i]
        self._rows[key] = _Row(a["row.visits"][i], a["row.reward"][i], a["row.end"][i], after)
        self.writer.row(key, self._rows[key])

    def observation(self, i: int) -> None:
        """An observation; if it only added a point to the model, the frame that follows from it."""
        a = self._a
        share, state, action = a["obs.share"][i], a["obs.state"][i], a["obs.action"][i]
        known = self._components.get(state)
        if share <= 0 or known is None:
            return
        add_point(known, a["obs.point"][i], share)
        weight = a["obs.weight"][i]
        is_step = weight > 0 and action >= 0 and i > 0 and a["obs.state"][i - 1] != NO_STATE
        # The first observation of an episode is learned together with its first step.
        step = a["obs.step"][i] + (action < 0)
        self.writer.frame(step, i + 1, False, (1, 0, int(is_step)))
        covariance = known.scatter / (self._dof + known.weight)
        self.writer.component(state, known, covariance)
        if is_step:
            key = a["obs.state"][i - 1], action
            row = self._rows.setdefault(key, _Row())
            add_transition(row, state, weight, a["obs.reward"][i], a["obs.end"][i] == 1)
            self._successors_left -= len(row.next)
            if self._successors_left < 0:
                raise DataError("its rows have more successors than a run can have seen")
            self.writer.row(key, row)


def with_all_frames(chunk: Chunk) -> Chunk:
    """The chunk with a frame for every observation that only added a point to the model."""
    arrays = chunk.arrays
    n_features = arrays["obs.point"].shape[1]
    n_added = int((arrays["obs.share"] > 0).sum())
    if n_added == 0:
        return chunk
    if n_added * n_features * (n_features + 1) > MOST_INSERTED:
        raise DataError(
            f"{n_added} added points of {n_features} features would make more than "
            f"{MOST_INSERTED:,} numbers of frames"
        )
    replay = _Replay(chunk)
    n_frames, frame = len(arrays["frame.step"]), 0
    n_obs = arrays["frame.n_obs"].tolist()
    # Numbers of a damaged file may be as large as 1e300: their sums are then infinite.
    with np.errstate(over="ignore", invalid="ignore"):
        for index in range(len(arrays["obs.step"])):
            while frame < n_frames and n_obs[frame] <= index:
                replay.frame(frame)
                frame += 1
            replay.observation(index)
        for rest in range(frame, n_frames):
            replay.frame(rest)
    inserted = replay.writer.arrays(n_features)
    moved = np.array(replay.frame_of, dtype=np.intp)[arrays["kept.frame"]]
    return Chunk(chunk.first_step, arrays | inserted | {"kept.frame": moved})
