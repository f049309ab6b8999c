"""Faults for files of arrays: in their bytes, in their header, and in what they say."""

from __future__ import annotations

import copy
import json
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from tgm.files.arrays import Arrays
from tgm.files.format import FORMAT
from tgm.files.store import checksum_of

Rng = np.random.Generator

DTYPES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "U8": 1, "BOOL": 1, "X9": 8}
NAMES = {np.dtype(np.float64): "F64", np.dtype(np.int64): "I64", np.dtype(np.bool_): "BOOL"}
ODD_NUMBERS = (0, -1, 1, 2, 0.5, 1e-300, 1e-12, 1e20, 1e60, -1e60, 1e300, -1e300, 2**62, -(2**62))
ODD_VALUES = (
    None, True, False, 0, 1, -1, 3, 0.5, 1e308, -1e308, 1e-300, 2**62, 2**64, 10**30, -(10**30),
    "", "x", "8", "\x1b[31m", "__import__('os')", "PCG64", "MT19937",
    [], [1], [None], [[[[]]]], {}, {"a": 1},
)  # fmt: skip


def encode(arrays: Arrays, format_name: str, facts: Any, format_number: Any = FORMAT) -> bytes:
    """A file with a checksum that fits, whatever it holds."""
    text = facts if isinstance(facts, str) else json.dumps(facts)
    content = {"format": format_number, "metadata": text, "checksum": checksum_of(arrays, text)}
    header: dict[str, Any] = {"__metadata__": {format_name: json.dumps(content)}}
    parts, place = [], 0
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        data = array.tobytes()
        header[name] = {
            "dtype": NAMES.get(array.dtype, "F32"),
            "shape": list(array.shape),
            "data_offsets": [place, place + len(data)],
        }
        parts.append(data)
        place += len(data)
    return with_header(json.dumps(header).encode(), b"".join(parts))


def with_header(header: bytes, body: bytes) -> bytes:
    """A safetensors file of these."""
    header += b" " * (-len(header) % 8)
    return struct.pack("<Q", len(header)) + header + body


# --- bytes ----------------------------------------------------------------------------------------


def mutate_bytes(data: bytes, rng: Rng) -> bytes:
    """A file that was damaged: most often its checksum does not fit."""
    return _BYTE_FAULTS[rng.integers(len(_BYTE_FAULTS))](data, rng)


def _cut(data: bytes, rng: Rng) -> bytes:
    return data[: int(rng.integers(len(data)))]


def _flip(data: bytes, rng: Rng) -> bytes:
    # As often in the header, which is shorter than the rest, as anywhere.
    end = struct.unpack("<Q", data[:8])[0] + 8 if rng.random() < 0.5 else len(data)
    changed = bytearray(data)
    for _ in range(rng.integers(1, 9)):
        changed[int(rng.integers(end))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _blank(data: bytes, rng: Rng) -> bytes:
    first, last = sorted(rng.integers(len(data) + 1, size=2).tolist())
    return data[:first] + rng.choice([b"\0", b"\xff", b"9"]) * (last - first) + data[last:]


def _shift(data: bytes, rng: Rng) -> bytes:
    at = int(rng.integers(len(data)))
    return data[:at] + (rng.bytes(8) if rng.random() < 0.5 else b"") + data[at + 8 :]


def _append(data: bytes, rng: Rng) -> bytes:
    return data + rng.bytes(int(rng.integers(1, 5000)))


def _header_length(data: bytes, rng: Rng) -> bytes:
    lengths = (0, 1, 7, len(data), len(data) - 8, 2**32, 2**63, 2**64 - 1, 100_000_001)
    return struct.pack("<Q", int(rng.choice(np.array(lengths, dtype=np.uint64)))) + data[8:]


def _header_entry(data: bytes, rng: Rng) -> bytes:
    """Another type, shape or place for an array; huge ones among them."""
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])
    names = [name for name in header if name != "__metadata__"]
    entry = header[names[rng.integers(len(names))]]
    kind = rng.integers(5)
    if kind == 0:
        entry["dtype"] = str(rng.choice(list(DTYPES)))
    elif kind == 1:
        lengths = rng.choice([0, 1, 3, 2**31, 2**40, 2**62], rng.integers(4))
        entry["shape"] = lengths.tolist()
    elif kind == 2:
        entry["data_offsets"] = [int(n) for n in rng.choice([0, 8, len(data), 2**40, 2**62], 2)]
    elif kind == 3:
        entry["shape"], size = [2 ** int(rng.integers(20, 60))], DTYPES.get(entry["dtype"], 8)
        entry["data_offsets"][1] = entry["data_offsets"][0] + size * entry["shape"][0]
    else:
        del entry[str(rng.choice(list(entry)))]
    return with_header(json.dumps(header).encode(), data[8 + length :])


_BYTE_FAULTS: tuple[Callable[[bytes, Rng], bytes], ...] = (
    _cut,
    _flip,
    _flip,
    _blank,
    _shift,
    _append,
    _header_length,
    _header_entry,
    _header_entry,
)


# --- content --------------------------------------------------------------------------------------


def mutate_content(arrays: Arrays, facts: dict[str, Any], rng: Rng) -> tuple[Arrays, Any]:
    """Arrays and facts of which a few were changed; not in place."""
    arrays, facts = dict(arrays), copy.deepcopy(facts)
    for _ in range(rng.integers(1, 3)):
        if arrays and rng.random() < 0.75:
            _ARRAY_FAULTS[rng.integers(len(_ARRAY_FAULTS))](arrays, rng)
        else:
            facts = mutate_json(facts, rng)
    return arrays, facts


