"""Standard output and error that are closed, full or broken cost the messages, never the work."""

import errno
import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import gymnasium as gym
import pytest
from campaigns.common.lives import Life, files_of
from campaigns.telling import telling

import tgm
from tgm.cli.main import OUTPUT_LOST, main
from tgm.cli.waiting import busy
from tgm.errors import RunError
from tgm.runs import Run


class Broken(io.TextIOBase):
    """A stream that fails at every call, or from one on."""

    def __init__(self, error: Exception, is_terminal: bool = False, after: int = 0) -> None:
        self._error, self._is_terminal, self._left = error, is_terminal, after
        self.n_calls = 0

    def write(self, text: str) -> int:
        self.n_calls += 1
        if self.n_calls > self._left:
            raise self._error
        return len(text)

    def flush(self) -> None:
        if self.n_calls > self._left:
            raise self._error

    def isatty(self) -> bool:
        return self._is_terminal


ERRORS = [
    OSError(errno.ENOSPC, "No space left on device"),
    BrokenPipeError(errno.EPIPE, "Broken pipe"),
    OSError(errno.EIO, "Input/output error"),
    ValueError("I/O operation on closed file"),
    RuntimeError("a stream of somebody else"),
]


def tgm_in_shell(folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    """Run a line of shell in which `tgm` is ours."""
    source = str(Path(tgm.__file__).parent.parent)
    return subprocess.run(
        ["bash", "-c", f'set -o pipefail; tgm() {{ "{sys.executable}" -m tgm "$@"; }}; {line}'],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": source, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )


def test_streams_of_all_kinds(tmp_path):
    tally = telling(5, 4, tmp_path, n_steps=200)
    assert tally.tried == 5
    assert tally.lost == []


class Terminal(io.StringIO):
    """A terminal that keeps what it is shown."""

    def isatty(self) -> bool:
        return True


class Slow(gym.Env):
    """A world with one step that takes until the bar has moved; ten seconds on a busy machine."""

    observation_space = gym.spaces.Discrete(2)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, terminal):
        self.terminal, self.frames = terminal, []

    def reset(self, *, seed=None, options=None):
        return 0, {}

    def step(self, action):
        before, until = self.terminal.tell(), time.monotonic() + 10.0
        self.frames = []
        while len(set(self.frames[1:-1])) < 3 and time.monotonic() < until:
            time.sleep(0.1)
            self.frames = self.terminal.getvalue()[before:].split("learning")
        return 1, 0.0, True, False, {}


def test_a_bar_moves_while_a_single_step_takes_long(monkeypatch):
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    env = Slow(shown)
    tgm.TGMAgent(env, seed=0).learn(1, progress_bar=True)
    assert len(set(env.frames[1:-1])) >= 3


def test_a_narrow_terminal_shows_all_figures(monkeypatch):
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setenv("COLUMNS", "40")
    Life("default", "8", 0, 40).agent().learn(40, progress_bar=True)
    assert "40/40" in shown.getvalue()
    assert "…" not in shown.getvalue()


def test_a_terminal_shows_what_goes_on_and_programs_see_nothing_of_it(monkeypatch):
    for stream, wanted in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        with busy("counting"):
            time.sleep(0.2)
        assert ("counting" in stream.getvalue()) == wanted


def test_a_bar_leaves_a_closed_standard_output_closed(monkeypatch):
    # Otherwise the result is written to what the bar left there, and its loss is not noticed.
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setattr(sys, "stdout", None)
    Life("default", "8", 0, 40).agent().learn(40, progress_bar=True)
    assert "learning" in shown.getvalue()
    assert sys.stdout is None


@pytest.mark.parametrize("is_terminal", [False, True])
@pytest.mark.parametrize("after", [0, 3])
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_progress_never_stops_learning(error, after, is_terminal, monkeypatch):
    stream = Broken(error, is_terminal, after)
    monkeypatch.setattr("sys.stderr", stream)
    agent = Life().agent().learn(40, progress_bar=True)
    assert agent.n_steps == 40
    assert stream.n_calls > 0


def test_progress_without_standard_error_goes_nowhere(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr", None)
    assert Life().agent().learn(40, progress_bar=True).n_steps == 40
    assert capsys.readouterr().out == ""


def test_the_head_of_a_training_is_enough(tmp_path):
    whole = tgm_in_shell(tmp_path, "tgm train --maze 8 --steps 600 --out whole 2>/dev/null")
    assert whole.returncode == 0
    done = tgm_in_shell(tmp_path, "tgm train --maze 8 --steps 600 --out run 2>&1 | head -2")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 2
    assert Run.open(tmp_path / "run").status().state == "finished"
    assert files_of(tmp_path / "run") == files_of(tmp_path / "whole")


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("evaluate run", OUTPUT_LOST),
        ("evaluate run --json", OUTPUT_LOST),
        ("mazes", OUTPUT_LOST),
        ("mazes 8", OUTPUT_LOST),
        ("runs .", OUTPUT_LOST),
        ("structure run", OUTPUT_LOST),
        ("train --help", OUTPUT_LOST),
        ("--version", OUTPUT_LOST),
        ("evaluate nowhere", 2),
    ],
)
@pytest.mark.parametrize("where", [">/dev/full", ">&-"])
def test_a_result_that_cannot_be_written_is_not_success(run_folder, command, code, where):
    done = tgm_in_shell(run_folder, f"tgm {command} {where}")
    assert done.returncode == code
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("tgm: ")
    assert code == 2 or "standard output cannot be written" in done.stderr


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("streams")
    Life(n_steps=200).live(folder / "run")
    return folder


