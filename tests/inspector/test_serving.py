"""The server stays up for its owner; campaigns/busy_server.py tries it at length."""

import contextlib
import http.client
import random
import shutil
import socket
import time

import pytest
from tests.inspector.browsing import serve
from tests.inspector.pestering import inspected, malformed
from tests.inspector.test_server import client_of

from tgm.inspector import serving
from tgm.inspector.assets import plotly_script
from tgm.inspector.catalogue import run_id

N_IDLE = 200  # more than the process has descriptors for
PATIENCE = 10.0  # seconds; the campaign asks for one


@pytest.fixture(scope="module")
def folder(tmp_path_factory, runs_folder):
    root = tmp_path_factory.mktemp("served").resolve()
    return shutil.copytree(runs_folder / "d-maze", root / "run")


@pytest.fixture(scope="module")
def server(folder):
    with inspected(folder.parent) as started:
        yield started


def answered(server, path="/api/runs", fine=(200,)):
    status, seconds = server.ask(path)
    return status in fine and seconds < PATIENCE and server.process.poll() is None


def test_idle_connections_do_not_keep_the_owner_out(server):
    with contextlib.ExitStack() as stack:
        for index in range(N_IDLE):
            connection = stack.enter_context(server.connect())
            if index % 2:
                connection.sendall(b"GET / HTTP/1.1\r\nHo")
            if index % 50 == 0:
                assert answered(server)
        assert answered(server)
    assert answered(server)
    assert server.complaints.stat().st_size < 1000


def test_malformed_requests_are_no_fault_of_the_server(server):
    rng = random.Random(0)
    for _ in range(150):
        data = malformed(rng)
        assert not server.send(data).startswith(b"HTTP/1.1 5"), data
    assert answered(server)
    assert server.complaints.stat().st_size < 1000


def test_files_may_be_cut_while_they_are_served(server, folder):
    id_ = run_id(folder)
    for path in sorted(file for file in folder.rglob("*") if file.is_file()):
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2])
        for rest in ("", "/outline", "/chunks/0"):
            assert answered(server, f"/api/runs/{id_}{rest}", (200, 404, 422)), path
        path.write_bytes(data)
    assert answered(server, f"/api/runs/{id_}")


def hangs_up(folder, drops):
    """Whether the server closes a connection on which some bytes come, a few at a time."""
    with serve(folder.parent) as url:
        port = int(url.split("/")[2].rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
            try:
                for drop in drops:
                    connection.sendall(drop)
                    time.sleep(0.05)
                return connection.recv(10) == b""
            except ConnectionError:
                return True


@pytest.mark.parametrize("drops", [[b""], [b"GET / HTTP/1.1\r\n"], [b"x"] * 200])
def test_a_request_that_does_not_come_is_not_waited_for(folder, monkeypatch, drops):
    """A byte now and then does not start the clock again."""
    monkeypatch.setattr(serving, "HEAD_SECONDS", 0.5)
    assert hangs_up(folder, drops)


@pytest.mark.parametrize("digits", ["9" * 4301, "0" * 5000, "1" * 19])
def test_a_step_of_thousands_of_digits_is_named(runs_folder, digits):
    answer = client_of(runs_folder).get(
        f"/api/runs/{run_id(runs_folder / 'd-maze')}/chunks/{digits}"
    )
    assert answer.status == 422
    assert "no history begins at step" in answer.json()["error"]


def test_long_answers_come_whole(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    with contextlib.closing(connection):
        connection.request("GET", "/static/plotly.js")
        assert connection.getresponse().read() == plotly_script()
        connection.request("HEAD", "/static/plotly.js")
        assert connection.getresponse().read() == b""


def test_few_descriptors_mean_few_connections(monkeypatch):
    resource = pytest.importorskip("resource")
    for limit, most in ((4096, 64), (128, 64), (100, 36), (20, 4)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, limit=limit: (limit, limit))
        monkeypatch.setattr(resource, "setrlimit", lambda *_: None)
        assert serving._most_connections() == most
