"""The server answers its owner only, gives no foreign byte, and never fails with a 500."""

import json
import socket

import pytest
from tests.inspector.broken import FORGED_HOSTS, payloads, spoil
from tests.inspector.client import Client

from tgm.errors import ConfigError
from tgm.inspector.catalogue import Catalogue, run_id
from tgm.inspector.server import TOKEN_HEADER, allowed_hosts, listen, make_app, new_token

PORT = 8123
HOSTS = frozenset({f"127.0.0.1:{PORT}", f"localhost:{PORT}"})
TOKEN = "the-token"


def client_of(*places, token=TOKEN):
    app = make_app(Catalogue(places), HOSTS, TOKEN)
    headers = [("host", f"127.0.0.1:{PORT}")] + [(TOKEN_HEADER, token)] * bool(token)
    return Client(app, headers)


@pytest.fixture(scope="module")
def client(runs_folder):
    return client_of(runs_folder)


@pytest.fixture(scope="module")
def id_(runs_folder):
    return run_id(runs_folder / "d-maze")


@pytest.fixture(scope="module")
def routes(id_):
    api = [f"/api/runs/{id_}{rest}" for rest in ("", "/outline", "/field", "/pulse", "/chunks/0")]
    return ["/", "/static/main.js", "/static/plotly.js", "/nowhere", "/api/runs", *api]


def test_the_runs_and_their_parts_are_served(client, id_, runs_folder):
    listed = client.get("/api/runs").json()
    assert [run["name"] for run in listed["runs"]] == sorted(p.name for p in runs_folder.iterdir())
    summary = client.get(f"/api/runs/{id_}").json()
    assert summary["name"] == "d-maze"
    chunk = client.get(f"/api/runs/{id_}/chunks/{summary['chunks'][0]}").json()
    assert chunk["obs.step"][0] == 0
    assert client.get(f"/api/runs/{id_}/outline").json()["agent"] == "tgm"
    assert client.get(f"/api/runs/{id_}/pulse").json()["state"] == "finished"
    assert client.get("/").text.startswith("<!doctype html>")
    assert client.get("/api/runs", method="HEAD").status == 200


def test_forged_hosts_get_403_on_every_route(client, routes):
    assert len(FORGED_HOSTS) >= 50
    for route in routes:
        for host in FORGED_HOSTS:
            answer = client.get(route, headers=[("host", host.format(port=PORT))])
            assert answer.status == 403, (route, host)
            assert "name" not in answer.json()


def test_two_hosts_are_none(client):
    headers = [("host", f"127.0.0.1:{PORT}"), ("host", "evil.example")]
    assert client.get("/", headers=headers).status == 403


def test_data_needs_the_token(runs_folder, routes):
    for token in (None, "wrong", TOKEN[:-1], TOKEN + "x", "\xe4"):
        client = client_of(runs_folder, token=token)
        for route in routes:
            status = client.get(route).status
            assert status == 403 if route.startswith("/api") else status in (200, 404)


def test_tokens_are_long_and_new():
    assert len({new_token() for _ in range(10)}) == 10
    assert len(new_token()) >= 40


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "FOO"])
def test_only_get_and_head(client, routes, method):
    for route in routes:
        answer = client.get(route, [("origin", "http://evil.example")], method=method)
        assert answer.status == 405
        assert answer.headers["allow"] == "GET, HEAD"


def test_every_answer_has_the_security_headers(client, routes):
    for route in routes:
        for headers in ([], [("host", "evil.example")], [("origin", "http://evil.example")]):
            answer = client.get(route, headers=headers)
            policy = answer.headers["content-security-policy"]
            assert "default-src 'self'" in policy
            assert "script" not in policy  # scripts fall under the default: own files only
            assert "unsafe-eval" not in policy
            assert "frame-ancestors 'none'" in policy
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["x-frame-options"] == "DENY"
            assert answer.headers["referrer-policy"] == "no-referrer"
            assert answer.headers["cache-control"] == "no-store"
            assert not [name for name in answer.headers if name.startswith("access-control")]


def test_no_path_leads_out(client, id_, runs_folder):
    (runs_folder.parent / "secret.txt").write_text("the secret")
    up = "../" * 12
    made = [path.replace("{id}", id_) for path in payloads(1000)]
    for start in ("/static/", "/static//", "/", f"/api/runs/{id_}/", f"/api/runs/{id_}/chunks/"):
        made += [start + rest for rest in (f"{up}etc/passwd", "/etc/passwd", "\x00", "server.py")]
    harmless = {client.get(path).content for path in ("/", "/api/runs", f"/api/runs/{id_}")}
    for path in made:
        answer = client.get(path)
        assert answer.status in (200, 404, 422), path
        assert b"the secret" not in answer.content
        assert b"root:" not in answer.content
        assert answer.status != 200 or answer.content in harmless, path


