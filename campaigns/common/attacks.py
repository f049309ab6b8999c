"""Files and runs made with ill will. Each attack is done to a copy of a sound run.

Beside the run's own folder lies `../outside/private.txt`, which nobody may read or write.
"""

from __future__ import annotations

import functools
import io
import json
import os
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from campaigns.common.mutations import encode, with_header

from tgm.agent.model_file import MODEL_FORMAT
from tgm.files import read_arrays
from tgm.files.arrays import Arrays
from tgm.files.format import FORMAT as NUMBER
from tgm.runs.history import FORMAT

Attack = Callable[[Path], None]

ATTACKS: dict[str, Attack] = {}


class _Payload:
    """What a pickle runs when somebody loads it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("touch ../outside/executed",)


def _attack(name: str) -> Callable[[Attack], Attack]:
    def keep(attack: Attack) -> Attack:
        ATTACKS[name] = attack
        return attack

    return keep


# --- model files ----------------------------------------------------------------------------------


def _models(run: Path) -> list[Path]:
    return [run / "model.safetensors", *(run / "checkpoints").iterdir()]


def _replace_models(run: Path, data: bytes) -> None:
    for path in _models(run):
        path.unlink()
        path.write_bytes(data)


def _everywhere(make: Callable[[], bytes]) -> Attack:
    """Put the same bytes in the place of every file of arrays."""

    def attack(run: Path) -> None:
        data = make()
        _replace_models(run, data)
        for path in (run / "history").iterdir():
            path.write_bytes(data)

    return attack


def _numpy_objects() -> bytes:
    file = io.BytesIO()
    np.save(file, np.array([_Payload()], dtype=object), allow_pickle=True)
    return file.getvalue()


def _zipped_pickle() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(_Payload()))
    return file.getvalue()


def _header(**entries: Any) -> bytes:
    content = json.dumps({"format": NUMBER, "metadata": "{}", "checksum": 0})
    metadata = {MODEL_FORMAT: content, FORMAT: content}
    return json.dumps({"__metadata__": metadata, **entries}).encode()


def _tensor(shape: list[int], first: int, last: int, dtype: str = "F64") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [first, last]}


def _many_names() -> bytes:
    entries = {f"array.{number}": _tensor([0], 0, 0) for number in range(20_000)}
    return with_header(_header(**entries), b"")


_BYTES: dict[str, Callable[[], bytes]] = {
    "a renamed pickle": lambda: pickle.dumps(_Payload()),
    "a pickle in a zip, as torch writes it": _zipped_pickle,
    "a NumPy file of objects": _numpy_objects,
    "a header of 2^63 bytes": lambda: struct.pack("<Q", 2**63) + b"{}",
    "a header longer than the file": lambda: struct.pack("<Q", 5000) + b"{}",
    "a header of nested lists": lambda: with_header(b"[" * 100_000, b""),
    "a header of nested objects": lambda: with_header(b'{"a":' * 100_000, b""),
    "a header that is no object": lambda: with_header(b"[1, 2]", b""),
    "metadata that is no text": lambda: with_header(b'{"__metadata__": {"tgm-model": 1}}', b""),
    "an array of 2^40 numbers": lambda: with_header(_header(x=_tensor([2**40], 0, 8)), b"\0" * 8),
    "an empty array of 2^62 rows": lambda: with_header(_header(x=_tensor([2**62, 0], 0, 0)), b""),
    "a shape that overflows": lambda: with_header(_header(x=_tensor([2**32, 2**32], 0, 0)), b""),
    "arrays that overlap": lambda: with_header(
        _header(x=_tensor([2], 0, 16), y=_tensor([2], 8, 24)), b"\0" * 24
    ),
    "an array before the file": lambda: with_header(_header(x=_tensor([1], -8, 0)), b"\0" * 8),
    "twenty thousand names": _many_names,
    "nothing at all": lambda: b"",
}
ATTACKS |= {name: _everywhere(make) for name, make in _BYTES.items()}


def _lie(name: str, change: Callable[[Arrays, dict[str, Any]], object]) -> None:
    """An attack on what the models say; their checksums fit."""

    def attack(run: Path) -> None:
        for path in _models(run):
            arrays, facts = read_arrays(path, MODEL_FORMAT)
            change(arrays, facts)
            path.unlink()
            path.write_bytes(encode(arrays, MODEL_FORMAT, facts))

    ATTACKS[name] = attack


def _fill(name: str, value: Any) -> Callable[[Arrays, dict[str, Any]], None]:
    def change(arrays: Arrays, facts: dict[str, Any]) -> None:
        arrays[name] = np.full_like(arrays[name], value)

    return change


def _say(*path: str, value: Any) -> Callable[[Arrays, dict[str, Any]], None]:
    def change(arrays: Arrays, facts: dict[str, Any]) -> None:
        *parents, last = path
        functools.reduce(lambda part, key: part[key], parents, facts)[last] = value

    return change


def _endless_steps(arrays: Arrays, facts: dict[str, Any]) -> None:
    arrays["world.memory.step.next"][:] = 0  # every step is followed by the first


def _not_definite(arrays: Arrays, facts: dict[str, Any]) -> None:
    arrays["prior.covariance"] = np.array([[1.0, 2.0], [2.0, 1.0]])


def _not_symmetric(arrays: Arrays, facts: dict[str, Any]) -> None:
    arrays["prior.covariance"] = np.array([[1.0, 9.0], [0.0, 1.0]])


_lie("means that are not numbers", _fill("world.component.mean", np.nan))
_lie("weights without bound", _fill("world.component.weight", np.inf))
_lie("counts below zero", _fill("world.transition.next.count", -1.0))
_lie("the same name for every state", _fill("world.component.ids", 0))
_lie("a covariance that is not positive definite", _not_definite)
_lie("a covariance that is not symmetric", _not_symmetric)
_lie("successors that are not there", _fill("world.transition.successor", 2**40))
_lie("kept steps in a circle", _endless_steps)
_lie("values without a number", _fill("planner.sweep.value", 1e308))
_lie("steps below zero", _say("n_steps", value=-5))
_lie("steps beyond counting", _say("n_steps", value=10**300))
_lie("a seed of 5,000 digits", _say("seed", value=10**4000))
_lie("another environment", _say("interface", "n_features", value=4))
_lie("a thousand features", _say("interface", "n_features", value=1000))
_lie("a billion actions", _say("interface", "n_actions", value=10**9))
_lie("settings of another version", _say("config", "teleport", value=True))
_lie("memory for 10^15 steps", _say("config", "kept_per_state", value=10**15))
_lie("another random generator", _say("exploration_rng", "bit_generator", value="MT19937"))
_lie("a generator that is text", _say("exploration_rng", value="os.system"))
_lie("notes that name a file", _say("notes", "chunk", value="../../outside/private"))
_lie("notes of a chunk that is not there", _say("notes", "chunk", value=77))
_lie("notes beyond the metrics", _say("notes", "metrics_bytes", value=10**15))
_lie("notes before the metrics", _say("notes", "metrics_bytes", value=-100))
_lie("notes of half a chunk", _say("notes", "n_frames", value=-3))
_lie("episodes that are no episodes", _say("notes", "episodes", value=[{"__class__": "x"}]))
_lie("returns that are text", _say("notes", "returns", value=["a", {}]))
_lie("a LearnInfo of its own", _say("notes", "not_in_metrics", value={"n_forgotten": []}))
_lie(
    "changes that are no changes", _say("notes", "unrecorded", value={"states": "x", "rows": [[1]]})
)
_lie("moves that are no moves", _say("pending_moves", value=[{"kind": "x"}, 3]))


@_attack("a newer format")
def _newer_format(run: Path) -> None:
    for path in _models(run):
        arrays, facts = read_arrays(path, MODEL_FORMAT)
        path.unlink()
        path.write_bytes(encode(arrays, MODEL_FORMAT, facts, format_number=99))


@_attack("facts of nested lists")
def _nested_facts(run: Path) -> None:
    _replace_models(run, encode({}, MODEL_FORMAT, "[" * 50_000 + "]" * 50_000))


@_attack("facts with infinities")
def _infinite_facts(run: Path) -> None:
    _replace_models(run, encode({}, MODEL_FORMAT, '{"n_steps": Infinity, "seed": NaN}'))


# --- histories ------------------------------------------------------------------------------------


def _chunks(run: Path, change: Callable[[Arrays], None]) -> None:
    for path in (run / "history").iterdir():
        arrays, facts = read_arrays(path, FORMAT)
        change(arrays)
        path.write_bytes(encode(arrays, FORMAT, facts))


@_attack("a history that grows when it is read")
def _bomb(run: Path) -> None:
    """Every observation repeats a row of thousands of successors."""

    def change(arrays: Arrays) -> None:
        n_obs, n_next = 4000, 20_000
        for name in [name for name in arrays if name.startswith("obs.")]:
            arrays[name] = np.repeat(arrays[name][:1], n_obs, axis=0)
        state = int(arrays["component.id"][0])
        arrays["obs.share"][:] = arrays["obs.weight"][:] = 1.0
        arrays["obs.state"][:], arrays["obs.action"][:] = state, 0
        keep = {"frame": 1, "component": 1, "full": 1, "removed": 0, "row": 1, "next": 0, "kept": 0}
        for name in list(arrays):
            if name.split(".")[0] in keep:
                arrays[name] = arrays[name][: keep[name.split(".")[0]]]
        arrays["frame.n_components"][:] = arrays["frame.n_rows"][:] = 1
        arrays["frame.n_removed"][:] = arrays["frame.n_obs"][:] = 0
        arrays["row.state"][:], arrays["row.action"][:] = state, 0
        arrays["row.n_next"][:] = n_next
        arrays["next.state"] = np.arange(n_next)
        arrays["next.count"] = np.ones(n_next)

    _chunks(run, change)


@_attack("a history that counts backwards")
def _backwards(run: Path) -> None:
    def change(arrays: Arrays) -> None:
        for name in ("frame.n_components", "row.n_next"):
            arrays[name][:1] += 5
            arrays[name][-1:] -= 5

    _chunks(run, change)


@_attack("a history of actions that are not there")
def _odd_actions(run: Path) -> None:
    def change(arrays: Arrays) -> None:
        arrays["row.action"][:] = 2**40
        arrays["obs.action"][:] = 2**40

    _chunks(run, change)


@_attack("a history at the end of time")
def _late(run: Path) -> None:
    def change(arrays: Arrays) -> None:
        for name in ("obs.step", "frame.step"):
            arrays[name][-1:] = 2**62

    _chunks(run, change)


@_attack("names of chunks that are no numbers")
def _odd_names(run: Path) -> None:
    for folder in ("history", "checkpoints"):
        data = next((run / folder).iterdir()).read_bytes()
        for name in ("-1", "1e5", "\u0663", "9" * 30, "0x10", " 7", "..", "$(touch x)"):
            (run / folder / f"{name}.safetensors").write_bytes(data)


# --- what is around them --------------------------------------------------------------------------


def _outside(run: Path) -> Path:
    return run.parent.parent / "outside" / "private.txt"


def _link(name: str) -> Attack:
    def attack(run: Path) -> None:
        (run / name).unlink(missing_ok=True)
        (run / name).symlink_to(_outside(run))

    return attack


def _pipe(name: str) -> Attack:
    def attack(run: Path) -> None:
        (run / name).unlink(missing_ok=True)
        os.mkfifo(run / name)

    return attack


def _folder(name: str) -> Attack:
    def attack(run: Path) -> None:
        (run / name).unlink(missing_ok=True)
        (run / name).mkdir()

    return attack


for _name in ("run.json", "metrics.jsonl", "result.json", "model.safetensors", "lock"):
    ATTACKS[f"{_name} is a link"] = _link(_name)
    ATTACKS[f"{_name} is a pipe"] = _pipe(_name)
    ATTACKS[f"{_name} is a directory"] = _folder(_name)


@_attack("checkpoints and chunks are links")
def _linked_arrays(run: Path) -> None:
    for path in [*_models(run), *(run / "history").iterdir()]:
        _link(str(path.relative_to(run)))(run)


@_attack("checkpoints and chunks are pipes")
def _piped_arrays(run: Path) -> None:
    for path in [*_models(run), *(run / "history").iterdir()]:
        _pipe(str(path.relative_to(run)))(run)


@_attack("folders are links")
def _linked_folders(run: Path) -> None:
    for name in ("history", "checkpoints"):
        (run / name).rename(run / f"{name}-once")
        (run / name).symlink_to(_outside(run).parent)


@_attack("unfinished files are links")
def _linked_leftovers(run: Path) -> None:
    for folder in (run, run / "history", run / "checkpoints"):
        for name in ("result.json", "model.safetensors", "0000000000.safetensors"):
            (folder / f".{name}.{os.getpid()}.tmp").symlink_to(_outside(run))


def _fact(name: str, *path: str, value: Any) -> None:
    """An attack on what run.json says."""

    def attack(run: Path) -> None:
        facts = json.loads((run / "run.json").read_bytes())
        _say(*path, value=value)({}, facts)
        (run / "run.json").write_text(json.dumps(facts))

    ATTACKS[name] = attack


_fact("a world with a module to import", "world", value={"id": "antigravity:Maze-v0"})
_fact("a world that is a command", "world", value={"id": "os:system('touch x')-v0"})
_fact("a world that is a path", "world", value={"id": "../../outside/private"})
_fact("a maze in a file", "world", "maze", value="../../outside/private.txt")
_fact("a maze of a million rows", "world", "maze", "grid", value=["#" * 9] * 1_000_000)
_fact("a maze of one long row", "world", "maze", "grid", value=["S" + "." * 9_000_000 + "G"])
_fact("a maze of nothing", "world", "maze", "grid", value=[])
_fact("a maze with a script for a name", "world", "maze", "name", value="<script>alert(1)</script>")
_fact("noise that is no number", "world", "options", value={"noise": float("nan")})
_fact("noise without bound", "world", "options", value={"noise": 1e308})
_fact("an episode of 10^18 steps", "world", "options", value={"max_episode_steps": 10**18})
_fact("an episode of -1 steps", "world", "options", value={"max_episode_steps": -1})
_fact("an option to draw a window", "world", "options", value={"render_mode": "human"})
_fact("an entry point of its own", "world", "options", value={"entry_point": "os:system"})
_fact("10^18 planned steps", "steps", value=10**18)
_fact("planned steps below zero", "steps", value=-1)
_fact("a seed below zero", "seed", value=-1)
_fact("a newer run", "format", value=99)
_fact("sizes of another world", "interface", value={"n_features": 10**9, "n_actions": 10**9})
_fact("settings that are nested", "config", value={"bandwidth": {"a": [[[]]]}})


def _text(name: str, file: str, make: Callable[[], bytes]) -> None:
    def attack(run: Path) -> None:
        (run / file).write_bytes(make())

    ATTACKS[name] = attack


_text("metrics in one line of 11 MB", "metrics.jsonl", lambda: b"x" * 11_000_000)
_text("metrics of nested lists", "metrics.jsonl", lambda: b"[" * 200_000 + b"\n")
_text("metrics twice the same key", "metrics.jsonl", lambda: b'{"step": 1, "step": "x"}\n')
_text("metrics that are no text", "metrics.jsonl", lambda: b"\xff\xfe\x00\n" * 50)
_text("a number of a million digits", "metrics.jsonl", lambda: b'{"step": ' + b"9" * 10**6 + b"}\n")
_text("a result that is nested", "result.json", lambda: b'{"a":' * 100_000)
_text("a result of escape codes", "result.json", lambda: b'{"status": "\\u001b[2J", "reason": 1}')
_text("a run of 11 MB", "run.json", lambda: b" " * 11_000_000)
