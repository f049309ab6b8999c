"""What comes from files reaches the terminal as text, and forges no row."""

import json
import random
import subprocess
import sys

import pytest
from campaigns.common.tally import Tally
from tests.cli import hostile_text
from tests.inspector.recorded import record_maze

from tgm.cli.main import main
from tgm.cli.output import plain, print_json, print_lines, print_table


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A short run."""
    return record_maze(tmp_path_factory.mktemp("source") / "run", "8", 60)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("maze 27, Ω 迷路 é", "maze 27, Ω 迷路 é"),
        ("a\x1b[31mb", r"a\x1b[31mb"),
        ("a\nb\r\tc", r"a\nb\r\tc"),
        ("\x9b2K\x7f", r"\x9b2K\x7f"),
        ("a\u202eb\u200b\u2028", r"a\u202eb\u200b\u2028"),
        ("\ud800\udc9b", r"\ud800\udc9b"),
        ("\u3164\ufe0f", r"\u3164\ufe0f"),
    ],
)
def test_what_a_terminal_does_not_show_is_written_out(text, shown):
    assert plain(text) == shown


@pytest.mark.parametrize("is_terminal", [False, True])
def test_cells_and_lines_are_text(capsys, monkeypatch, is_terminal):
    if is_terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
    for name in hostile_text.PARTS:
        print_lines(f"a {name} b")
        print_table(("head",), [(name,)])
        print_json({"name": name})
        out = capsys.readouterr().out
        assert hostile_text.is_text(hostile_text.COLOUR.sub("", out) if is_terminal else out)
        assert json.loads(out.splitlines()[-1]) == {"name": name}
    print_lines("[bold]x[/] :smile:")
    assert capsys.readouterr().out == "[bold]x[/] :smile:\n"


def test_a_name_forges_no_row(source, tmp_path, capsys):
    rng = random.Random(0)
    hostile_text.spoil(source, tmp_path / "runs", "one\nother  finished  tgm", rng)
    assert main(["runs", str(tmp_path / "runs")]) == 0
    head, row = capsys.readouterr().out.splitlines()
    assert head.startswith("run ")
    assert row.startswith(r"xone\nother")


def test_every_command_prints_text_only(source, tmp_path):
    """Promise 28 in short; campaigns/hostile_text.py has the thousand."""
    rng, tally = random.Random(1), Tally("28")
    for index in range(6):
        name = hostile_text.hostile_name(rng)
        scratch = tmp_path / str(index)
        scratch.mkdir()
        hostile_text.try_name(source, scratch, name, rng, tally.trial)
    assert tally.tried == 96
    assert tally.lost == []


def test_a_warning_and_a_traceback_are_text_too(tmp_path):
    """Those that the interpreter prints, so in a process of its own."""
    path = tmp_path / "x\x1b[2J\nforged.txt"
    path.write_text("####\n#S.#\n####\n#G##\n####\n")
    train = ["train", "--maze", str(path), "--steps", "5", "--no-report"]
    for more in (["--out", str(tmp_path / "run")], ["--out", str(path), "--debug"]):
        command = [sys.executable, "-m", "tgm", *train, *more]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert "cannot be reached" in done.stderr
        assert ("Traceback" in done.stderr) == ("--debug" in more)
        assert hostile_text.is_text(done.stdout)
        assert hostile_text.is_text(done.stderr)
