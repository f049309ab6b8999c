"""The JSON values that the page draws, made from a run."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from tgm.agent.spaces import Interface
from tgm.distributions import FloatArray
from tgm.envs import EnvSpec, Maze, facts_of
from tgm.errors import RunError
from tgm.inspector.catalogue import LARGEST_CHUNK
from tgm.inspector.entries import BROKEN, entry, without_path, world_of
from tgm.inspector.field import field_of
from tgm.inspector.finding import Finding, serious, worst_first
from tgm.inspector.health import findings, flows
from tgm.inspector.lineage import lanes_of
from tgm.inspector.log import read_log, thinned
from tgm.inspector.plain import array_bytes, bounded_json, numbers, text, to_bytes
from tgm.planning.model_planner import TRIED
from tgm.runs import Chunk, Frame, Run
from tgm.runs.folder import HISTORY_FOLDER, METRICS_FILE, MODEL_FILE
from tgm.runs.replay import with_all_frames
from tgm.runs.result import texts

MOST_CHUNKS = 20_000
MOST_NUMBERS = 3_500_000  # of a chunk that is sent: 5,000 steps with 24 features
OUTLINE_EPISODES = 500
PLANE_OBSERVATIONS = 5_000  # the latest ones, which set the ranges of the axes
MOST_FEATURES_OF_PLANE = 200
MOST_ACTIONS = 1_000
TAIL = 2  # chunks at the end of a history, from which the page begins
MOST_PROBLEMS = 20  # chunks that cannot be read, after which no older one is tried
UNREADABLE = "A part of the history cannot be read"
_NUMBERED = re.compile(r"observation(\[[0-9,]+\])+")  # a name that is nothing but a place


def summary(run: Run) -> dict[str, Any]:
    """Everything about a run except its history."""
    view = _View(run)
    status, log, world, frame, tail = view.status, view.log, view.world, view.frame, view.tail
    chunk_steps, last_step, maze = view.chunk_steps, view.last_step, world.maze
    final_ids = [] if frame is None else [int(id_) for id_ in frame.ids]
    return {
        **entry(run),
        "reason": status.reason,
        "config": bounded_json(run.metadata.get("config")),
        "versions": bounded_json(run.metadata.get("versions")),
        "interface": _interface(run, tail, status.result),
        "maze": _drawn(world),
        "last_step": last_step,
        "chunks": chunk_steps,
        "log": {
            "series": log.series,
            "terms": log.terms,
            "paths": log.paths,
            "episodes": log.episodes,
            "moves": log.moves,
            "is_whole": log.is_whole,
        },
        "lanes": lanes_of(log, final_ids, tail),
        "plane": _plane(tail, maze),
        "flows": frame is not None and flows(frame),
        "tried": TRIED,
        "health": [finding.to_dict() for finding in view.findings()],
    }


def remarks(run: Run) -> tuple[str, ...]:
    """The titles of the warnings and problems of the Health tab: the commands say the same."""
    return serious(_View(run).findings())


class _View:
    """What is read of a run once: its log, its world, the end of its history."""

    def __init__(self, run: Run) -> None:
        self._run = run
        status = run.status()
        self.status = replace(status, reason=without_path(run, status.reason))
        self.log = read_log(run.folder / METRICS_FILE)
        self.chunk_steps = run.chunk_steps()[-MOST_CHUNKS:]
        self.world, problem = world_of(run)
        self.frame, self.tail, history_problems = _end_of_history(run, self.chunk_steps)
        self.last_step = max([self.log.last_step, *(chunk.last_step for chunk in self.tail)])
        self._problems = [*([problem] if problem else []), *history_problems]

    def findings(self) -> list[Finding]:
        """All findings about the run, the worst first."""
        steps = (self.last_step, self._run.metadata["steps"])
        try:
            found = findings(self.status, steps, self.log, self.frame, self.world)
        except BROKEN as error:
            words = without_path(self._run, error)
            found = [Finding("problem", "The model cannot be judged", words)]
        found += [Finding("problem", *words) for words in self._problems]
        return worst_first(found)


def outline(run: Run) -> dict[str, Any]:
    """The part of a run that a comparison of runs needs."""
    log = read_log(run.folder / METRICS_FILE)
    world, _ = world_of(run)
    rows = thinned(list(zip(*log.episodes.values(), strict=True)), OUTLINE_EPISODES)
    kept = thinned(list(range(len(log.series["step"]))), OUTLINE_EPISODES)
    return {
        **entry(run),
        "episodes": {name: [row[index] for row in rows] for index, name in enumerate(log.episodes)},
        "states": {
            "step": [log.series["step"][index] for index in kept],
            "n_states": [log.series["n_states"][index] for index in kept],
        },
        "last_step": log.last_step,
        "optimal_return": _optimal_return(world),
    }


def chunk(run: Run, first_step: int) -> dict[str, Any]:
    """One chunk of the history: each array flat under its name."""
    arrays = _named_chunk(run, first_step).arrays
    return {"first_step": first_step} | {name: numbers(array) for name, array in arrays.items()}


def chunk_or_problem(run: Run, first_step: int) -> dict[str, Any]:
    """The same; of one that cannot be read what is wrong, as the server would answer."""
    try:
        return chunk(run, first_step)
    except BROKEN as error:
        return {"error": without_path(run, error)}


def chunk_bytes(run: Run, first_step: int) -> bytes:
    """`chunk` as JSON, made without a list of all its numbers."""
    parts = [
        to_bytes(name) + b":" + array_bytes(array)
        for name, array in _named_chunk(run, first_step).arrays.items()
    ]
    return b",".join([b'{"first_step":%d' % first_step, *parts]) + b"}"


def field(run: Run) -> dict[str, Any] | None:
    """Value, policy and laws over pairs of features; None where there are no laws, or no model."""
    files = [run.folder / MODEL_FILE, *(path for _, path in run.checkpoints())]
    return _field(run.folder, _changed(run.folder / HISTORY_FOLDER), tuple(map(_changed, files)))


@lru_cache(maxsize=8)
def _field(folder: Path, history: str, models: tuple[str, ...]) -> dict[str, Any] | None:
    """The field of a run as its files are now; their state is part of the cache key."""
    if any(int(size.partition(":")[0]) > LARGEST_CHUNK for size in models if size):
        return None
    try:
        run = Run.open(folder)
        tail = _end_of_history(run, run.chunk_steps())[1]
        return field_of(run.agent(), _latest(tail)) if tail else None
    except BROKEN:
        return None  # what is wrong with the run is said elsewhere


def pulse(run: Run) -> dict[str, Any]:
    """Values that change when the run changes; cheap enough to be requested every second."""
    return {
        "state": run.status().state,
        "log": _changed(run.folder / METRICS_FILE),
        "history": _changed(run.folder / HISTORY_FOLDER),
    }


def _changed(path: Path) -> str:
    """A text that changes when the file, or the content of the directory, changes."""
    try:
        status = path.stat()
    except OSError:
        return ""
    return f"{status.st_size}:{status.st_mtime_ns}"


def _drawn(world: EnvSpec) -> dict[str, Any] | None:
    maze = world.maze
    if maze is None:
        return None
    return {
        "name": text(maze.name),
        "grid": list(maze.grid),
        "start": list(maze.start),
        "goal": list(maze.goal),
        "optimal_return": _optimal_return(world),
        "unsolvable": maze.why_unsolvable(world.episode_limit),
    }


def _optimal_return(world: EnvSpec) -> float | None:
    """The best return of an episode with the run's step limit; None if there is none."""
    return None if world.maze is None else facts_of(world).optimal_return


