"""Ways to spoil a run directory and payloads to get out of one."""

import json
import os
import shutil
from pathlib import Path
from urllib.parse import quote

import numpy as np
from safetensors.numpy import load_file

from tgm.files import write_arrays
from tgm.runs.history import FORMAT

VALUES = (
    None,
    True,
    -1,
    10**30,
    1e308,
    float("nan"),
    "",
    "<script>alert(1)</script>",
    "../../../../etc/passwd",
    "x" * 100_000,
    [],
    {},
    [[[[[[]]]]]],
)


def spoil(source: Path, target: Path, seed: int) -> str:
    """A copy of a run with one to three things wrong with it; returns what was done."""
    rng = np.random.default_rng(seed)
    shutil.copytree(source, target)
    done = [_spoil_once(target, rng) for _ in range(int(rng.integers(1, 4)))]
    return ", ".join(done)


def _spoil_once(folder: Path, rng: np.random.Generator) -> str:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    if not files:
        return "nothing left"
    path = files[rng.integers(len(files))]
    ways = (_cut, _flip, _remove, _fill, _into_folder, _into_link, _into_pipe, _change_json, _grow)
    ways += (change_arrays,) * 4
    way = ways[rng.integers(len(ways))]
    way(path, rng)
    return f"{path.name} {way.__name__}"


def _cut(path: Path, rng: np.random.Generator) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: int(rng.integers(0, len(data) + 1))])


def _flip(path: Path, rng: np.random.Generator) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(int(rng.integers(1, 30))):
        if data:
            data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    path.write_bytes(data)


def _remove(path: Path, rng: np.random.Generator) -> None:
    path.unlink()


def _fill(path: Path, rng: np.random.Generator) -> None:
    path.write_bytes(rng.bytes(int(rng.integers(1, 5000))))


def _into_folder(path: Path, rng: np.random.Generator) -> None:
    path.unlink()
    path.mkdir()


def _into_link(path: Path, rng: np.random.Generator) -> None:
    path.unlink()
    path.symlink_to("/etc/passwd")


def _into_pipe(path: Path, rng: np.random.Generator) -> None:
    path.unlink()
    os.mkfifo(path)


def _grow(path: Path, rng: np.random.Generator) -> None:
    with path.open("ab") as file:
        file.write(b"[" * 200_000 + b"\n" + b"\x00" * 1000 + b"\n{}\n")


def _change_json(path: Path, rng: np.random.Generator) -> None:
    """One value of a JSON file, or of a line of the log, becomes something else."""
    if path.suffix not in (".json", ".jsonl"):
        return
    lines = path.read_text(errors="replace").splitlines() if path.suffix == ".jsonl" else None
    at = int(rng.integers(len(lines))) if lines else 0
    try:
        content = json.loads(lines[at] if lines else path.read_text(errors="replace"))
    except (ValueError, RecursionError):
        return
    here = content
    while isinstance(here, dict) and here:
        key = list(here)[rng.integers(len(here))]
        if not isinstance(here[key], dict) or rng.random() < 0.4:
            here[key] = VALUES[rng.integers(len(VALUES))]
            break
        here = here[key]
    changed = json.dumps(content)
    if lines:
        lines[at] = changed
        changed = "\n".join(lines) + "\n"
    path.write_text(changed)


def change_arrays(path: Path, rng: np.random.Generator) -> None:
    """A history that somebody wrote on purpose: sound as a file, but not in what it says."""
    if path.parent.name != "history" or path.suffix != ".safetensors":
        return
    try:
        arrays = dict(load_file(path))
    except Exception:
        return  # it was spoilt before
    for _ in range(int(rng.integers(1, 4))):
        name = sorted(arrays)[rng.integers(len(arrays))]
        array = arrays[name].copy()
        way = rng.integers(5)
        if way == 0:
            rng.shuffle(array)
        elif way == 1 and array.ndim:
            array = array[: int(rng.integers(0, len(array) + 1))]
        elif way == 2 and array.size and array.dtype != np.bool_:
            array.flat[rng.integers(array.size, size=3)] = rng.choice([-1, 0, 7, 2**40])
        elif way == 3 and array.size and array.dtype == np.float64:
            array.flat[rng.integers(array.size, size=3)] = rng.choice([np.nan, 1e299, -1e-300])
        else:
            array = np.zeros_like(array)
        arrays[name] = array
    write_arrays(path, arrays, FORMAT, {"first_step": int(path.stem)})


PIECES = ("..", ".", "%2e%2e", "%2e", "..%2f", "%252e%252e", "..\\", "%5c..", "....//", "\x00")
PIECES += ("etc", "passwd", "run.json", "metrics.jsonl", "history", "secret.txt", "~", "C:", "|")
PIECES += ("%c0%ae%c0%ae", "\uff0e\uff0e", "file:", "//", "%00", ";", "?", "#", "static", "api")


def payloads(n: int, seed: int = 0) -> list[str]:
    """Paths that want to leave their place."""
    rng = np.random.default_rng(seed)
    starts = ("/", "/static/", "/api/runs/", "/api/runs/{id}/", "/api/runs/{id}/chunks/", "//")
    made = []
    for _ in range(n):
        parts = [PIECES[rng.integers(len(PIECES))] for _ in range(int(rng.integers(1, 9)))]
        path = starts[rng.integers(len(starts))] + "/".join(parts)
        made.append(quote(path, safe="/%{}:?#;\\~|.") if rng.random() < 0.5 else path)
    return made


FORGED_HOSTS = (
    "",
    "evil.example",
    "evil.example:{port}",
    "127.0.0.1",
    "127.0.0.1:1",
    "127.0.0.1:{port}0",
    "localhost",
    "localhost:1",
    "localhost.evil.example:{port}",
    "127.0.0.1.evil.example:{port}",
    "evil.example#127.0.0.1:{port}",
    "127.0.0.1:{port}.evil.example",
    "127.0.0.1:{port}@evil.example",
    "evil.example@127.0.0.1:{port}",
    "user@localhost:{port}",
    "127.0.0.1:{port},evil.example",
    "evil.example, 127.0.0.1:{port}",
    "127.0.0.1 :{port}",
    "127.0.0.1:{port}/",
    "/127.0.0.1:{port}",
    "127.0.0.1:{port}?",
    "http://127.0.0.1:{port}",
    "127.1:{port}",
    "127.0.1:{port}",
    "2130706433:{port}",
    "0x7f000001:{port}",
    "0177.0.0.1:{port}",
    "127.0.0.2:{port}",
    "127.000.000.001:{port}",
    "0.0.0.0:{port}",
    "[::1]:{port}",
    "[::ffff:127.0.0.1]:{port}",
    "::1:{port}",
    "[::]:{port}",
    "localhost.:{port}",
    "127.0.0.1.:{port}",
    "localhost.localdomain:{port}",
    "ip6-localhost:{port}",
    "loopback:{port}",
    "127.0.0.1:+{port}",
    "127.0.0.1:0{port}",
    "127.0.0.1:{port}a",
    "127.0.0.1::{port}",
    "*",
    "*:{port}",
    "null",
    "169.254.169.254",
    "169.254.169.254:{port}",
    "10.0.0.1:{port}",
    "rebind.network:{port}",
    "a" * 5000,
)
