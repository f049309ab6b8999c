"""Promises 18 to 20 at full length: the inspector serves its owner, and survives broken runs.

Run from the root of the repository: python -m campaigns.inspector
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from tests.inspector.broken import FORGED_HOSTS, payloads
from tests.inspector.recorded import record_cart_pole, record_maze, record_returns
from tests.inspector.test_server import PORT, client_of, complaints_of_spoilt

from tgm.inspector.catalogue import run_id

N_BROKEN = 500
N_PATHS = 1000
LINES = 1_000_000
SOON = 1.0  # second


def routes_of(folder: Path) -> list[str]:
    """Every kind of address that the server knows."""
    id_ = run_id(folder)
    api = [f"/api/runs/{id_}{rest}" for rest in ("", "/outline", "/field", "/pulse", "/chunks/0")]
    return ["/", "/static/main.js", "/static/style.css", "/nowhere", "/api/runs", *api]


def forged_hosts(root: Path) -> tuple[int, int]:
    """Requests with forged names, and how many were refused."""
    client = client_of(root)
    tried = held = 0
    for route in routes_of(root / "maze"):
        for host in FORGED_HOSTS:
            tried += 1
            held += client.get(route, [("host", host.format(port=PORT))]).status == 403
    return tried, held


def paths(root: Path) -> tuple[int, int]:
    """Paths that want out, and how many gave nothing foreign."""
    client, id_ = client_of(root), run_id(root / "maze")
    harmless = {client.get(path).content for path in ("/", "/api/runs", f"/api/runs/{id_}")}
    held = 0
    made = payloads(N_PATHS, seed=1)
    for path in made:
        answer = client.get(path.replace("{id}", id_))
        held += answer.status in (404, 422) or answer.content in harmless
    return len(made), held


def broken_runs(root: Path, scratch: Path) -> tuple[int, int]:
    """Spoilt runs, and how many were survived without a fault of the server."""
    held = 0
    sources = sorted(root.iterdir())
    for seed in range(N_BROKEN):
        try:
            source = sources[seed % len(sources)]
            complaints = complaints_of_spoilt(source, scratch / str(seed), 1000 + seed)
            print(*complaints, sep="\n", end="\n" if complaints else "")
            held += not complaints
        except Exception as error:
            print(f"seed {seed}: {type(error).__name__}: {error}")
    return N_BROKEN, held


def answers_in_time(root: Path) -> tuple[int, int]:
    """Answers about a run with a log of a million lines, and how many came within a second."""
    folder = record_maze(root / "long" / "maze", "8", 600)
    line = json.loads((folder / "metrics.jsonl").read_text().splitlines()[-1])
    with (folder / "metrics.jsonl").open("w") as file:
        for step in range(LINES):
            file.write(json.dumps(line | {"step": step}) + "\n")
    client = client_of(root / "long")
    seconds = []
    for _ in range(5):
        for route in routes_of(folder):
            began = time.perf_counter()
            assert client.get(route).status in (200, 404)
            seconds.append(time.perf_counter() - began)
    slow = np.quantile(seconds, 0.95)
    print(
        f"a log of {LINES:,} lines: 95 % of answers within {slow:.2f} s, all in {max(seconds):.2f}"
    )
    return len(seconds), int(sum(value < SOON for value in seconds))


def main() -> int:
    """Print a table; 1 if anything was lost."""
    lost = 0
    with tempfile.TemporaryDirectory() as name:
        root, scratch = Path(name) / "runs", Path(name) / "scratch"
        scratch.mkdir()
        record_maze(root / "maze", "8", 1100)
        record_maze(root / "paper", "8", 600, preset="paper")
        record_cart_pole(root / "cart", 250)
        record_returns(root / "dqn")
        print(f"{'promise':<44}{'tried':>8}{'held':>8}{'lost':>8}")
        for words, trial in (
            ("18: forged hosts on every route get 403", lambda: forged_hosts(root)),
            ("19: paths that want out", lambda: paths(root)),
            ("20: broken runs without a 500", lambda: broken_runs(root, scratch)),
            ("20: a million lines, answers in a second", lambda: answers_in_time(Path(name))),
        ):
            tried, held = trial()
            print(f"{words:<44}{tried:>8}{held:>8}{tried - held:>8}", flush=True)
            lost += tried - held
    return int(lost > 0)


if __name__ == "__main__":
    sys.exit(main())