def _end_of_history(
    run: Run, chunk_steps: list[int]
) -> tuple[Frame | None, list[Chunk], list[tuple[str, str]]]:
    """The last model, the last two chunks that can be read, and a problem for each later one."""
    tail: list[Chunk] = []
    problems: list[tuple[str, str]] = []
    frame = None
    for first in reversed(chunk_steps):
        try:
            last = _chunk(run, first)
            frame = last.frame_at(last.last_step) if frame is None else frame
            tail.insert(0, last)
        except BROKEN as error:
            problems.append((UNREADABLE, without_path(run, error)))
        if len(tail) == TAIL or len(problems) == MOST_PROBLEMS:
            break
    if problems and not tail:
        problems = [("The history cannot be read", problems[0][1])]
    return frame, tail, problems


def _named_chunk(run: Run, first_step: int) -> Chunk:
    """The chunk that begins at `first_step`; RunError if there is none."""
    if first_step not in run.chunk_steps():
        raise RunError(f"{run.name}: no history begins at step {first_step}")
    return _chunk(run, first_step)


def _chunk(run: Run, first_step: int) -> Chunk:
    return _decoded(run.folder, first_step, _changed(run.folder / HISTORY_FOLDER))


@lru_cache(maxsize=4)
def _decoded(folder: Path, first_step: int, changed: str) -> Chunk:
    """A chunk with all frames. `changed` is part of the cache key: a written file is read again."""
    stored = Run.open(folder).chunk_file(first_step)
    whole = None if _n_added(stored) > MOST_NUMBERS else with_all_frames(stored)
    if whole is None or sum(array.size for array in whole.arrays.values()) > MOST_NUMBERS:
        raise RunError(f"{folder.name}: the history at step {first_step} is too large to be drawn")
    return whole