@pytest.mark.parametrize("command", ["mazes", "evaluate run", "runs .", "structure run"])
def test_a_closed_pipe_is_quiet(run_folder, command):
    done = tgm_in_shell(run_folder, f"tgm {command} | true")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("where", ["2>/dev/full", "2>&-", "2>&- <&-"])
def test_bad_input_stays_bad_input(run_folder, where):
    assert tgm_in_shell(run_folder, f"tgm train --maze nowhere {where}").returncode == 2
    assert tgm_in_shell(run_folder, f"tgm evaluate run {where}").returncode == 0


def test_a_broken_pipe_of_the_work_itself_is_a_failure(tmp_path, monkeypatch, capsys):
    def break_off(*_: object, **__: object) -> None:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr("tgm.cli.evaluate.evaluate", break_off)
    Life(n_steps=30).live(tmp_path / "run")
    assert main(["evaluate", str(tmp_path / "run")]) == 1
    assert "BrokenPipeError" in capsys.readouterr().err


def test_failed_trials_outweigh_a_broken_output(tmp_path, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise RunError("no")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tgm.cli.compare.run_any_trial", fail)
    monkeypatch.setattr("sys.stdout", Broken(ERRORS[0]))
    options = ["--mazes", "8", "--agents", "random", "--seeds", "1", "--steps", "5", "--jobs", "1"]
    assert main(["compare", *options]) == 1


@pytest.mark.parametrize("error", [RunError("x: cannot be written (full)"), MemoryError("much")])
def test_a_report_that_fails_costs_only_the_report(error, tmp_path, monkeypatch, capsys):
    pytest.importorskip("plotly")

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("tgm.cli.report.write_report", fail)
    out = tmp_path / "run"
    assert main(["train", "--maze", "8", "--steps", "60", "--out", str(out), "--json"]) == 0
    told = capsys.readouterr()
    facts = json.loads(told.out)
    assert "report" not in facts
    lines = [line for line in told.err.splitlines() if not line.startswith("learning")]
    assert len(lines) == 1
    assert lines[0].startswith("tgm: no report: ")
    assert Run.open(out).status().state == "finished"


def test_a_report_on_a_full_disk_costs_only_the_report(tmp_path, monkeypatch, capsys):
    pytest.importorskip("plotly")
    out = tmp_path / "run"
    (tmp_path / "run").parent.mkdir(exist_ok=True)
    replace = Path.replace

    def full(self: Path, target: Path) -> Path:
        if Path(target).name == "report.html":
            raise OSError(errno.ENOSPC, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", full)
    assert main(["train", "--maze", "8", "--steps", "60", "--out", str(out)]) == 0
    assert "No space left on device" in capsys.readouterr().err
    assert not list(out.glob("*report*"))
