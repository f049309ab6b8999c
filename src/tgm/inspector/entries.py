"""A run as one line of a list: what it is, its settings, its outcome, what a person said of it."""

from __future__ import annotations

from typing import Any

from tgm.envs import EnvSpec
from tgm.errors import TGMError
from tgm.inspector.plain import bounded_json, number, text, to_bytes
from tgm.runs import Run
from tgm.runs.notes import read_notes
from tgm.runs.summary import solved_of

MOST_CELLS = 20_000  # of a maze that is drawn
MOST_SETTINGS = 100

# What reading a broken run may raise where no check found the fault.
BROKEN = (
    TGMError,
    OSError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    MemoryError,
    RecursionError,
)


def entry(run: Run) -> dict[str, Any]:
    """One line of the list of runs."""
    status = run.status()
    notes = read_notes(run.folder)
    return {
        "name": text(run.name),
        "agent": text(run.metadata.get("agent")),
        "world": world_name(run.metadata.get("world")),
        "seed": number(run.metadata.get("seed")),
        "started": text(run.metadata.get("started")),
        "state": status.state,
        "planned": number(run.metadata.get("steps")),
        "result": bounded_json(status.result),
        "solved": solved_of(status.result, world_of(run)[0]),
        "settings": settings_of(run.metadata),
        "tags": [text(tag) for tag in notes.tags],
        "note": text(notes.note),
    }


def settings_of(metadata: dict[str, Any]) -> dict[str, Any]:
    """All settings of a run by name, those of its environment after "world."; nested ones flat."""
    flat: dict[str, Any] = {}

    def add(prefix: str, value: object) -> None:
        if isinstance(value, dict) and prefix.count(".") < 3:
            for name, one in list(value.items())[:MOST_SETTINGS]:
                add(f"{prefix}.{text(name)}" if prefix else text(name), one)
        elif len(flat) < MOST_SETTINGS:
            plain = bounded_json(value)
            flat[prefix] = text(to_bytes(plain).decode()) if isinstance(plain, list) else plain

    world = metadata.get("world")
    add("", metadata.get("config"))
    add("world", world.get("settings") if isinstance(world, dict) else None)
    return {name: value for name, value in flat.items() if name and value is not None}


def without_path(run: Run, words: object) -> str:
    """The text of an error or a reason, with the run's name instead of its path."""
    return text(str(words).replace(str(run.folder), run.name))


def world_name(world: object) -> str:
    """A short name of the environment, from the `world` entry of run.json."""
    if not isinstance(world, dict):
        return "unknown"
    maze = world.get("maze")
    if isinstance(maze, dict) and isinstance(maze.get("name"), str):
        return f"maze {text(maze['name'])}"
    module = text(world.get("module"))
    name = text(world.get("id")) or text(world.get("label"))
    return (f"{module}:" if module else "") + name or "unknown"


def world_of(run: Run) -> tuple[EnvSpec, tuple[str, str] | None]:
    """The environment, with its maze if that can be drawn, and a problem if there is one."""
    unknown = EnvSpec("", is_whole=False)
    kept = run.metadata.get("world")
    if not isinstance(kept, dict) or "maze" not in kept:
        return unknown, None
    try:
        world = run.world
    except BROKEN as error:
        return unknown, ("The maze cannot be used", without_path(run, error))
    if world.maze is not None and world.maze.width * world.maze.height > MOST_CELLS:
        return unknown, None
    return world, None
