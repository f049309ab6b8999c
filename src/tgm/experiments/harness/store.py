"""The folder of a study's results: one small file for each trial, never overwritten."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Generic

from tgm import __version__
from tgm.errors import ConfigError, RunError, TGMError
from tgm.experiments.harness.plain import as_folder, from_plain, to_plain
from tgm.experiments.harness.pool import Result, Trial
from tgm.files import parse_json, read_bytes, write_new

SCHEMA = 1
LARGEST_TRIAL = 10_000_000  # bytes of the file of a trial: over 100,000 checks
MOST_IN_TRIAL = 1_000_000  # values in it
LONGEST_NAME = 100  # characters of a trial's name in the name of its file


class ResultStore(Generic[Trial, Result]):
    """Owner of a folder of results."""

    files = "*.json"

    def __init__(self, folder: Path, trial_type: type[Trial], result_type: type[Result]) -> None:
        """Use `folder`, which is made before the first trial is run."""
        self.folder = folder
        self.trial_type, self.result_type = trial_type, result_type
        if folder.exists() and not folder.is_dir():
            raise ConfigError(f"{folder} is a file; --out names a folder")

    def prepare(self) -> None:
        """Make the folder; a ConfigError now, and not after an hour, if it cannot be written."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            reason = "" if os.access(self.folder, os.W_OK) else "no permission"
        except OSError as error:
            reason = error.strerror or str(error)
        if reason:
            raise ConfigError(f"{self.folder}: cannot be written ({reason}); choose another --out")

    def path(self, trial: Trial) -> Path:
        """The file of a trial: its name, and a digest of all that describes it."""
        described = json.dumps(to_plain(trial), sort_keys=True).encode()
        digest = hashlib.sha256(described).hexdigest()[:12]
        return self.folder / f"{as_folder(trial.name)[:LONGEST_NAME]}-{digest}.json"

    def types_of(self, trial: dict[str, Any]) -> tuple[type[Trial], type[Result]]:
        """The types of a trial that was read, and of its result."""
        return self.trial_type, self.result_type

    def find(self, trial: Trial) -> Result | None:
        """The result of a trial that was finished before, or None.

        A file of another trial under the same name is an error: two kinds of results must not end
        up in one table.
        """
        path = self.path(trial)
        if not path.exists():
            return None
        stored, result = self.read(path)
        if stored != trial:
            raise ConfigError(
                f"{path} holds another trial (its maze, noise, episode limit, threshold or checks "
                "differ); choose another --out"
            )
        return result

    def add(self, trial: Trial, result: Result) -> None:
        """Write the file of a finished trial, whole or not at all; an earlier one stays."""
        content = {
            "schema": SCHEMA,
            "version": __version__,
            "trial": to_plain(trial),
            "result": to_plain(result),
        }
        write_new(self.path(trial), (json.dumps(content, allow_nan=False) + "\n").encode())

    def trials(self) -> Iterator[tuple[Trial, Result]]:
        """All finished trials with their results, by the names of their files."""
        return (self.read(path) for path in sorted(self.folder.glob(self.files)))

    def read(self, path: Path) -> tuple[Trial, Result]:
        """The content of a file that `add` wrote; a RunError that names the file if it is not."""
        try:
            content = parse_json(read_bytes(path, LARGEST_TRIAL), path, MOST_IN_TRIAL)
            if content["schema"] != SCHEMA:
                raise RunError(f"schema {content['schema']!r}; this version reads {SCHEMA}")
            trial_type, result_type = self.types_of(content["trial"])
            trial = from_plain(trial_type, content["trial"])
            return trial, from_plain(result_type, content["result"])
        except (OSError, ValueError, KeyError, TypeError, TGMError) as error:
            raise RunError(
                f"{path}: not the file of a trial ({error}); remove it to redo it"
            ) from None
