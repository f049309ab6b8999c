"""Files of arrays and facts: one safetensors file each, checked before anything is used."""

from __future__ import annotations

import errno
import json
import os
import sys
import zlib
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from tgm.errors import RunError
from tgm.files import parse_json, read_bytes
from tgm.files.arrays import Arrays

MODEL_FORMAT = "tgm-model"
SCHEMA = 2
MOST_BYTES = 2 * 2**30  # of a model, a checkpoint or a piece of history
MOST_HEADER_BYTES = 8 * 2**20
MOST_HEADER_VALUES = 200_000
BUFFER_BYTES = 1 << 16  # of a file while it is written: few calls, and no room to be made
# What file systems answer that sync files only; they keep the order of names by themselves or not.
NO_FOLDER_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EBADF, errno.ENOSYS)

_DTYPES = {np.float64: "F64", np.int64: "I64", np.bool_: "BOOL"}  # as the format calls them


def write_model(
    path: Path,
    arrays: Arrays,
    facts: dict[str, Any],
    check: Callable[[Path], object] | None = None,
) -> None:
    """Write a model file, whole or not at all; `check` reads it back first (`write_parts`)."""
    write_arrays(path, arrays, MODEL_FORMAT, facts, check=check)


def read_model(path: Path) -> tuple[Arrays, dict[str, Any]]:
    """The arrays and facts of a model file, or a RunError that names what is wrong with it."""
    return read_arrays(path, MODEL_FORMAT)


def write_arrays(
    path: Path,
    arrays: Arrays,
    format_name: str,
    facts: dict[str, Any],
    *,
    sync: bool = True,
    check: Callable[[Path], object] | None = None,
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
        check: see `write_parts`.
    """
    # Single bytes come last, so that all numbers are aligned.
    names = sorted(arrays, key=lambda name: (arrays[name].itemsize == 1, name))
    arrays = {name: arrays[name] for name in names}
    text = json.dumps(facts)
    content = {"schema": SCHEMA, "facts": text, "checksum": _checksum(arrays, text)}
    header = _header(arrays, {format_name: json.dumps(content)})
    # One by one, in the same room: new room for all of them takes longer than writing them.
    parts = (np.ascontiguousarray(array).data for array in arrays.values())
    write_parts(path, chain([header], parts), sync=sync, check=check)


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


def write_parts(
    path: Path,
    parts: Iterable[bytes | memoryview],
    *,
    sync: bool = True,
    check: Callable[[Path], object] | None = None,
) -> None:
    """Put parts one after the other at `path`, whole or not at all.

    Args:
        path: the file.
        parts: its content.
        sync: wait until content and name are on the disk, in this order. Without it a power cut can
            leave the new name with a part of the content.
        check: reads the file back before it gets its name; a RunError of it keeps the old file.
    """
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
        if check is not None:
            check(temporary)
        temporary.replace(path)
        if sync:
            sync_folder(path.parent)
    except OSError as error:
        _remove(temporary)
        raise RunError(f"{path}: cannot be written ({error.strerror or error})") from error
    except RunError as error:
        _remove(temporary)
        reason = str(error).removeprefix(f"{temporary}: ")
        raise RunError(
            f"{path}: was written but cannot be loaded ({reason}); it was removed, and what was "
            "saved before is kept"
        ) from error


def link_or_copy(path: Path, source: Path) -> None:
    """Put a file that never changes at another `path` too, and wait until the name is on disk."""
    try:
        path.unlink(missing_ok=True)
        os.link(source, path)
        sync_folder(path.parent)
    except OSError:  # a file system without links
        write_atomically(path, source.read_bytes())


def sync_file(path: Path) -> None:
    """Wait until the content of a file is on the disk."""
    file = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    try:
        os.fsync(file)
    finally:
        os.close(file)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a directory are on the disk, where the system can say so."""
    if sys.platform == "win32":
        return  # it cannot open directories
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    except OSError as error:
        if error.errno not in NO_FOLDER_SYNC:
            raise
    finally:
        os.close(file)


def read_arrays(path: Path, format_name: str) -> tuple[Arrays, dict[str, Any]]:
    """The arrays and facts of a file of this kind, or a RunError that names what is wrong."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    if not path.is_file():
        raise RunError(f"{path}: there is no such file")
    data = read_bytes(path, MOST_BYTES)
    content = _content(path, _header_of(path, data, format_name), format_name)
    try:
        arrays: Arrays = load(data)
    except (SafetensorError, ValueError, TypeError, AttributeError, MemoryError) as error:
        reason = " ".join(str(error).split())
        raise RunError(f"{path}: not a readable {format_name} file ({reason})") from None
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise RunError(f"{path}: array '{name}' holds a value that is not finite")
    if content.get("checksum") != _checksum(arrays, content["facts"]):
        raise RunError(f"{path}: damaged: its checksum does not fit its content")
    facts = parse_json(content["facts"], f"{path}: its facts", MOST_HEADER_VALUES)
    if not isinstance(facts, dict):
        raise RunError(f"{path}: its facts are not a JSON object")
    return arrays, facts


def _header_of(path: Path, data: bytes, format_name: str) -> dict[str, Any]:
    """What a safetensors file says of itself and of its arrays, whose types are checked."""
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > len(data) - 8:
        raise RunError(f"{path}: not a readable {format_name} file (its header is cut short)")
    if length > MOST_HEADER_BYTES:
        raise RunError(f"{path}: a header of over {MOST_HEADER_BYTES} bytes")
    header = parse_json(data[8 : 8 + length], f"{path}: its header", MOST_HEADER_VALUES)
    if not isinstance(header, dict) or not all(isinstance(one, dict) for one in header.values()):
        raise RunError(f"{path}: not a readable {format_name} file (its header is no table)")
    for name, entry in header.items():
        if name != "__metadata__" and entry.get("dtype") not in _DTYPES.values():
            raise RunError(f"{path}: array '{name}' has type {entry.get('dtype')}")
    return header


def _content(path: Path, header: dict[str, Any], format_name: str) -> dict[str, Any]:
    """Schema, facts and checksum, as `write_arrays` put them into the header."""
    text = header.get("__metadata__", {}).get(format_name)
    if not isinstance(text, str):
        raise RunError(f"{path}: not a {format_name} file")
    content = parse_json(text, f"{path}: its header", MOST_HEADER_VALUES)
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        schema = content.get("schema") if isinstance(content, dict) else None
        raise RunError(f"{path}: written with schema {schema}; this version reads {SCHEMA}")
    if not isinstance(content.get("facts"), str):
        raise RunError(f"{path}: its facts are not JSON")
    return content


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
