"""`tgm inspect` in a process of its own, and clients that mean it no good."""

import contextlib
import http.client
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tgm.inspector.server import TOKEN_HEADER

PATIENCE = 20.0  # seconds until a request of the owner has failed


@dataclass(frozen=True)
class Inspected:
    """A server that runs."""

    process: subprocess.Popen
    port: int
    token: str
    complaints: Path

    def ask(self, path: str) -> tuple[int, float]:
        """What the owner gets for a path: the status, and the seconds until the last byte."""
        began = time.perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        with contextlib.closing(connection):
            connection.request("GET", path, headers={TOKEN_HEADER: self.token})
            answer = connection.getresponse()
            answer.read()
            return answer.status, time.perf_counter() - began

    def connect(self) -> socket.socket:
        """A connection that says nothing."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def send(self, data: bytes) -> bytes:
        """Some bytes, and the beginning of what comes back; nothing if the server hangs up."""
        with self.connect() as connection, contextlib.suppress(ConnectionError):
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            return connection.recv(64)
        return b""


@contextlib.contextmanager
def inspected(folder: Path, most_files: int = 128) -> Iterator[Inspected]:
    """`tgm inspect` of a folder, with so many descriptors; what it complains of goes to a file."""
    limited = 'ulimit -n $0 && exec "$@"'  # a hard limit, which cannot be raised again
    command = [sys.executable, "-m", "tgm", "inspect", str(folder), "--no-browser", "--json"]
    with tempfile.TemporaryDirectory() as name:
        complaints = Path(name) / "stderr"
        with complaints.open("wb") as errors:
            process = subprocess.Popen(
                ["sh", "-c", limited, str(most_files), *command],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=os.environ | {"PYTHONUNBUFFERED": "1"},
            )
        try:
            address, token = json.loads(process.stdout.readline())["url"].split("/#token=")
            yield Inspected(process, int(address.rpartition(":")[2]), token, complaints)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


HEADS = (b"Host: 127.0.0.1", b"Content-Length: 99999999999", b"Transfer-Encoding: chunked")
HEADS += (
    b"Content-Length: -1",
    b"Connection: upgrade\r\nUpgrade: websocket",
    b"Expect: 100-continue",
)
HEADS += (
    b"X" * 9000 + b": y",
    b": nothing",
    b"A: \x00\x1b[31m",
    b"Range: bytes=0-0,1-1",
    b"a b: c",
)
TARGETS = (
    b"/",
    b"*",
    b"/%00",
    b"/%ff%fe",
    b"//",
    b"http://evil.example/",
    b"/api/runs/" + b"9" * 4301,
)
TARGETS += (b"/" + b"a" * 8000, b"/static/plotly.js", b"/api/runs?" + b"x=1&" * 1000, b"", b"/\xff")
METHODS = (b"GET", b"POST", b"HEAD", b"CONNECT", b"get", b"", b"G\x00T", b"PRI", b"\x16\x03\x01")
VERSIONS = (b"HTTP/1.1", b"HTTP/1.0", b"HTTP/9.9", b"HTTP/2.0", b"", b"ICY")


def malformed(rng: random.Random) -> bytes:
    """A request that no browser sends: cut short, with parts that do not fit, or just noise."""
    if rng.random() < 0.1:
        return rng.randbytes(rng.randrange(1, 2000))
    first = b" ".join(rng.choice(parts) for parts in (METHODS, TARGETS, VERSIONS))
    heads = [rng.choice(HEADS) for _ in range(rng.randrange(6))]
    data = b"\r\n".join([first, *heads, b"", b""]) + rng.choice((b"", b"x" * 5000, b"ffffffff\r\n"))
    return data[: rng.randrange(1, len(data) + 1)] if rng.random() < 0.3 else data