def _n_added(stored: Chunk) -> int:
    """Numbers in the means and covariances of the frames that are not in the file."""
    n_features = int(stored.arrays["obs.point"].shape[1])
    return int((stored.arrays["obs.share"] > 0).sum()) * n_features * (n_features + 1)


def _interface(run: Run, tail: list[Chunk], result: dict[str, Any]) -> dict[str, Any]:
    """Features and actions, counted in the history, which was checked."""
    interface = run.metadata["interface"]
    names = interface.get("action_names")
    names = [text(name) for name in names[:MOST_ACTIONS]] if isinstance(names, list) else []
    n_features = int(tail[-1].arrays["obs.point"].shape[1]) if tail else 0
    n_actions = tail[-1].n_actions if tail else len(names)
    names += [f"action {index}" for index in range(len(names), n_actions)]
    features = Interface.from_dict(interface) if interface else None
    is_whole = features is not None and features.n_features == n_features
    known = features.feature_names if is_whole and features is not None else ()
    left_out = texts(result.get("left_out"), most=MOST_FEATURES_OF_PLANE)
    return {
        "n_features": n_features,
        "n_actions": n_actions,
        "action_names": names[:n_actions],
        "feature_names": _short_names(known, n_features),
        "left_out": [k for k, name in enumerate(known) if name in left_out],
        "is_categorical": features is not None and bool(features.is_categorical.all()),
    }


def _short_names(known: tuple[str, ...], n_features: int) -> list[str]:
    """The names of the environment; x1, x2 and so on where it has given none."""
    names = [text(name) for name in known] or [""] * n_features
    return [
        f"x{k + 1}" if not name or _NUMBERED.fullmatch(name) else name
        for k, name in enumerate(names)
    ]


def _latest(tail: list[Chunk]) -> FloatArray:
    """(n, n_features) the latest observations."""
    points = np.concatenate([chunk.arrays["obs.point"] for chunk in tail])
    return np.asarray(points[-PLANE_OBSERVATIONS:])


def _plane(tail: list[Chunk], maze: Maze | None) -> dict[str, Any] | None:
    """The axes: the range of each feature, and the two principal directions."""
    if not tail:
        return None
    points = _latest(tail)
    if not len(points):
        return None
    low, high = points.min(axis=0), points.max(axis=0)
    if maze is not None and points.shape[1] == 2:
        # The floor, and a part of the walls around it.
        cells = np.array(maze.cells, dtype=float)
        low, high = cells.min(axis=0) - 0.8, cells.max(axis=0) + 0.8
    mean = points.mean(axis=0)
    directions = np.eye(points.shape[1])[:2]
    if 2 < points.shape[1] <= MOST_FEATURES_OF_PLANE:
        _, vectors = np.linalg.eigh(np.cov(points.T)) if len(points) > 1 else (0, directions.T)
        directions = vectors[:, ::-1].T[:2]
    along = points @ directions.T
    return {
        "low": numbers(low),
        "high": numbers(high),
        "principal_low": numbers(along.min(axis=0)),
        "principal_high": numbers(along.max(axis=0)),
        "mean": numbers(mean),
        "directions": [numbers(direction) for direction in directions],
    }
