"""Files that are small on the disk and would be large in memory, or take long, if they were read.

Each is put into a copy of a sound run, a comparison or a folder of its own; `answer` then does with
it what the commands and the inspector do, and tells what that took.
"""

import json
import os
import random
import resource
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tgm.agent.model_file import MODEL_FORMAT
from tgm.envs import load_maze
from tgm.errors import TGMError
from tgm.experiments.comparison.trial_store import TrialStore, read_csv
from tgm.files import write_arrays
from tgm.files.format import FORMAT as FORMAT_NUMBER
from tgm.inspector import payload
from tgm.inspector.catalogue import check_files
from tgm.inspector.entries import entry
from tgm.runs import Run
from tgm.runs.chunk import COLUMNS
from tgm.runs.history import FORMAT
from tgm.runs.summary import summary_of

FILES = ("run.json", "result.json", "metrics.jsonl", "model.safetensors")


@dataclass(frozen=True)
class Cost:
    """What an answer took: seconds, and bytes of memory beyond what was there before."""

    seconds: float
    memory: int
    words: str


def n_bytes_on_disk(folder: Path) -> int:
    """What the files of a folder really take."""
    return sum(512 * path.stat().st_blocks for path in folder.rglob("*") if path.is_file())


def _some_file(folder: Path, rng: random.Random) -> Path:
    files = [folder / name for name in FILES]
    return rng.choice([*files, *folder.glob("history/*"), *folder.glob("checkpoints/*")])


def sparse(folder: Path, rng: random.Random) -> None:
    """A file that is made longer by a hole."""
    with _some_file(folder, rng).open("ab") as file:
        file.truncate(2 ** rng.randrange(28, 42))


def sparse_model(folder: Path, rng: random.Random) -> None:
    """A model whose header is sound, with gigabytes of zeros behind it."""
    n = 2 ** rng.randrange(25, 31)
    content = json.dumps({"format": FORMAT_NUMBER, "metadata": "{}", "checksum": 0})
    header = {"__metadata__": {MODEL_FORMAT: content}}
    header["a"] = {"dtype": "F64", "shape": [n], "data_offsets": [0, 8 * n]}
    text = json.dumps(header).encode()
    with (folder / "model.safetensors").open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + 8 * n)


