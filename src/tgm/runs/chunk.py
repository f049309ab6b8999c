"""A chunk of a run's history, checked, and the model at any step rebuilt from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.errors import DataError
from tgm.files.schema import (
    LARGEST_NUMBER,
    SUM_ROUNDING,
    Arrays,
    Field,
    Length,
    Schema,
    Total,
    flags,
    floats,
    read,
    whole,
)

# Name -> (type, shape of one entry: d for features, A for actions). The part before the dot is the
# table that the column belongs to.
COLUMNS: dict[str, tuple[Any, str]] = {
    "obs.step": (np.int64, ""),
    "obs.episode": (np.int64, ""),
    "obs.action": (np.int64, ""),
    "obs.state": (np.int64, ""),
    "obs.end": (np.int64, ""),
    "obs.reward": (np.float64, ""),
    "obs.log_density": (np.float64, ""),
    "obs.share": (np.float64, ""),
    "obs.weight": (np.float64, ""),
    "obs.point": (np.float64, "d"),
    "belief.observation": (np.int64, ""),
    "belief.state": (np.int64, ""),
    "belief.probability": (np.float64, ""),
    "frame.step": (np.int64, ""),
    "frame.n_obs": (np.int64, ""),
    "frame.is_full": (np.bool_, ""),
    "frame.n_components": (np.int64, ""),
    "frame.n_removed": (np.int64, ""),
    "frame.n_rows": (np.int64, ""),
    "component.id": (np.int64, ""),
    "component.weight": (np.float64, ""),
    "component.mean": (np.float64, "d"),
    "component.covariance": (np.float64, "dd"),
    "component.is_fixed": (np.bool_, ""),
    "removed.id": (np.int64, ""),
    "row.state": (np.int64, ""),
    "row.action": (np.int64, ""),
    "row.visits": (np.float64, ""),
    "row.reward": (np.float64, ""),
    "row.end": (np.float64, ""),
    "row.n_next": (np.int64, ""),
    "next.state": (np.int64, ""),
    "next.count": (np.float64, ""),
    "full.q": (np.float64, "A"),
    "full.prior_mean": (np.float64, "d"),
    "full.prior_covariance": (np.float64, "dd"),
    "full.log_evidence": (np.float64, ""),
    "kept.frame": (np.int64, ""),
    "kept.point": (np.float64, "d"),
    "kept.state": (np.int64, ""),
}

# Table -> the number of its entries.
ENTRIES: dict[str, Length] = {
    "obs": "n_obs",
    "belief": "n_beliefs",
    "frame": "n_frames",
    "component": Total("frame.n_components"),
    "removed": Total("frame.n_removed"),
    "row": Total("frame.n_rows"),
    "next": Total("row.n_next"),
    "full": Total("frame.n_components", where="frame.is_full"),
    "kept": "n_kept",
}


NONE = -1  # no state, no action: the lowest whole number of a column, except of these
FROM_ZERO = {
    "obs.step",
    "belief.observation",
    "belief.state",
    "frame.step",
    "frame.n_obs",
    "frame.n_components",
    "frame.n_removed",
    "frame.n_rows",
    "row.action",
    "row.n_next",
}
INDEX_OF = {
    "obs.action": "A",
    "row.action": "A",
    "kept.frame": "n_frames",
    "belief.observation": "n_obs",
}
SHARES = {"obs.share", "obs.weight", "belief.probability"}


def _field(name: str, dtype: type[np.generic], letters: str) -> Field:
    """What a column may hold: one entry for each of its table."""
    shape = (ENTRIES[name.partition(".")[0]], *letters)
    if dtype is np.bool_:
        return flags(*shape)
    if dtype is np.int64:
        return whole(*shape, low=0 if name in FROM_ZERO else NONE, below=INDEX_OF.get(name))
    if name in SHARES:
        return floats(*shape, low=0.0, high=1.0 + SUM_ROUNDING)
    return floats(*shape, size=LARGEST_NUMBER)


SCHEMA: Schema = {
    **{name: _field(name, dtype, letters) for name, (dtype, letters) in COLUMNS.items()},
    "prior.dof": floats(1, low=0.0),
}


@dataclass(frozen=True)
class FrameRow:
    """What an action does in a state: tries, mean reward, chance of an end, next ids -> counts."""

    visits: float
    reward: float
    end: float
    next: dict[int, float]


@dataclass(frozen=True, eq=False)
class Frame:
    """The model after a step.

    Attributes:
        step: the last learning step that changed it.
        ids: (n_states,) sorted.
        weight, mean, covariance, is_fixed: of each, in that order.
        rows: what each action does in each state, as far as it was tried.
        n_actions: number of actions.
    """

    step: int
    ids: IntArray
    weight: FloatArray
    mean: FloatArray
    covariance: FloatArray
    is_fixed: BoolArray
    rows: dict[tuple[int, int], FrameRow]
    n_actions: int

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.ids)

    @property
    def means(self) -> FloatArray:
        """(n_states, n_features), under the name that an agent has for it."""
        return self.mean

    @property
    def covariances(self) -> FloatArray:
        """(n_states, n_features, n_features), under the name that an agent has for it."""
        return self.covariance

    @property
    def transition_counts(self) -> FloatArray:
        """(n_actions, n_states, n_states) expected counts."""
        place = {name: index for index, name in enumerate(self.ids.tolist())}
        counts = np.zeros((self.n_actions, self.n_states, self.n_states))
        for (state, action), row in self.rows.items():
            for after, count in row.next.items():
                if after in place:
                    counts[action, place[state], place[after]] = count
        return counts

    @property
    def end_probabilities(self) -> FloatArray:
        """(n_actions, n_states) probability that an action in a state ends the episode."""
        place = {name: index for index, name in enumerate(self.ids.tolist())}
        ends = np.zeros((self.n_actions, self.n_states))
        for (state, action), row in self.rows.items():
            ends[action, place[state]] = min(max(row.end, 0.0), 1.0)
        return ends

    @property
    def transition_matrix(self) -> FloatArray:
        """(n_actions, n_states, n_states) shares of the counts, if the episode goes on.

        All the same where an action was never tried, or has always ended the episode.
        """
        counts = self.transition_counts * (1.0 - self.end_probabilities)[..., None]
        totals = counts.sum(axis=-1, keepdims=True)
        even = np.full_like(counts, 1.0 / max(1, self.n_states))
        return np.where(totals > 0, counts / np.where(totals > 0, totals, 1.0), even)


@dataclass(frozen=True, eq=False)
class Chunk:
    """Part of a history: the arrays of docs/run-format.md, which fit each other."""

    first_step: int
    arrays: Arrays

    @property
    def n_actions(self) -> int:
        """Number of actions."""
        return int(self.arrays["full.q"].shape[1])

    @classmethod
    def of(cls, first_step: int, arrays: Arrays, n_features: int, n_actions: int) -> Chunk:
        """Check arrays that somebody else may have written."""
        chunk = cls(first_step, read(SCHEMA, arrays, {"d": n_features, "A": n_actions}))
        chunk._check_order()
        chunk._check_beliefs()
        return chunk

    def _check_order(self) -> None:
        """DataError if steps are not in order, or not those that follow `first_step`."""
        a = self.arrays
        for name in ("obs.step", "frame.step", "frame.n_obs", "belief.observation"):
            if (np.diff(a[name]) < 0).any():
                raise DataError(f"array '{name}' is not in order")
        last = self.first_step + len(a["obs.step"])  # each observation is a step, or a start
        for name in ("obs.step", "frame.step"):
            if (a[name] < self.first_step).any() or (a[name] > last).any():
                raise DataError(f"array '{name}' is not within {self.first_step} and {last}")
        if len(a["frame.step"]) and not a["frame.is_full"][0]:
            raise DataError("the first frame is not a full one")

    def _check_beliefs(self) -> None:
        """DataError if the probabilities of one observation sum to more than one."""
        totals = np.bincount(self.arrays["belief.observation"], self.arrays["belief.probability"])
        if (totals > 1.0 + SUM_ROUNDING).any():
            raise DataError(
                "array 'belief.probability': the probabilities of observation "
                f"{totals.argmax()} sum to {totals.max():g}, more than 1"
            )

    @property
    def last_step(self) -> int:
        """The last step that is in it."""
        steps = [*self.arrays["obs.step"][-1:], *self.arrays["frame.step"][-1:], self.first_step]
        return int(max(steps))

    def cut(self, n_observations: int, n_frames: int) -> Chunk:
        """The chunk as it was when it had so many observations and frames."""
        a = self.arrays
        if n_observations > len(a["obs.step"]) or n_frames > len(a["frame.step"]):
            raise DataError(f"the chunk is shorter than {n_observations} observations")
        n_rows = int(a["frame.n_rows"][:n_frames].sum())
        n_components = a["frame.n_components"][:n_frames]
        lengths = {
            "obs": n_observations,
            "frame": n_frames,
            "component": int(n_components.sum()),
            "removed": int(a["frame.n_removed"][:n_frames].sum()),
            "row": n_rows,
            "next": int(a["row.n_next"][:n_rows].sum()),
            "full": int(n_components[a["frame.is_full"][:n_frames]].sum()),
            "kept": int((a["kept.frame"] < n_frames).sum()),
            "belief": int((a["belief.observation"] < n_observations).sum()),
            "prior": 1,
        }
        cut = {name: array[: lengths[name.split(".")[0]]] for name, array in a.items()}
        return Chunk(self.first_step, cut)

    def frame_at(self, step: int) -> Frame | None:
        """The model after `step`; None if nothing was learned in this chunk by then."""
        a = self.arrays
        n_frames = int(np.searchsorted(a["frame.step"], step, side="right"))
        if n_frames == 0:
            return None
        full = int(np.flatnonzero(a["frame.is_full"][:n_frames])[-1])
        removed = self._parts("removed", "removed.id")
        known = self._parts("components", "component.id")
        states, actions = self._parts("rows", "row.state"), self._parts("rows", "row.action")
        components: dict[int, int] = {}  # id -> place in its table
        rows: dict[tuple[int, int], int] = {}
        for frame in range(full, n_frames):
            for name, _ in removed(frame):
                components.pop(name, None)
            components.update(known(frame))
            for (state, place), (action, _) in zip(states(frame), actions(frame), strict=True):
                rows[state, action] = place
        return self._frame(int(a["frame.step"][n_frames - 1]), components, rows)

    def _parts(self, table: str, column: str) -> Callable[[int], list[tuple[int, int]]]:
        """For a frame, the entries of a column that are its own, each with its place."""
        ends = np.concatenate([[0], np.cumsum(self.arrays[f"frame.n_{table}"])]).tolist()
        values = self.arrays[column].tolist()

        def part(frame: int) -> list[tuple[int, int]]:
            places = range(ends[frame], ends[frame + 1])
            return [(values[place], place) for place in places]

        return part

    def _frame(
        self, step: int, components: dict[int, int], rows: dict[tuple[int, int], int]
    ) -> Frame:
        a = self.arrays
        ids = np.array(sorted(components), dtype=np.intp)
        places = np.array([components[name] for name in ids.tolist()], dtype=np.intp)
        starts = np.concatenate([[0], np.cumsum(a["row.n_next"])]).tolist()
        table = {}
        for key, row in sorted(rows.items()):
            part = slice(starts[row], starts[row + 1])
            if key[0] in components and part.start < part.stop:
                after, counts = a["next.state"][part].tolist(), a["next.count"][part].tolist()
                table[key] = FrameRow(
                    float(a["row.visits"][row]),
                    float(a["row.reward"][row]),
                    float(a["row.end"][row]),
                    dict(zip(after, counts, strict=True)),
                )
        return Frame(
            step,
            ids,
            a["component.weight"][places],
            a["component.mean"][places],
            a["component.covariance"][places],
            a["component.is_fixed"][places],
            table,
            self.n_actions,
        )
