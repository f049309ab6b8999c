"""Reads run directories."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tgm.agent import TGMAgent
from tgm.errors import RunError
from tgm.runs.world import World
from tgm.runs.writer import METRICS_FILE, MODEL_FILE, RUN_FILE, SCHEMA, SNAPSHOT_FOLDER


@dataclass(frozen=True)
class Run:
    """A run directory that was found to be one.

    Attributes:
        folder: where it is.
        facts: what run.json says.
    """

    folder: Path
    facts: dict[str, Any]

    @classmethod
    def open(cls, folder: Path) -> Run:
        """The run in `folder`, or a RunError that says why there is none."""
        path = folder / RUN_FILE
        try:
            facts = json.loads(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            raise RunError(f"{folder}: not a run (there is no {RUN_FILE} in it)") from None
        except (OSError, ValueError, RecursionError) as error:
            raise RunError(f"{path}: cannot be read ({error})") from None
        if not isinstance(facts, dict) or facts.get("schema") != SCHEMA:
            seen = facts.get("schema") if isinstance(facts, dict) else type(facts).__name__
            raise RunError(f"{path}: schema {seen!r}; this version reads {SCHEMA}")
        return cls(folder, facts)

    @property
    def world(self) -> World:
        """The environment of the run."""
        return World.from_dict(self.facts.get("world"))

    def agent(self) -> TGMAgent:
        """The final agent, or the newest snapshot of a run that did not finish."""
        final = self.folder / MODEL_FILE
        if final.exists():
            return TGMAgent.load(final)
        for _, agent in reversed(list(self._snapshot_files())):
            return TGMAgent.load(agent)
        raise RunError(f"{self.folder}: no model was saved yet")

    def snapshots(self) -> Iterator[tuple[int, TGMAgent]]:
        """(step, agent) after each learning step, in order."""
        for step, path in self._snapshot_files():
            yield step, TGMAgent.load(path)

    def metrics(self) -> Iterator[dict[str, Any]]:
        """The records of the learning steps; a line that is still being written is left out."""
        path = self.folder / METRICS_FILE
        if not path.exists():
            return
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith("\n"):
                    return
                try:
                    yield json.loads(line)
                except json.JSONDecodeError as error:
                    raise RunError(f"{path}:{number}:{error.colno}: {error.msg}") from None

    def _snapshot_files(self) -> list[tuple[int, Path]]:
        files = (self.folder / SNAPSHOT_FOLDER).glob("*.safetensors")
        return sorted((int(path.stem), path) for path in files if path.stem.isdecimal())
