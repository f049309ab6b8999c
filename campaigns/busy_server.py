"""Promise 29: the inspector answers its owner, whatever others do to it and to its files.

Run from the root of the repository: python -m campaigns.busy_server [--idle N] [--requests N]
"""

from __future__ import annotations

import argparse
import contextlib
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

from campaigns.common.tally import Tally, report
from tests.inspector.pestering import Inspected, inspected, malformed
from tests.inspector.recorded import record_maze

from tgm.inspector.catalogue import run_id

SOON = 1.0  # second
MOST_COMPLAINTS = 10_000  # bytes on standard error in all
EVERY = 100  # requests of others between two of the owner


def ask_all(
    server: Inspected, folder: Path, tally: Tally, when: str, fine: tuple[int, ...]
) -> None:
    """One request of the owner for each kind of answer: each has to come within a second."""
    id_ = run_id(folder)
    routes = ["/", "/api/runs", *(f"/api/runs/{id_}{rest}" for rest in ("", "/pulse", "/chunks/0"))]
    for route in routes:
        with tally.trial(f"{when}, {route}"):
            status, seconds = server.ask(route)
            assert status in fine, f"status {status}"
            assert seconds < SOON, f"{seconds:.2f} s"


def idle_connections(server: Inspected, folder: Path, n: int) -> Tally:
    """Connections that say nothing, or half a request, a few of them anew all the time."""
    tally = Tally(f"{n} idle connections: the owner is answered within a second")
    held = []
    with contextlib.ExitStack() as stack:
        for index in range(n):
            held.append(stack.enter_context(server.connect()))
            if index % 2:
                with contextlib.suppress(OSError):
                    held[-1].sendall(b"GET / HTTP/1.1\r\nHost: 127")
            if index % max(1, n // 20) == 0:
                ask_all(server, folder, tally, f"after {index} connections", (200,))
        ask_all(server, folder, tally, "with all of them", (200,))
        for _ in range(3):  # a drop now and then keeps nobody's place
            for connection in held:
                with contextlib.suppress(OSError):
                    connection.sendall(b"x")
            time.sleep(0.5)
            ask_all(server, folder, tally, "while they drip", (200,))
    return tally


def slow_readers(server: Inspected, folder: Path) -> Tally:
    """Clients that ask for the largest file and do not take it."""
    tally = Tally("clients that do not read: the owner is answered within a second")
    ask = f"GET /static/plotly.js HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode()
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            with contextlib.suppress(OSError):
                stack.enter_context(server.connect()).sendall(ask)
        ask_all(server, folder, tally, "with slow readers", (200,))
    return tally


def malformed_requests(server: Inspected, folder: Path, n: int, rng: random.Random) -> Tally:
    """Requests that are none: each gets an answer of four hundred and something, or nothing."""
    tally = Tally("malformed requests: no fault of the server")
    for index in range(n):
        data = malformed(rng)
        with tally.trial(repr(data[:80])):
            answer = server.send(data)
            assert not answer.startswith(b"HTTP/1.1 5"), answer
        if index % EVERY == 0:
            ask_all(server, folder, tally, f"after {index} malformed ones", (200,))
    return tally


def changing_files(server: Inspected, folder: Path, n: int, rng: random.Random) -> Tally:
    """Files that are cut short, grow or go while they are served."""
    tally = Tally("files that change while they are served: no fault of the server")
    contents = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    paths = sorted(contents)
    for _ in range(n):
        path = rng.choice(paths)
        data = contents[path]
        path.write_bytes(data[: rng.randrange(len(data) + 1)])
        ask_all(server, folder, tally, f"{path.name} cut", (200, 404, 422))
        path.write_bytes(data)
    ask_all(server, folder, tally, "when all is as it was", (200,))
    return tally


def main() -> int:
    """Print the table; 1 if anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--idle", type=int, default=1500, help="connections that say nothing")
    parser.add_argument("--requests", type=int, default=10_000, help="malformed requests")
    parser.add_argument("--files", type=int, default=300, help="files that are cut short")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, arguments.idle + 256), hard))
    with tempfile.TemporaryDirectory() as name:
        folder = record_maze(Path(name).resolve() / "runs" / "maze", "8", 1100)
        with inspected(folder.parent) as server:
            tallies = [
                idle_connections(server, folder, arguments.idle),
                slow_readers(server, folder),
                malformed_requests(server, folder, arguments.requests, rng),
                changing_files(server, folder, arguments.files, rng),
            ]
            end = Tally("it is still there, and complained in few words")
            with end.trial("at the end"):
                assert server.process.poll() is None, "the server has ended"
                size = server.complaints.stat().st_size
                assert size < MOST_COMPLAINTS, f"{size} bytes on standard error"
    return report([*tallies, end])


if __name__ == "__main__":
    sys.exit(main())
