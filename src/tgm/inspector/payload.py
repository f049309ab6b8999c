"""A run as the values that the page draws."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tgm.distributions import FloatArray
from tgm.envs import Maze
from tgm.errors import RunError, TGMError
from tgm.inspector.health import Finding, findings
from tgm.inspector.lineage import lanes_of
from tgm.inspector.log import Log, read_log, thinned
from tgm.inspector.plain import number, numbers, tame, text
from tgm.runs import Chunk, Frame, Run

METRICS_FILE = "metrics.jsonl"
MOST_CHUNKS = 20_000
MOST_CELLS = 20_000  # of a maze that is drawn
OUTLINE_EPISODES = 1_500
LONGEST_LOOK = 5_000  # observations from which the axes are laid
MOST_FEATURES_OF_PLANE = 200

# What a broken run may raise below a check that did not see it.
BROKEN = (TGMError, OSError, ValueError, TypeError, KeyError, IndexError, ArithmeticError)
BROKEN += (MemoryError, RecursionError, AttributeError, np.linalg.LinAlgError)


def entry(run: Run) -> dict[str, Any]:
    """One line of the list of runs."""
    status = run.status()
    return {
        "name": text(run.name),
        "agent": text(run.facts.get("agent")),
        "world": world_name(run.facts.get("world")),
        "seed": number(run.facts.get("seed")),
        "state": status.state,
        "planned": number(run.facts.get("steps")),
        "result": tame(status.result),
    }


def summary(run: Run) -> dict[str, Any]:
    """Everything about a run but its history."""
    status = run.status()
    log = read_log(run.folder / METRICS_FILE)
    chunk_steps = run.chunk_steps()[-MOST_CHUNKS:]
    maze, problem = _maze(run)
    frame, last, history_problem = _last_frame(run, chunk_steps)
    found = _findings(run, log, frame, maze)
    found += [Finding("problem", *words) for words in (problem, history_problem) if words]
    last_step = max(log.last_step, last.arrays["obs.step"].max(initial=0) if last else 0)
    final_ids = [] if frame is None else [int(id_) for id_ in frame.ids]
    return {
        **entry(run),
        "reason": text(status.reason),
        "started": text(run.facts.get("started")),
        "config": tame(run.facts.get("config")),
        "versions": tame(run.facts.get("versions")),
        "interface": _interface(run, last),
        "maze": _drawn(maze),
        "last_step": int(last_step),
        "chunks": chunk_steps,
        "log": {
            "series": log.series,
            "terms": log.terms,
            "trace": log.trace,
            "episodes": log.episodes,
            "moves": log.moves,
            "is_whole": log.is_whole,
        },
        "lanes": lanes_of(log, final_ids),
        "plane": _plane(last, maze),
        "health": [finding.to_dict() for finding in found],
    }


def outline(run: Run) -> dict[str, Any]:
    """What a comparison of runs needs."""
    log = read_log(run.folder / METRICS_FILE)
    maze, _ = _maze(run)
    rows = thinned(list(zip(*log.episodes.values(), strict=True)), OUTLINE_EPISODES)
    kept = thinned(list(range(len(log.series["step"]))), OUTLINE_EPISODES)
    return {
        **entry(run),
        "episodes": {
            name: [row[index] for row in rows] for index, name in enumerate(log.episodes)
        },
        "states": {
            "step": [log.series["step"][index] for index in kept],
            "n_states": [log.series["n_states"][index] for index in kept],
        },
        "last_step": log.last_step,
        "optimal_return": _optimal_return(maze),
    }


def chunk(run: Run, first_step: int) -> dict[str, Any]:
    """One piece of the history: each array flat under its name."""
    if first_step not in run.chunk_steps():
        raise RunError(f"{run.name}: no history begins at step {first_step}")
    arrays = run.chunk(first_step).arrays
    return {"first_step": first_step} | {name: numbers(array) for name, array in arrays.items()}


def pulse(run: Run) -> dict[str, Any]:
    """Whether there is news: cheap enough to be asked every second."""
    try:
        size = (run.folder / METRICS_FILE).stat().st_size
    except OSError:
        size = 0
    return {"state": run.status().state, "size": size, "chunks": len(run.chunk_steps())}


def world_name(world: object) -> str:
    """The world of a run in two words, from what run.json says of it."""
    if not isinstance(world, dict):
        return "unknown"
    maze = world.get("maze")
    if isinstance(maze, dict) and isinstance(maze.get("name"), str):
        return f"maze {text(maze['name'])}"
    return text(world.get("id")) or "unknown"


def _findings(run: Run, log: Log, frame: Frame | None, maze: Maze | None) -> list[Finding]:
    try:
        return findings(run.status(), run.facts.get("steps"), log, frame, maze)
    except BROKEN as error:
        return [Finding("problem", "The model cannot be judged", f"{error}")]


def _maze(run: Run) -> tuple[Maze | None, tuple[str, str] | None]:
    """The maze of the run if it lived in one that can be drawn, and what is wrong with it."""
    world = run.facts.get("world")
    if not isinstance(world, dict) or "maze" not in world:
        return None, None
    try:
        maze = run.world.maze
    except BROKEN as error:
        return None, ("The maze cannot be used", text(str(error)))
    if maze is not None and maze.width * maze.height > MOST_CELLS:
        return None, None
    return maze, None


def _drawn(maze: Maze | None) -> dict[str, Any] | None:
    if maze is None:
        return None
    return {
        "name": text(maze.name),
        "grid": list(maze.grid),
        "start": list(maze.start),
        "goal": list(maze.goal),
        "optimal_return": _optimal_return(maze),
    }


def _optimal_return(maze: Maze | None) -> float | None:
    if maze is None or not math.isfinite(maze.optimal_return):
        return None
    return float(maze.optimal_return)


def _last_frame(
    run: Run, chunk_steps: list[int]
) -> tuple[Frame | None, Chunk | None, tuple[str, str] | None]:
    """The model at the end, the last chunk, and what is wrong with the history."""
    if not chunk_steps:
        return None, None, None
    try:
        last = run.chunk(chunk_steps[-1])
        frame = run.frame_at(int(last.arrays["obs.step"].max(initial=chunk_steps[-1])))
    except BROKEN as error:
        return None, None, ("The history cannot be read", text(str(error)))
    return frame, last, None


def _interface(run: Run, last: Chunk | None) -> dict[str, Any]:
    """Features and actions, as run.json names them; counted from the history if it does not."""
    facts = run.facts.get("interface")
    facts = facts if isinstance(facts, dict) else {}
    names = facts.get("action_names")
    names = [text(name) for name in names[:1000]] if isinstance(names, list) else []
    n_features = 0 if last is None else int(last.arrays["obs.point"].shape[1])
    n_actions = len(names)
    if last is not None:
        n_actions = int(last.arrays["full.q"].shape[1])
    names += [f"action {index}" for index in range(len(names), n_actions)]
    return {"n_features": n_features, "n_actions": n_actions, "action_names": names[:n_actions]}


def _plane(last: Chunk | None, maze: Maze | None) -> dict[str, Any] | None:
    """Where the axes lie: the range of each feature, and the two principal directions."""
    if last is None:
        return None
    points: FloatArray = last.arrays["obs.point"][-LONGEST_LOOK:]
    if not len(points):
        return None
    low, high = points.min(axis=0), points.max(axis=0)
    if maze is not None and points.shape[1] == 2:
        low, high = np.full(2, -0.5), np.array([maze.width - 0.5, maze.height - 0.5])
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