def test_what_is_not_there_is_404(client, id_):
    for path in (f"/api/runs/{id_}/chunks/x", "/api/runs/0123456789abcdef", "/static/server.py"):
        assert client.get(path).status == 404
    answer = client.get(f"/api/runs/{id_}/chunks/99")
    assert answer.status == 422
    assert "no history begins at step 99" in answer.json()["error"]
    assert client.get(f"/api/runs/{id_}/chunks/{10**30}").status == 422


def test_links_that_point_outside_give_no_foreign_byte(runs_folder, tmp_path):
    import shutil

    root = tmp_path / "root"
    shutil.copytree(runs_folder / "d-maze", root / "run")
    secret = tmp_path / "secret.json"
    secret.write_text('{"format": 4, "agent": "the secret"}\n')
    for name in ("metrics.jsonl", "result.json", "run.json"):
        (root / "run" / name).unlink()
        (root / "run" / name).symlink_to(secret)
        client = client_of(root)
        id_ = run_id(root / "run")
        for path in ("/api/runs", f"/api/runs/{id_}", f"/api/runs/{id_}/outline"):
            answer = client.get(path)
            assert answer.status in (200, 404, 422)
            assert "the secret" not in answer.text


@pytest.mark.parametrize("seed", range(60))
def test_broken_runs_are_named_and_never_a_500(runs_folder, tmp_path, seed):
    sources = sorted(runs_folder.iterdir())
    assert complaints_of_spoilt(sources[seed % len(sources)], tmp_path / "root", seed) == []


def complaints_of_spoilt(source, root, seed):
    """Ask everything of a spoilt copy of a run; returns what is wrong with the answers."""
    root.mkdir()
    folder = root / "run"
    what = spoil(source, folder, seed)
    client, id_ = client_of(root), run_id(folder.resolve())
    paths = ["", f"/{id_}", f"/{id_}/outline", f"/{id_}/field", f"/{id_}/pulse"]
    steps = [path.stem for path in (folder / "history").glob("*")] if folder.is_dir() else []
    paths += [f"/{id_}/chunks/{int(stem)}" for stem in steps if stem.isdecimal()]
    answers = [client.get(f"/api/runs{path}") for path in paths]
    return [
        f"{what}: {answer.status} {answer.text[:200]}" for answer in answers if is_wrong(answer)
    ]


def is_wrong(answer) -> bool:
    """Whether an answer is none of ours, names no error, or holds what is not the run's."""
    content = json.loads(answer.text)
    names_its_error = answer.status == 200 or bool(content["error"])
    return answer.status not in (200, 404, 422) or "root:" in answer.text or not names_its_error


def test_hostile_names_are_data(tmp_path, runs_folder):
    import shutil

    name = '"><img src=x onerror=alert(1)>'
    shutil.copytree(runs_folder / "d-maze", tmp_path / name)
    [listed] = client_of(tmp_path).get("/api/runs").json()["runs"]
    assert listed["name"] == name
    assert listed["id"].isalnum()


def test_listening_is_on_loopback_and_names_are_exact():
    listening = listen("127.0.0.1", 0)
    with listening:
        port = listening.getsockname()[1]
        assert allowed_hosts(listening) == {f"127.0.0.1:{port}", f"localhost:{port}"}


class Listening:
    """As much of a socket as tells where it listens."""

    def __init__(self, *address):
        self._address = address

    def getsockname(self):
        return self._address


def test_names_of_other_addresses():
    assert allowed_hosts(Listening("192.0.2.7", 5000)) == {"192.0.2.7:5000"}
    assert allowed_hosts(Listening("::1", 5000, 0, 0)) == {"[::1]:5000", "localhost:5000"}
    both = {"127.0.0.1:80", "127.0.0.1", "localhost:80", "localhost"}
    assert allowed_hosts(Listening("127.0.0.1", 80)) == both


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "example.org", "", "127.0.0.1:80"])
def test_addresses_that_are_none_are_refused(host):
    with pytest.raises(ConfigError, match="--host"):
        listen(host, 0)


def test_a_port_in_use_is_one_line():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(ConfigError, match="cannot listen"):
            listen("127.0.0.1", taken.getsockname()[1])