def nested(folder: Path, rng: random.Random) -> None:
    """JSON in JSON in JSON."""
    opening = rng.choice([b"[", b'{"a":', b'[{"a":[', b'{"step":1,"moves":['])
    data = opening * (10 ** rng.randrange(3, 7) // len(opening))
    path = folder / rng.choice(FILES)
    if path.suffix == ".safetensors":
        data = len(data).to_bytes(8, "little") + data
    path.write_bytes(data + b"\n")


ITEMS = ("{}", "[]", "0", '""', '{"a":1}', "[[]]", "1e9", '"ab"', '{"kind":"birth","ids":[1]}')
KEYS = ("moves", "episodes", "free_energy_path", "free_energy_terms", "step", "config", "world")


def repeated(folder: Path, rng: random.Random) -> None:
    """One value as often as eight megabytes hold it, in one line or in many."""
    key, item = rng.choice(KEYS), rng.choice(ITEMS)
    many = ",".join([item] * (rng.choice([10**4, 10**6, 8 * 10**6]) // (len(item) + 1)))
    path = folder / rng.choice(FILES[:3])
    if path.name == "metrics.jsonl":
        line = f'{{"step":1,"{key}":[{many}]}}\n'
        path.write_text(line * (8_000_000 // len(line) or 1))
    else:
        facts = json.loads(path.read_text())
        facts.pop(key, None)
        path.write_text(json.dumps(facts)[:-1] + f', "{key}": [{many}]}}')


def repeated_lines(folder: Path, rng: random.Random) -> None:
    """Very many, very short lines."""
    line = rng.choice(['{"step":1}\n', "\n", "{}\n", '{"step":1,"episodes":[{}]}\n'])
    (folder / "metrics.jsonl").write_text(line * (rng.choice([10**5, 8 * 10**6]) // len(line)))


def repeated_keys(folder: Path, rng: random.Random) -> None:
    """An object with the same key, or with another one, over and over."""
    same = rng.random() < 0.5
    many = ",".join(f'"{0 if same else k}":{k}' for k in range(rng.choice([10**4, 10**6])))
    (folder / rng.choice(FILES[:3])).write_text("{" + many + "}\n")


def long_text(folder: Path, rng: random.Random) -> None:
    """A name, or a number, that does not end."""
    facts = json.loads((folder / "run.json").read_text())
    size = 10 ** rng.randrange(4, 8)
    where = rng.choice(["agent", "seed", "steps", "world"])
    value = "1" * size if where in ("seed", "steps") else json.dumps("x" * size)
    facts.pop(where)
    (folder / "run.json").write_text(json.dumps(facts)[:-1] + f', "{where}": {value}}}')


def many_actions(folder: Path, rng: random.Random) -> None:
    """A number that stands for a table of its size."""
    facts = json.loads((folder / "run.json").read_text())
    name = rng.choice(["n_actions", "n_features", "first_action"])
    facts["interface"][name] = rng.choice([10**9, 10**300, float("inf"), float("nan"), -1, 0])
    (folder / "run.json").write_text(json.dumps(facts))


def many_arrays(folder: Path, rng: random.Random) -> None:
    """A header with a hundred thousand arrays of nothing."""
    content = json.dumps({"format": FORMAT_NUMBER, "metadata": "{}", "checksum": 0})
    header: dict = {"__metadata__": {rng.choice([MODEL_FORMAT, FORMAT]): content}}
    empty = {"dtype": "F64", "shape": [0], "data_offsets": [0, 0]}
    header |= {str(k): empty for k in range(10 ** rng.randrange(3, 6))}
    text = json.dumps(header).encode()
    _some_file(folder, rng).write_bytes(len(text).to_bytes(8, "little") + text)


def many_files(folder: Path, rng: random.Random) -> None:
    """Thousands of pieces of history and checkpoints, far apart."""
    for name in ("history", "checkpoints"):
        one = next((folder / name).iterdir(), folder / "model.safetensors")
        for index in range(rng.choice([10, 2000])):
            (folder / name / f"{index * 10**13 + 7:018d}.safetensors").hardlink_to(one)


def growing(folder: Path, rng: random.Random) -> None:
    """A piece of history of which each observation adds a frame with a covariance."""
    d, n, n_actions = rng.choice([30, 60, 90]), rng.choice([500, 5000]), 5
    facts = json.loads((folder / "run.json").read_text())
    facts["interface"]["n_features"] = d
    (folder / "run.json").write_text(json.dumps(facts))
    widths = {"": (), "d": (d,), "dd": (d, d), "A": (n_actions,)}
    lengths = {"obs": n, "frame": 1, "component": 1, "full": 1}
    arrays = {
        name: np.zeros((lengths.get(name.split(".")[0], 0), *widths[shape]), dtype)
        for name, (dtype, shape) in COLUMNS.items()
    }
    arrays["frame.is_full"][0], arrays["frame.n_components"][0] = True, 1
    arrays["component.weight"][0], arrays["component.covariance"][0] = 1.0, np.eye(d)
    arrays["obs.share"][:] = arrays["obs.weight"][:] = arrays["prior.dof"] = np.ones(1)
    for path in (folder / "history").iterdir():
        path.unlink()
    path = folder / "history" / "0000000000.safetensors"
    write_arrays(path, arrays, FORMAT, {"first_step": 0}, sync=False)


def trial(folder: Path, rng: random.Random) -> None:
    """The file of a trial, or a table, of a comparison."""
    shutil.rmtree(folder)
    path = folder / "trials" / "8" / "tgm" / "seed-0-steps-9.json"
    path.parent.mkdir(parents=True)
    item = rng.choice(ITEMS)
    data = f'{{"schema":1,"trial":[{",".join([item] * (8_000_000 // (len(item) + 1)))}]}}'
    path.write_text(rng.choice([data, "[" * 10**6, "{"]))
    row = rng.choice(["1,2\n", ",\n", "\n", "1," * 10**6, '"' + "x" * 10**6])
    (folder / "results.csv").write_text("maze,agent\n" + row * (20_000_000 // len(row)))
    for name in (path, folder / "results.csv"):
        if rng.random() < 0.3:
            os.truncate(name, 2**36)


def maze(folder: Path, rng: random.Random) -> None:
    """A maze file."""
    shutil.rmtree(folder)
    folder.mkdir()
    path = folder / "maze.txt"
    path.write_text(rng.choice(["#" * 10**7, "#\n" * 10**6, " \n" * 10**6, "#S.G#\n" * 10**5]))
    if rng.random() < 0.3:
        os.truncate(path, 2**40)


KINDS: tuple[Callable[[Path, random.Random], None], ...] = (
    sparse, sparse_model, nested, repeated, repeated_lines, repeated_keys, long_text, many_actions,
    many_arrays, many_files, growing, trial, maze,
)  # fmt: skip


def read_all(folder: Path) -> list[Callable[[], object]]:
    """Everything that is done with the files of a folder."""
    if (folder / "maze.txt").exists():
        return [lambda: load_maze(folder / "maze.txt")]
    if not (folder / "run.json").exists():
        store = TrialStore(folder)
        return [lambda: list(store.trials()), lambda: read_csv(folder / "results.csv")]
    questions: list[Callable[[], object]] = [lambda: summary_of(folder)]
    for ask in (
        lambda run: run.agent(),
        lambda run: next(run.metrics(), None),
        lambda run: next(iter(run.frames(100)), None),
        entry,
        payload.summary,
        payload.outline,
        lambda run: payload.chunk_bytes(run, run.chunk_steps()[-1]),
    ):
        questions.append(lambda ask=ask: (check_files(folder), ask(Run.open(folder))))
    return questions


def answer(question: Callable[[], object]) -> Cost:
    """What one question takes, in a process of its own; anything but a TGMError is told."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            os.write(writing, json.dumps(_measured(question)).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        data = told.read()
    os.waitpid(child, 0)
    return Cost(*json.loads(data)) if data else Cost(0.0, sys.maxsize, "the process died")


def _measured(question: Callable[[], object]) -> tuple[float, int, str]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    words = "read"
    try:
        question()
    except TGMError as error:
        words = f"refused: {error!s:.200}"
    except Exception as error:
        words = f"broken: {type(error).__name__}: {error!s:.200}"
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return seconds, 1024 * (after - before), words
