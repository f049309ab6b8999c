"""Model files: arrays and settings in one safetensors file, checked before anything is used."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from tgm.distributions.saved import Arrays
from tgm.errors import RunError

FORMAT = "tgm-model"
SCHEMA = 2

_ALLOWED_DTYPES = (np.float64, np.int64, np.bool_)


def write_model(path: Path, arrays: Arrays, facts: dict[str, Any]) -> None:
    """Write arrays and JSON facts to `path`, whole or not at all.

    The file is written under another name, synced and renamed: a reader or a crash sees the old
    file or the new one, never a part.
    """
    from safetensors.numpy import save

    # One entry: with several the library writes them in any order, and files would differ.
    header = {FORMAT: json.dumps({"schema": SCHEMA, "facts": facts}, sort_keys=True)}
    data = save({name: np.ascontiguousarray(array) for name, array in arrays.items()}, header)
    write_atomically(path, data)


def write_atomically(path: Path, data: bytes) -> None:
    """Put `data` at `path`, whole or not at all."""
    if not path.name:
        raise RunError(f"'{path}' is not the name of a file")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise RunError(f"{path}: cannot be written ({error.strerror or error})") from error


def read_model(path: Path) -> tuple[Arrays, dict[str, Any]]:
    """The arrays and facts of a model file, or a RunError that names what is wrong with it."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise RunError(f"{path}: there is no such model file")
    try:
        with safe_open(path, framework="numpy") as file:
            facts = _read_header(path, file.metadata() or {})
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise RunError(f"{path}: not a readable model file ({reason})") from None
    for name, array in arrays.items():
        if array.dtype.type not in _ALLOWED_DTYPES:
            raise RunError(f"{path}: array '{name}' has type {array.dtype}")
        if not np.isfinite(array).all():
            raise RunError(f"{path}: array '{name}' holds a value that is not finite")
    return arrays, facts


def _read_header(path: Path, header: dict[str, str]) -> dict[str, Any]:
    """The facts of a model file."""
    if FORMAT not in header:
        raise RunError(f"{path}: not a tgm model")
    try:
        content = json.loads(header[FORMAT])
    except (ValueError, RecursionError):
        raise RunError(f"{path}: its facts are not JSON") from None
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        schema = content.get("schema") if isinstance(content, dict) else None
        raise RunError(f"{path}: written with model schema {schema}; this version reads {SCHEMA}")
    if not isinstance(content.get("facts"), dict):
        raise RunError(f"{path}: its facts are not a JSON object")
    facts: dict[str, Any] = content["facts"]
    return facts
