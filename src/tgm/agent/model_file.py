"""Model files: the arrays of an agent and its metadata, in one file of `tgm.files.store`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tgm.files.arrays import Arrays
from tgm.files.store import read_arrays, write_arrays

MODEL_FORMAT = "tgm-model"


def write_model(
    path: Path,
    arrays: Arrays,
    metadata: dict[str, Any],
    check: Callable[[Path], object] | None = None,
) -> None:
    """Write a model file, whole or not at all; `check` reads it back first (`write_parts`)."""
    write_arrays(path, arrays, MODEL_FORMAT, metadata, check=check)


def read_model(path: Path) -> tuple[Arrays, dict[str, Any]]:
    """The arrays and metadata of a model file, or a RunError that names what is wrong with it."""
    return read_arrays(path, MODEL_FORMAT)