def _some(arrays: Arrays, rng: Rng) -> str:
    # An array of any length: an empty one has little to change.
    names = [name for name in sorted(arrays) if arrays[name].size or rng.random() < 0.2]
    return str(rng.choice(names or sorted(arrays)))


def _set_value(arrays: Arrays, rng: Rng) -> None:
    name = _some(arrays, rng)
    array = arrays[name].copy()
    if not array.size:
        return
    place = int(rng.integers(array.size))
    if array.dtype == np.bool_:
        array.flat[place] = not array.flat[place]
    elif rng.random() < 0.5 and array.size > 1:
        array.flat[place] = array.flat[int(rng.integers(array.size))]
    elif array.dtype == np.int64:
        near = [len(array) - 1, len(array), int(array.flat[place]) + 1, int(array.flat[place]) - 1]
        array.flat[place] = rng.choice([*near, 0, -1, 1, 2, 2**31, 2**62, -(2**62)])
    else:
        array.flat[place] = rng.choice(np.array([*ODD_NUMBERS, np.nan, np.inf], dtype=float))
    arrays[name] = array


def _scale(arrays: Arrays, rng: Rng) -> None:
    name = _some(arrays, rng)
    if arrays[name].dtype == np.float64:
        with np.errstate(all="ignore"):
            arrays[name] = arrays[name] * float(rng.choice([-1.0, 0.0, 1e-8, 0.5, 2.0, 1e8, 1e40]))


def _shuffle(arrays: Arrays, rng: Rng) -> None:
    name = _some(arrays, rng)
    if arrays[name].ndim:
        arrays[name] = rng.permutation(arrays[name])


def _change_type(arrays: Arrays, rng: Rng) -> None:
    name = _some(arrays, rng)
    with np.errstate(all="ignore"):
        kinds = (np.float64, np.int64, np.bool_, np.float32)
        arrays[name] = arrays[name].astype(kinds[rng.integers(4)])


def _change_shape(arrays: Arrays, rng: Rng) -> None:
    name = _some(arrays, rng)
    array = arrays[name]
    shapes: tuple[Callable[[], Any], ...] = (
        lambda: array[:-1] if array.ndim else array[None],
        lambda: array[1:] if array.ndim else array,
        lambda: np.concatenate([array, array[-1:]]) if array.ndim else array,
        lambda: array.ravel(),
        lambda: array.T,
        lambda: array[None],
        lambda: array[..., :1] if array.ndim else array,
        lambda: array[:0] if array.ndim else array,
        lambda: np.repeat(array, 3, axis=0) if array.ndim else array,
        lambda: array.reshape(()) if array.size == 1 else array,
    )
    arrays[name] = np.ascontiguousarray(shapes[rng.integers(len(shapes))]())


def _swap(arrays: Arrays, rng: Rng) -> None:
    one = _some(arrays, rng)
    alike = [name for name in sorted(arrays) if arrays[name].shape == arrays[one].shape]
    other = str(rng.choice(alike)) if rng.random() < 0.7 else _some(arrays, rng)
    arrays[one], arrays[other] = arrays[other], arrays[one]


def _remove(arrays: Arrays, rng: Rng) -> None:
    del arrays[_some(arrays, rng)]


def _rename(arrays: Arrays, rng: Rng) -> None:
    arrays[str(rng.choice(["x", "../../x", "__class__", "model.x", ""]))] = arrays.pop(
        _some(arrays, rng)
    )


_ARRAY_FAULTS: tuple[Callable[[Arrays, Rng], None], ...] = (
    _set_value,
    _set_value,
    _set_value,
    _set_value,
    _scale,
    _shuffle,
    _change_type,
    _change_shape,
    _change_shape,
    _swap,
    _remove,
    _rename,
)


def mutate_json(value: Any, rng: Rng) -> Any:
    """JSON with one part, however deep, replaced, removed or given an odd neighbour."""
    if isinstance(value, dict) and value and rng.random() < 0.92:
        key = str(rng.choice(list(value)))
        changed = dict(value)
        what = rng.random()
        if what < 0.85:
            changed[key] = mutate_json(value[key], rng)
        elif what < 0.95:
            del changed[key]
        else:
            changed[str(rng.choice(["x", "__class__", "format", "id"]))] = 1
        return changed
    if isinstance(value, list) and value and rng.random() < 0.8:
        place = int(rng.integers(len(value)))
        return [*value[:place], mutate_json(value[place], rng), *value[place + 1 :]]
    return ODD_VALUES[rng.integers(len(ODD_VALUES))]


def mutate_text(data: bytes, rng: Rng) -> bytes:
    """A text file of which something was cut, flipped, doubled or replaced."""
    at, end = sorted(rng.integers(len(data) + 1, size=2).tolist())
    odd = (b"\n", b"\0", b"NaN", b"-1", b"[" * 3000, b"\xff\xfe", b"1e999", b"9" * 5000, b"\\u0000")
    kind = rng.integers(5)
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + data[end:]
    if kind == 2:
        return data[:end] + data[at:end] + data[end:]
    if kind == 3:
        return data[:at] + odd[rng.integers(len(odd))] + data[at:]
    changed = bytearray(data or b"x")
    changed[min(at, len(changed) - 1)] ^= 1 << int(rng.integers(8))
    return bytes(changed)
