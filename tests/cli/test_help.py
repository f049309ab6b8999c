"""The help of every command, completion, and tables that fit a narrow terminal."""

import io
import os
import shlex
import shutil
import subprocess
import sys

import pytest

from tgm.cli.help_text import EXAMPLES, FIRST_STEPS, help_of
from tgm.cli.main import COMMANDS, _parse, main
from tgm.cli.output import folded
from tgm.cli.streams import OutText


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_fits_has_examples_and_no_signs_of_python(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    assert "examples:\n  " in text
    for sign in ("{None}", "|{", "default: True", "default: False", "-flags options"):
        assert sign not in text


def terminal_with_colours(monkeypatch) -> io.StringIO:
    """Standard output from now on."""
    shown = io.StringIO()
    shown.isatty = lambda: True
    monkeypatch.setattr(sys, "stdout", shown)
    monkeypatch.setenv("TERM", "xterm")
    return shown


def test_the_help_has_colours_in_a_terminal_unless_the_user_wants_none(monkeypatch):
    terminal = terminal_with_colours(monkeypatch)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert main(["runs", "--help"]) == 0
    assert "\x1b[" in terminal.getvalue()
    terminal.truncate(0)
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(["runs", "--help"]) == 0
    assert "examples:" in terminal.getvalue()
    assert "\x1b" not in terminal.getvalue()


def test_a_wrong_flag_is_named_in_a_terminal_as_elsewhere(capsys, monkeypatch):
    terminal_with_colours(monkeypatch)
    assert main(["train", "--foo"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == "tgm: Unrecognized options: --foo; For full helptext, run tgm train --help"


@pytest.mark.parametrize("columns", ["1", "20"])
def test_the_help_ends_in_a_very_narrow_terminal(columns, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    assert main(["runs", "--help"]) == 0
    assert "examples:" in capsys.readouterr().out
    assert os.environ["COLUMNS"] == columns


def test_every_command_has_examples_and_each_of_them_can_be_read():
    assert set(EXAMPLES) == set(COMMANDS)
    for name, examples in EXAMPLES.items():
        for example in examples:
            words = shlex.split(example.partition(" >")[0], comments=True)
            if words[0] != "eval":
                assert words[:2] == ["tgm", name]
                _parse(name, words[2:])


def test_the_overview_fits_and_has_examples_that_can_be_read(capsys):
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    first = lines.index("examples:") + 1
    examples = lines[first : lines.index("", first)]
    assert len(examples) == len(FIRST_STEPS) == 3
    for example in examples:
        program, name, *words = shlex.split(example, comments=True)
        assert program == "tgm"
        _parse(name, words)


def test_boxes_keep_their_width():
    box = [
        "╭─ maze-flags options ────╮",
        "│ --a {None}|FLOAT  x     │",
        "│ --b FLOAT|{auto}        │",
    ]
    box += ["│ (default: True)         │", "╰─────────────────────────╯"]
    assert {len(line) for line in help_of("", "\n".join(box)).splitlines()[:5]} == {27}


COMPLETED = {
    "tr": "train",
    "train --max-s": "--max-states",
    "train --exploration o": "optimism",
    "train --preset p": "paper",
    "inspect --no-b": "--no-browser",
    "completion z": "zsh",
    "fit log": "",  # names of files are the shell's own
}


def completion(shell, tmp_path, capsys):
    assert main(["completion", shell]) == 0
    script = tmp_path / f"tgm.{shell}"
    script.write_text(capsys.readouterr().out, encoding="utf-8")
    return script


def told(shell, code):
    asked = subprocess.run([shell, "-c", code], capture_output=True, text=True, check=True)
    return asked.stdout.split()


def test_bash_completes_commands_flags_and_values(tmp_path, capsys):
    script = completion("bash", tmp_path, capsys)
    for typed, wanted in COMPLETED.items():
        words = ["tgm", *typed.split()]
        code = f"source {script}; COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; "
        assert told("bash", code + '_tgm; echo "${COMPREPLY[@]}"') == wanted.split()
    assert told("bash", f"source {script}; complete -p tgm") == [
        *("complete", "-o", "default", "-F", "_tgm", "tgm")
    ]


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_completes_commands_flags_values_and_files(tmp_path, capsys):
    script = completion("zsh", tmp_path, capsys)
    # zsh completes in a terminal only; these stand for its own functions.
    own = (
        "compdef() { :; }; _files() { print FILES; }; compadd() { print -l -- $found; }; "
        "_describe() { print -l -- ${found%%:*}; }; "
    )
    for typed, wanted in COMPLETED.items():
        words = ["tgm", *typed.split()]
        code = f"{own} source {script}; words=({' '.join(words)}); CURRENT={len(words)}; _tgm"
        offered = told("zsh", code)
        fitting = [word for word in offered if word.startswith(words[-1])]
        assert fitting == wanted.split()
        assert (offered == ["FILES"]) == (not wanted)


def test_what_zsh_says_of_flags_is_plain(tmp_path, capsys):
    text = completion("zsh", tmp_path, capsys).read_text(encoding="utf-8")
    assert text.startswith("#compdef tgm\n")
    for sign in ("None}", "(default:", "•"):
        assert sign not in text
    assert "'--no-report:off: Write report.html into the run" in text
    assert main(["completion", "fish"]) == 2


def test_a_wide_table_is_folded(monkeypatch):
    rows = [("run", "state", "steps", "remark"), ("r" * 30, "finished", "1/1", "")]
    rows.append(("s", "live", "2/9", "words " * 10))
    assert len(folded(rows)) == 3  # for programs: no terminal, a line each
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(OutText, "isatty", lambda self: True)
    assert folded(rows[:2]) == [
        "run" + " " * 29 + "state     steps  remark",
        f"{'r' * 30}  finished  1/1",
    ]
    lines = folded(rows)
    assert lines[0] == "run"
    assert lines[1] == "  state     steps"
    assert lines[3:5] == ["r" * 30, "  finished  1/1"]
    assert lines[-1].startswith("  words words")
