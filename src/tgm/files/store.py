"""Files of arrays: safetensors files with metadata (JSON) and a checksum in their header."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from tgm.errors import RunError
from tgm.files.arrays import Arrays
from tgm.files.atomic import write_parts
from tgm.files.format import FORMAT, check_format, format_of
from tgm.files.reading import parse_json, read_bytes

MOST_BYTES = 2 * 2**30  # of a model, a checkpoint or a piece of history
MOST_HEADER_BYTES = 8 * 2**20
MOST_HEADER_VALUES = 200_000

_DTYPES = {np.float64: "F64", np.int64: "I64", np.bool_: "BOOL"}  # as safetensors names them


def write_arrays(
    path: Path,
    arrays: Arrays,
    format_name: str,
    metadata: dict[str, Any],
    *,
    sync: bool = True,
    check: Callable[[Path], object] | None = None,
) -> None:
    """Write arrays and metadata to `path`, whole or not at all.

    Args:
        path: the file.
        arrays: float64, int64 and bool.
        format_name: what kind of file it is: "tgm-model", "tgm-history".
        metadata: anything that JSON can hold.
        sync: wait until it is on the disk.
        check: see `write_parts`.
    """
    # Single bytes come last, so that all numbers are aligned.
    names = sorted(arrays, key=lambda name: (arrays[name].itemsize == 1, name))
    arrays = {name: arrays[name] for name in names}
    text = json.dumps(metadata)
    content = {"format": FORMAT, "metadata": text, "checksum": checksum_of(arrays, text)}
    header = _header(arrays, {format_name: json.dumps(content)})
    # Stream the arrays: one large copy of all of them takes longer than writing them.
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


def read_arrays(path: Path, format_name: str) -> tuple[Arrays, dict[str, Any]]:
    """The arrays and metadata of a file of this kind, or a RunError that names what is wrong.

    Types and finiteness of the arrays are checked here; shapes and ranges are the business of a
    schema (`tgm.files.schema`).
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    if path.is_dir():
        raise RunError(f"{path}: is a directory; the agent of a run is Run.open(directory).agent()")
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
    if content.get("checksum") != checksum_of(arrays, content["metadata"]):
        raise RunError(f"{path}: damaged: its checksum does not fit its content")
    metadata = parse_json(content["metadata"], f"{path}: its metadata", MOST_HEADER_VALUES)
    if not isinstance(metadata, dict):
        raise RunError(f"{path}: its metadata are not a JSON object")
    return arrays, metadata


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
    """Format, metadata and checksum, as `write_arrays` put them into the header."""
    text = header.get("__metadata__", {}).get(format_name)
    if not isinstance(text, str):
        raise RunError(f"{path}: not a {format_name} file")
    content = parse_json(text, f"{path}: its header", MOST_HEADER_VALUES)
    if not isinstance(content, dict):
        raise RunError(f"{path}: not a readable {format_name} file (its header is no table)")
    check_format(path, f"a {format_name} file", format_of(content))
    if not isinstance(content.get("metadata"), str):
        raise RunError(f"{path}: its metadata are not JSON")
    return content


def checksum_of(arrays: Arrays, metadata: str) -> int:
    """CRC-32 of everything, against damage (not against malice)."""
    checksum = zlib.crc32(metadata.encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        checksum = zlib.crc32(f"{name} {array.dtype.str} {array.shape}".encode(), checksum)
        checksum = zlib.crc32(array.data, checksum)
    return checksum
