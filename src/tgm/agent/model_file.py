"""Files of arrays and facts: one safetensors file each, checked before anything is used."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from tgm.distributions.saved import Arrays
from tgm.errors import RunError

MODEL_FORMAT = "tgm-model"
SCHEMA = 2
BUFFER_BYTES = 1 << 16  # of a file while it is written: few calls, and no room to be made

_DTYPES = {np.float64: "F64", np.int64: "I64", np.bool_: "BOOL"}  # as the format calls them


def write_model(path: Path, arrays: Arrays, facts: dict[str, Any]) -> None:
    """Write a model file, whole or not at all."""
    write_arrays(path, arrays, MODEL_FORMAT, facts)


def read_model(path: Path) -> tuple[Arrays, dict[str, Any]]:
    """The arrays and facts of a model file, or a RunError that names what is wrong with it."""
    return read_arrays(path, MODEL_FORMAT)


def write_arrays(
    path: Path, arrays: Arrays, format_name: str, facts: dict[str, Any], *, sync: bool = True
) -> None:
    """Write arrays and JSON facts to `path`, whole or not at all.

    The file is written under another name, synced and renamed: a reader or a crash sees the old
    file or the new one, never a part.

    Args:
        path: the file.
        arrays: float64, int64 and bool.
        format_name: what kind of file it is.
        facts: anything that JSON can hold.
        sync: wait until it is on the disk.
    """
    # Single bytes come last, so that all numbers are aligned.
    names = sorted(arrays, key=lambda name: (arrays[name].itemsize == 1, name))
    arrays = {name: arrays[name] for name in names}
    text = json.dumps(facts)
    content = {"schema": SCHEMA, "facts": text, "checksum": _checksum(arrays, text)}
    header = _header(arrays, {format_name: json.dumps(content)})
    # One by one, in the same room: new room for all of them takes longer than writing them.
    parts = (np.ascontiguousarray(array).data for array in arrays.values())
    write_parts(path, chain([header], parts), sync=sync)


def _header(arrays: Arrays, metadata: dict[str, str]) -> bytes:
    """What a safetensors file begins with: its length, and where each array is, as JSON.

    The library's own writer copies all arrays twice, which is most of what writing takes.
    """
    entries: dict[str, Any] = {"__metadata__": metadata}
    end = 0
    for name, array in arrays.items():
        start, end = end, end + array.nbytes
        kind, shape = _DTYPES[array.dtype.type], list(array.shape)
        entries[name] = {"dtype": kind, "shape": shape, "data_offsets": [start, end]}
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def write_atomically(path: Path, data: bytes) -> None:
    """Put `data` at `path`, whole or not at all."""
    write_parts(path, [data])


def write_parts(path: Path, parts: Iterable[bytes | memoryview], *, sync: bool = True) -> None:
    """Put parts one after the other at `path`, whole or not at all; `sync` waits for the disk."""
    if not path.name:
        raise RunError(f"'{path}' is not the name of a file")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.unlink(missing_ok=True)
        # Never through a link that somebody left there.
        with temporary.open("xb", buffering=BUFFER_BYTES) as file:
            file.writelines(parts)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        _remove(temporary)
        raise RunError(f"{path}: cannot be written ({error.strerror or error})") from error


def read_arrays(path: Path, format_name: str) -> tuple[Arrays, dict[str, Any]]:
    """The arrays and facts of a file of this kind, or a RunError that names what is wrong."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise RunError(f"{path}: there is no such file")
    try:
        with safe_open(path, framework="numpy") as file:
            content = _read_header(path, file.metadata() or {}, format_name)
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, TypeError, AttributeError, MemoryError) as error:
        reason = " ".join(str(error).split())
        raise RunError(f"{path}: not a readable {format_name} file ({reason})") from None
    for name, array in arrays.items():
        if array.dtype.type not in _DTYPES:
            raise RunError(f"{path}: array '{name}' has type {array.dtype}")
        if not np.isfinite(array).all():
            raise RunError(f"{path}: array '{name}' holds a value that is not finite")
    if content.get("checksum") != _checksum(arrays, content["facts"]):
        raise RunError(f"{path}: damaged: its checksum does not fit its content")
    return arrays, _facts(path, content["facts"])


def _read_header(path: Path, header: dict[str, str], format_name: str) -> dict[str, Any]:
    if format_name not in header:
        raise RunError(f"{path}: not a {format_name} file")
    try:
        content = json.loads(header[format_name])
    except (ValueError, RecursionError):
        raise RunError(f"{path}: its header is not JSON") from None
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        schema = content.get("schema") if isinstance(content, dict) else None
        raise RunError(f"{path}: written with schema {schema}; this version reads {SCHEMA}")
    if not isinstance(content.get("facts"), str):
        raise RunError(f"{path}: its facts are not JSON")
    return content


def _facts(path: Path, text: str) -> dict[str, Any]:
    try:
        facts = json.loads(text)
    except (ValueError, RecursionError):
        raise RunError(f"{path}: its facts are not JSON") from None
    if not isinstance(facts, dict):
        raise RunError(f"{path}: its facts are not a JSON object")
    return facts


def _checksum(arrays: Arrays, facts: str) -> int:
    """CRC-32 of everything, against damage (not against malice)."""
    checksum = zlib.crc32(facts.encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        checksum = zlib.crc32(f"{name} {array.dtype.str} {array.shape}".encode(), checksum)
        checksum = zlib.crc32(array.data, checksum)
    return checksum


def _remove(path: Path) -> None:
    """Remove a file if that is possible."""
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return
