"""`tgm inspect` and `tgm report`: what they write and print, and what they refuse."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from tests.inspector.recorded import record_maze

from tgm.cli.main import main
from tgm.inspector import assets


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A short run."""
    return record_maze(tmp_path_factory.mktemp("runs") / "run", "8", 120)


def test_a_report_is_one_file(folder, tmp_path, capsys):
    file = tmp_path / "page.html"
    assert main(["report", str(folder), "-o", str(file), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {"file": str(file), "bytes": file.stat().st_size}
    assert file.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert main(["report", str(folder), "--out", str(file)]) == 0
    assert "opens in any browser" in capsys.readouterr().out


def test_a_report_of_the_latest_run(folder, tmp_path):
    (tmp_path / "latest").symlink_to(folder)
    file = tmp_path / "page.html"
    assert main(["report", str(tmp_path / "latest"), "-o", str(file)]) == 0
    assert f'"{folder.name}"' in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["run.json", "metrics.jsonl", "checkpoints/x"])
def test_a_report_does_not_replace_a_file_of_a_run(folder, capsys, name):
    target = folder / name
    if not target.exists():
        target.write_text("mine")
    before = target.read_bytes()
    assert main(["report", str(folder), "-o", str(target)]) == 2
    assert "is a file of a run" in capsys.readouterr().err
    assert target.read_bytes() == before


def test_a_report_replaces_nothing_but_files(folder, tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe")
    for target in (tmp_path / "pipe", tmp_path):
        assert main(["report", str(folder), "-o", str(target)]) == 2
        assert "is not a regular file" in capsys.readouterr().err
    assert (tmp_path / "pipe").is_fifo()


def test_train_ends_with_a_report_unless_told_otherwise(tmp_path, capsys):
    for name, flags in (("with", []), ("without", ["--no-report"])):
        arguments = ["train", "--maze", "8", "--steps", "60", "--out", str(tmp_path / name)]
        assert main([*arguments, "--json", *flags]) == 0
        told = json.loads(capsys.readouterr().out)
        assert ("report" in told) == (name == "with")
        assert (tmp_path / name / "report.html").exists() == (name == "with")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["report"], "RUN"),
        (["report", "nowhere"], "nowhere: not a run"),
        (["inspect", "nowhere"], "nowhere: no such directory"),
        (["inspect"], "runs: no such directory"),
        (["inspect", ".", "--host", "0.0.0.0"], "give one address"),
        (["inspect", ".", "--host", "example.org"], "it must be an IP address"),
        (["inspect", ".", "--port", "99999"], "cannot listen on"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    [line] = captured.err.strip().splitlines()
    assert message in line


def test_a_report_that_cannot_be_written_is_one_line(folder, tmp_path, capsys):
    assert main(["report", str(folder), "-o", str(tmp_path / "no" / "page.html")]) == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["inspect", "report"])
def test_a_missing_extra_is_named(command, folder, capsys, monkeypatch):
    monkeypatch.setattr(assets, "find_spec", lambda name: None if name == "plotly" else object())
    assert main([command, str(folder)]) == 2
    message = "needs plotly: pip install temporal-gaussian-mixture[inspect]"
    assert message in capsys.readouterr().err


def test_another_address_is_warned_of(folder, capsys, monkeypatch):
    from tests.inspector.test_server import Listening

    from tgm.inspector import server, serving

    served = []
    monkeypatch.setattr(server, "listen", lambda host, port: Listening(host, 5000))
    monkeypatch.setattr(serving, "serve", lambda app, listening: served.append(app))
    for host, is_warned in (("127.0.0.1", False), ("192.0.2.7", True)):
        assert main(["inspect", str(folder), "--host", host, "--no-browser"]) == 0
        captured = capsys.readouterr()
        assert ("other machines can reach this server" in captured.err) == is_warned
        assert f"http://{host}:5000/#token=" in captured.out
    assert len(served) == 2


def test_the_browser_gets_the_address_by_a_private_file(folder, monkeypatch):
    """Others can read the arguments of a process, and the token must not be among them."""
    from tgm.cli import inspect

    opened = []

    def look(address):
        path = Path(address.removeprefix("file://"))
        opened.append((path, path.stat().st_mode & 0o777, path.read_text()))

    monkeypatch.setattr(inspect.webbrowser, "open", look)
    with inspect._shown("http://127.0.0.1:1/#token=secret&x"):
        [(path, mode, text)] = opened
        assert mode == 0o600
        assert "token=secret&amp;x" in text
    assert not path.exists()


def test_the_server_runs_until_interrupted(folder):
    command = [sys.executable, "-m", "tgm", "inspect", str(folder), "--no-browser", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        told = json.loads(process.stdout.readline())
        assert told["runs"] == 1
        address, token = told["url"].split("/#token=")
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", address)
        request = urllib.request.Request(f"{address}/api/runs", headers={"X-TGM-Token": token})
        with urllib.request.urlopen(request) as answer:
            assert json.load(answer)["runs"][0]["name"] == "run"
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(f"{address}/api/runs")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 0
