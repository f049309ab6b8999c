"""Names that want to order a terminal about, put into every file that a command reads."""

import contextlib
import io
import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from tgm.cli.main import main

PARTS = (
    "\x1b[2J\x1b[H", "\x1b]0;owned\x07", "\x1b[31m", "\x1b]8;;http://evil.example\x1b\\", "\x9b2K",
    "\x1bc", "\x1bP0;1|17/ab\x1b\\", "\r", "\n", "\r\n", "\nrun  finished  tgm", "\b\b\b", "\t",
    "\x7f", "\x85", "\u2028", "\u2029", "\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\u00ad",
    "\x0b", "\x0c", "\udc9b", "\ud800", "\u3164", "\ufe0f", "\U000e0041", "[bold red]", "[/]",
    "[link=x]", ":smile:", "%s", "{0}", "\x00", "é", "迷路", "Ω", "name", "27", "-",
)  # fmt: skip
COLOUR = re.compile(r"\x1b\[[0-9;]*m")  # as rich makes it


def hostile_name(rng: random.Random) -> str:
    """Some parts one after the other."""
    return "".join(rng.choice(PARTS) for _ in range(rng.randrange(1, 6)))


def as_file_name(name: str) -> str:
    """As much of it as a file system takes."""
    kept = name.replace("\x00", "").replace("/", "").replace("\ud800", "").strip(".")
    return f"x{kept}"[:60]


def is_text(output: str) -> bool:
    """Whether a terminal shows it as it is: printable signs and line breaks."""
    return all(line.isprintable() for line in output.split("\n")) and "\u3164" not in output


def call(*arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command."""
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            code = main(list(arguments))
        except SystemExit as stop:
            code = int(stop.code or 0)
    return code, out.getvalue(), errors.getvalue()


def _set(facts: dict, path: tuple[str, ...], value: object) -> None:
    for key in path[:-1]:
        facts = facts.setdefault(key, {})
    facts[path[-1]] = value


IN_RUN = (
    ("agent",), ("world", "id"), ("world", "maze", "name"), ("world", "maze", "grid"), ("format",),
    ("seed",), ("steps",), ("config", "structure"), ("interface", "action_names"), ("started",),
    ("world", "options", "noise"), ("world",), ("config",), ("versions", "numpy"),
)  # fmt: skip
IN_RESULT = (("status",), ("reason",), ("states",), ("solved",), ("mean_return",))


def spoil(source: Path, root: Path, name: str, rng: random.Random) -> Path:
    """A copy of a run under `root` whose name, facts or result hold `name`."""
    folder = root / as_file_name(name)
    shutil.copytree(source, folder)
    for file, paths in (("run.json", IN_RUN), ("result.json", IN_RESULT)):
        facts = json.loads((folder / file).read_text())
        path = rng.choice(paths)
        _set(facts, path, [name] * 5 if path[-1] in ("action_names", "grid") else name)
        (folder / file).write_text(json.dumps(facts))
    if rng.random() < 0.3:
        (folder / "metrics.jsonl").write_text(json.dumps({"step": name}) + "\n")
    if rng.random() < 0.3:
        data = bytearray((folder / "model.safetensors").read_bytes())
        at = rng.randrange(8, 400)
        data[at : at + 3] = b"\x1b[2"
        (folder / "model.safetensors").write_bytes(data)
    return folder


def maze_file(root: Path, name: str, rng: random.Random) -> Path:
    """A maze file of that name, in which the name may stand as well."""
    path = root / f"{as_file_name(name)}.txt"
    rows = ["#####", "#S.G#", "#####"]
    if rng.random() < 0.5:
        rows[1] += name.replace("\ud800", "").replace("\udc9b", "")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8", errors="replace")
    return path


def check(words: str, code: int, out: str, errors: str) -> None:
    """Nothing but text came out, and bad input is one line."""
    assert code in (0, 1, 2), f"{words}: exit code {code}"
    assert is_text(COLOUR.sub("", out)), f"{words}: {out!r:.300}"
    assert is_text(errors), f"{words}: {errors!r:.300}"
    assert code == 0 or errors.startswith("tgm: "), f"{words}: {errors!r:.300}"
    if code == 2:
        assert all(line.startswith("tgm: ") for line in errors.splitlines()), f"{words}: {errors!r}"


def commands(folder: Path, maze: Path) -> dict[str, tuple[str, ...]]:
    """A call of every command about a run and a maze."""
    scratch = folder.parent.parent
    steps = ("--steps", "20", "--no-report")
    return {
        "runs": ("runs", str(folder.parent)),
        "runs --json": ("runs", str(folder.parent), "--json"),
        "evaluate": ("evaluate", str(folder), "--episodes", "1"),
        "structure": ("structure", str(folder)),
        "structure --json": ("structure", str(folder), "--json"),
        "mazes": ("mazes", str(maze)),
        "mazes --check": ("mazes", "--check", str(maze)),
        "mazes --check --json": ("mazes", "--check", str(maze), "--json"),
        "train --resume": ("train", "--resume", str(folder), *steps),
        "train": ("train", "--maze", str(maze), *steps, "--out", str(scratch / folder.name / "o")),
        "compare": ("compare", "--mazes", str(maze), "--agents", "random", "--seeds", "1",
                    "--steps", "20", "--jobs", "1", "--out", str(scratch / "compared")),
        "report": ("report", str(folder), "-o", str(scratch / f"{folder.name}.html")),
        "report --json": ("report", str(folder), "-o", str(folder / "page.html"), "--json"),
        "inspect": ("inspect", str(folder / "nowhere")),
        "figures": ("figures", "--results", str(folder / "run.json"), "--only", "13", "--quick",
                    "--out", str(scratch / "figures")),
        "unknown": (folder.name, "x"),
    }  # fmt: skip


def try_name(
    source: Path, scratch: Path, name: str, rng: random.Random, trial: Callable[[str], object]
) -> None:
    """All commands about a run and a maze of that name; `trial` is entered for each."""
    root = scratch / "runs"
    folder, maze = spoil(source, root, name, rng), maze_file(scratch, name, rng)
    for words, arguments in commands(folder, maze).items():
        with trial(f"{words} of {name!r}"):
            code, out, errors = call(*arguments)
            check(words, code, out, errors)
            if "--json" in arguments and code == 0:
                json.loads(out)
            if words == "runs":
                assert len(out.splitlines()) == 2, f"a forged row: {out!r}"
