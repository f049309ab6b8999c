"""Writes a run directory while an agent learns. docs/run-format.md describes it."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

from tgm.agent import LearningInfo, TGMAgent
from tgm.agent.model_file import write_atomically
from tgm.errors import RunError
from tgm.runs.world import World

SCHEMA = 1
SNAPSHOT_EVERY = 100  # steps
RUN_FILE, METRICS_FILE, MODEL_FILE, SNAPSHOT_FOLDER = (
    "run.json",
    "metrics.jsonl",
    "model.safetensors",
    "snapshots",
)


class RunWriter:
    """Owner of one run directory. Give `record` to `TGMAgent.learn` as its callback."""

    def __init__(self, folder: Path, agent: TGMAgent, world: World) -> None:
        """Begin a run in a folder that does not exist yet.

        Args:
            folder: where; refused if it exists, so that no run is ever overwritten.
            agent: the agent that will learn.
            world: the environment it lives in.
        """
        try:
            folder.mkdir(parents=True)
            (folder / SNAPSHOT_FOLDER).mkdir()
        except FileExistsError:
            raise RunError(f"{folder}: exists already; choose another --out") from None
        except OSError as error:
            raise RunError(f"{folder}: cannot be made ({error.strerror})") from None
        self.folder = folder
        self._agent = agent
        facts = {
            "schema": SCHEMA,
            "world": world.to_dict(),
            "config": asdict(agent.config),
            "seed": agent.seed,
            "versions": _versions(),
        }
        _write_json(folder / RUN_FILE, facts)

    def record(self, info: LearningInfo) -> None:
        """Append the record of a step if there is news, and keep a snapshot if it is time."""
        is_time = info.step % SNAPSHOT_EVERY == 0
        if not (is_time or info.episodes or any(move.accepted for move in info.moves)):
            return
        line = json.dumps(info.to_dict()) + "\n"
        try:
            with (self.folder / METRICS_FILE).open("a", encoding="utf-8") as file:
                file.write(line)
        except OSError as error:
            raise RunError(f"{self.folder}: cannot be written ({error.strerror})") from None
        if is_time:
            self._agent.save(self.folder / SNAPSHOT_FOLDER / f"{info.step:08d}.safetensors")

    def finish(self) -> None:
        """Write the final model."""
        self._agent.save(self.folder / MODEL_FILE)


def _write_json(path: Path, facts: dict[str, Any]) -> None:
    write_atomically(path, (json.dumps(facts, indent=2) + "\n").encode())


def _versions() -> dict[str, str]:
    packages = ("temporal-gaussian-mixture", "numpy", "scipy", "gymnasium")
    return {"python": platform.python_version()} | {
        name: metadata.version(name) for name in packages
    }
