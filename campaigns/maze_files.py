"""Fuzzed maze files through the command line: each is accepted, or refused with line:column.

Run as `python campaigns/maze_files.py [N_FILES] [SEED]`; promise 16 asks for 10,000 files. Ends
with exit code 1, and the files' bytes, if anything else happened.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tgm.cli.main import main as tgm
from tgm.envs import load_maze, maze_names, random_maze

ODD_BYTES = (
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\x00",
    b"\r",
    b"\t",
    b"\x1b[31m",
    b"\xc3",
    b"\xc3\xa9",
    b"\xe2\x80\xa8",
    b"\xf0\x9f\xa7\x80",
    b"\xed\xa0\x80",
    b"[bold]",
)
GLYPHS = b"#.SG \n"


@dataclass
class Tally:
    """What became of the files."""

    refused: int = 0
    accepted: int = 0
    crashed: list[tuple[bytes, str]] = field(default_factory=list)


def fuzzed_file(rng: np.random.Generator) -> bytes:
    """A sound maze with a few faults, or now and then nothing but noise."""
    if rng.random() < 0.1:
        return bytes(rng.choice(list(GLYPHS), size=rng.integers(60)).tolist())
    if rng.random() < 0.05:
        return rng.bytes(rng.integers(60))
    data = _sound_maze(rng)
    for _ in range(rng.integers(1, 4)):
        data = _FAULTS[rng.integers(len(_FAULTS))](data, rng)
    return data


def _sound_maze(rng: np.random.Generator) -> bytes:
    if rng.random() < 0.5:
        return load_maze(maze_names()[rng.integers(6)]).to_text().encode()
    kind = ("perfect", "open", "rooms")[rng.integers(3)]
    rows, columns = rng.integers(6, 12, size=2)
    return random_maze(kind, rows, columns, int(rng.integers(1000))).to_text().encode()


def _place(data: bytes, rng: np.random.Generator) -> int:
    return int(rng.integers(len(data) + 1))


def _swap_glyph(data: bytes, rng: np.random.Generator) -> bytes:
    at = _place(data, rng)
    return data[:at] + bytes([GLYPHS[rng.integers(len(GLYPHS))]]) + data[at + 1 :]


def _insert_odd(data: bytes, rng: np.random.Generator) -> bytes:
    at = _place(data, rng) if rng.random() < 0.7 else 0
    return data[:at] + ODD_BYTES[rng.integers(len(ODD_BYTES))] + data[at:]


def _flip_bit(data: bytes, rng: np.random.Generator) -> bytes:
    if not data:
        return data
    at = int(rng.integers(len(data)))
    return data[:at] + bytes([data[at] ^ (1 << int(rng.integers(8)))]) + data[at + 1 :]


def _cut(data: bytes, rng: np.random.Generator) -> bytes:
    return data[: _place(data, rng)]


def _drop_part(data: bytes, rng: np.random.Generator) -> bytes:
    first, last = sorted((_place(data, rng), _place(data, rng)))
    return data[:first] + data[last:]


def _repeat_part(data: bytes, rng: np.random.Generator) -> bytes:
    first, last = sorted((_place(data, rng), _place(data, rng)))
    return data[:last] + data[first:last] * int(rng.integers(1, 4)) + data[last:]


def _other_line_ends(data: bytes, rng: np.random.Generator) -> bytes:
    return data.replace(b"\n", (b"\r\n", b"\r", b"\n\n", b" \n")[rng.integers(4)])


def _stretch(data: bytes, rng: np.random.Generator) -> bytes:
    """Make it long or wide enough to meet the limits."""
    at = _place(data, rng)
    n_times = int(rng.choice([10, 1100, 1_100_000], p=[0.8, 0.18, 0.02]))
    return data[:at] + bytes([GLYPHS[rng.integers(len(GLYPHS))]]) * n_times + data[at:]


_FAULTS: tuple[Callable[[bytes, np.random.Generator], bytes], ...] = (
    _swap_glyph,
    _insert_odd,
    _flip_bit,
    _cut,
    _drop_part,
    _repeat_part,
    _other_line_ends,
    _stretch,
)


def run_campaign(n_files: int, seed: int, folder: Path) -> Tally:
    """Check `n_files` fuzzed files, written one after the other to `folder`."""
    rng = np.random.default_rng(seed)
    path = folder / "fuzzed.txt"
    refusal = re.compile(rf"tgm: {re.escape(str(path))}:\d+:\d+: [^\n]+\n")
    tally = Tally()
    for _ in range(n_files):
        data = fuzzed_file(rng)
        path.write_bytes(data)
        code, out, err = _call_tgm("mazes", "--check", str(path))
        if code == 0 and out.startswith(f"{path}: ok, "):
            tally.accepted += 1
        elif code == 2 and not out and refusal.fullmatch(err):
            tally.refused += 1
        else:
            tally.crashed.append((data, f"exit code {code}: {err}"))
    return tally


def _call_tgm(*arguments: str) -> tuple[int | None, str, str]:
    """The command line in this process: exit code (None if it raised), output, error output."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = tgm(arguments)
        except BaseException as error:
            return None, out.getvalue(), repr(error)
    return code, out.getvalue(), err.getvalue()


def main() -> int:
    """Run the campaign, print the table, and return the exit code."""
    n_files = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with tempfile.TemporaryDirectory() as folder:
        tally = run_campaign(n_files, seed, Path(folder))
    print(f"{'fuzzed maze files, seed':<28}{seed:>7}")
    print(f"{'tried':<28}{n_files:>7}")
    print(f"{'refused with line:column':<28}{tally.refused:>7}")
    print(f"{'accepted':<28}{tally.accepted:>7}")
    print(f"{'crashed':<28}{len(tally.crashed):>7}")
    for data, message in tally.crashed[:10]:
        print(f"  {data[:200]!r}\n    {message}")
    return 1 if tally.crashed else 0


if __name__ == "__main__":
    sys.exit(main())
