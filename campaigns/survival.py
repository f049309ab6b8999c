"""Promises 11 to 14: a run that is stopped, killed or refused room ends as if nothing had been.

Run from the root of the repository: python -m campaigns.survival [--kills 200] [--only NAME]
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import functools
import io
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

import numpy as np
from campaigns.common.faults import Act, Faults, die, fail
from campaigns.common.lives import SETTINGS, Life, check_same, files_of, in_child, quick
from campaigns.common.tally import Tally, complaint, report

import tgm
from tgm.cli.main import main as tgm_command
from tgm.errors import RunError
from tgm.runs import Run, RunFolder, open_run, resume
from tgm.runs.resume import NO_CHECKPOINT

MOST_KILLS = 3  # of one run, in a row
ERRORS = {"disk full": errno.ENOSPC, "read-only": errno.EROFS}
SOURCE = str(Path(tgm.__file__).parent)


def whole_run(life: Life, folder: Path) -> dict[str, bytes]:
    """The files of a run that was never stopped."""
    life.live(folder)
    return files_of(folder)


# --- promise 12: kill -9 --------------------------------------------------------------------------


def kills(
    n_kills: int, n_inside: int, seed: int, folder: Path, chosen: Sequence[Life] = ()
) -> tuple[Tally, Tally]:
    """Kill runs at random moments, `n_inside` times inside a call that writes; go on with each."""
    rng = np.random.default_rng(seed)
    anywhere = Tally("12: kill -9 at a random moment, resumed to the same bytes")
    inside = Tally("12: kill -9 inside a write, resumed to the same bytes")
    chosen = chosen or [Life(settings) for settings in SETTINGS]
    lives = [_Victim(life, folder / "whole" / life.settings) for life in chosen]
    number = 0
    while anywhere.tried + inside.tried < n_kills:
        is_inside = inside.tried < n_inside and bool(rng.random() < 0.6)
        tally = inside if is_inside else anywhere
        victim = lives[number % len(lives)]
        path = folder / f"{number}"
        tried = tally.tried
        with tally.trial(f"{victim.life.name}, run {number}"):
            # A trial is a run; what is counted are its kills, and one that ended first is none.
            tally.tried = tried + _killed(victim, path, is_inside, rng)
            check_same(path, victim.whole)
        shutil.rmtree(path, ignore_errors=True)
        number += 1
    return anywhere, inside


class _Victim:
    """A life, what it leaves when nobody disturbs it, how long it takes and what it writes."""

    def __init__(self, life: Life, folder: Path) -> None:
        self.life = life
        faults = Faults(folder)
        with quick(), faults.spread():
            self.whole = whole_run(life, folder)
        self.calls = faults.calls
        began = time.monotonic()
        assert in_child(lambda: self._undisturbed(folder.with_name("timed"))) == 0
        self.seconds = time.monotonic() - began
        shutil.rmtree(folder.with_name("timed"))

    def _undisturbed(self, folder: Path) -> None:
        with quick():
            self.life.live(folder)


def _killed(victim: _Victim, path: Path, is_inside: bool, rng: np.random.Generator) -> int:
    """Let a run be killed up to three times, then let it end; the number of kills."""
    n_kills = 0
    for _ in range(int(rng.integers(1, MOST_KILLS + 1))):
        at, late = _place_of_a_kill(victim.calls, rng), bool(rng.random() < 0.5)

        def live(at: int = at, late: bool = late) -> None:
            faults = Faults(path, at if is_inside else 0, die, late=late)
            with quick(), faults.spread():
                victim.life.live(path)

        seconds = None if is_inside else float(rng.random() * victim.seconds)
        code = in_child(live, seconds)
        assert code in (0, -signal.SIGKILL), f"it ended with {code} before it was killed"
        n_kills += code != 0
    with quick():
        victim.life.live(path)
    return n_kills


def _place_of_a_kill(calls: list[str], rng: np.random.Generator) -> int:
    """The number of a call: half of the time one that moves data, else any."""
    places = np.arange(len(calls))
    if rng.random() < 0.5:
        places = np.array([i for i in places if calls[i].startswith("write")])
    # Early ones more often: a run that was resumed has less to write.
    return 1 + int(places[int(len(places) * rng.random() ** 1.5)])


# --- promise 11: stop and resume ------------------------------------------------------------------


def stops(n_runs: int, folder: Path, n_steps: int = 250) -> Tally:
    """Stop at every episode end of some runs, each time in a run of its own, and go on."""
    tally = Tally("11: stopped at every episode end, resumed to the same bytes")
    names = list(SETTINGS)
    for number in range(n_runs):
        life = Life(names[number % len(names)], ("8", "10", "20")[number % 3], number, n_steps)
        with quick():
            whole = whole_run(life, folder / "whole")
            n_episodes = Run.open(folder / "whole").status().result["episodes"]
            for episode in range(1, n_episodes + 1):
                with tally.trial(f"{life.name}, episode {episode}"):
                    stop_at(life, folder / "stopped", episode)
                    life.live(folder / "stopped")
                    check_same(folder / "stopped", whole)
                shutil.rmtree(folder / "stopped", ignore_errors=True)
        shutil.rmtree(folder / "whole")
    return tally


def stop_at(life: Life, folder: Path, episode: int) -> None:
    agent, recorder = life.begin(folder)
    ended = recorder.episode_ended

    def episode_ended(agent: tgm.TGMAgent) -> bool:
        if agent.n_episodes == episode:
            recorder.request_stop()
        return ended(agent)

    with mock.patch.object(recorder, "episode_ended", episode_ended):
        agent.learn(life.n_steps, run_dir=recorder)


# --- promise 11 again: Ctrl-C ---------------------------------------------------------------------


def interrupted_lines(
    n_trials: int, seed: int, folder: Path, n_settings: int = 4, n_steps: int = 200
) -> Tally:
    """The second Ctrl-C, which stops at once: at any line of this package, in a run of its own."""
    rng = np.random.default_rng(seed)
    tally = Tally("11: Ctrl-C at any line, no checkpoint lost, resumed to the same bytes")
    lives = [Life(settings, n_steps=n_steps) for settings in list(SETTINGS)[:n_settings]]
    wholes = []
    for life in lives:
        with quick():
            wholes.append(whole_run(life, folder / "whole"))
        shutil.rmtree(folder / "whole")
    n_lines = [_count_lines(life, folder / "counted") for life in lives]
    for number in range(n_trials):
        which = number % len(lives)
        at, path = int(rng.integers(1, n_lines[which] + 1)), folder / "interrupted"
        with tally.trial(f"{lives[which].name}, line {at}"):
            code = in_child(functools.partial(_live_to_line, lives[which], path, at))
            assert code == 130, f"it ended with {code}"
            with quick():
                if path.exists():
                    _check_what_is_left(path)
                lives[which].live(path)
            check_same(path, wholes[which])
        shutil.rmtree(path, ignore_errors=True)
    return tally


def _live_to_line(life: Life, path: Path, at: int) -> int:
    """Live until the `at`-th line of the recording code is about to run; the lines there were."""
    n_lines = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal n_lines
        name = frame.f_code.co_filename
        if not name.startswith(SOURCE) or not ("/runs/" in name or "/files/" in name):
            return None
        if event == "line":
            n_lines += 1
            if n_lines == at:
                raise KeyboardInterrupt
        return trace

    with quick():
        sys.settrace(trace)
        try:
            life.live(path)
        finally:
            sys.settrace(None)
    return n_lines


def _count_lines(life: Life, path: Path) -> int:
    n_lines = _live_to_line(life, path, 0)
    shutil.rmtree(path)
    return n_lines


def _check_what_is_left(path: Path) -> None:
    """Going on from a run would take its newest checkpoint; until then all can be read in it."""
    agent, troubles = resume(path)
    run = Run.open(path)
    newest = [step for step, _ in run.checkpoints()][-1:] or [0]
    told = () if run.checkpoints() else (f"{path}: {NO_CHECKPOINT}",)
    assert troubles == told, f"passed over: {troubles}"
    assert agent.n_steps == newest[0]
    assert run.status().state != "broken", run.status().reason
    lines = list(run.metrics())
    episodes = [episode["episode"] for line in lines for episode in line["episodes"]]
    moves = [move for line in lines for move in line["moves"] if move["kind"] == "birth"]
    born = [(move["step"], *move["ids"]) for move in moves]
    for told in (episodes, born):
        assert len(set(told)) == len(told), f"told twice: {told}"


def interrupted_commands(n_trials: int, seed: int, folder: Path) -> Tally:
    """A real Ctrl-C to a real `tgm train`; then `tgm train --resume`."""
    rng = np.random.default_rng(seed)
    tally = Tally("11: Ctrl-C to `tgm train`: 130, then --resume to the same bytes")
    # Long enough to be still learning when the signal comes.
    options = ["--maze", "8", "--steps", "20000", "--json"]
    assert _tgm("train", *options, "--out", str(folder / "whole")).wait() == 0
    whole = files_of(folder / "whole")
    for number in range(n_trials):
        path = folder / f"interrupted-{number}"
        with tally.trial(f"command {number}"):
            process = _tgm("train", *options, "--out", str(path))
            _wait_for(path / "metrics.jsonl")
            time.sleep(float(rng.random()) * 0.5)
            process.send_signal(signal.SIGINT)
            if number % 2:
                process.send_signal(signal.SIGINT)
            _, told = process.communicate()
            assert process.returncode == 130, f"exit code {process.returncode}: {told}"
            assert "Traceback" not in told, told
            assert _tgm("train", "--resume", str(path), "--json").wait() == 0
            # Checkpoints are written by the clock here; everything else is the same.
            names = [name for name in whole if not name.startswith("checkpoints")]
            found = files_of(path)
            assert [name for name in names if found.get(name) != whole[name]] == []
    return tally


def _tgm(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tgm", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _wait_for(path: Path, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not come"
        time.sleep(0.005)


# --- promise 13: disk full, read-only -------------------------------------------------------------


def failing_writes(folder: Path, n_steps: int = 80, every: int = 1) -> Tally:
    """Let each call that writes fail in turn, once or from then on, and go on with what is left."""
    tally = Tally("13: each write fails in turn: one line, no checkpoint lost, then resumed")
    for settings in ("default", "paper"):
        life = Life(settings, n_steps=n_steps)
        faults = Faults(folder / "run")
        with quick(), faults.spread():
            whole = whole_run(life, folder / "run")
        shutil.rmtree(folder / "run")
        for at in range(1, len(faults.calls) + 1, every):
            for name, number in ERRORS.items():
                for stays in (False, True):
                    what = f"{life.name}, {name} at {faults.calls[at - 1]} ({at}), {stays=}"
                    with tally.trial(what), quick():
                        _failed_once(life, folder / "run", at, fail(number), stays)
                        life.live(folder / "run")
                        check_same(folder / "run", whole)
                    shutil.rmtree(folder / "run", ignore_errors=True)
    return tally


def failing_resumes(folder: Path, n_steps: int = 120, every: int = 1) -> Tally:
    """The same for a run that is gone on with."""
    tally = Tally("13: each write of a resumed run fails in turn, then resumed again")
    life = Life(n_steps=n_steps)
    with quick():
        whole = whole_run(life, folder / "whole")
        n_episodes = Run.open(folder / "whole").status().result["episodes"]
        stop_at(life, folder / "stopped", max(1, n_episodes // 2))
        faults = Faults(folder / "run")
        shutil.copytree(folder / "stopped", folder / "run")
        with faults.spread():
            life.live(folder / "run")
        shutil.rmtree(folder / "run")
        for at in range(1, len(faults.calls) + 1, every):
            for name, number in ERRORS.items():
                shutil.copytree(folder / "stopped", folder / "run")
                with tally.trial(f"{name} at {faults.calls[at - 1]} ({at})"):
                    _failed_once(life, folder / "run", at, fail(number), stays=True)
                    life.live(folder / "run")
                    check_same(folder / "run", whole)
                shutil.rmtree(folder / "run")
    return tally


def _failed_once(life: Life, path: Path, at: int, act: Act, stays: bool) -> None:
    """One life in which a call fails; what it raises is one line, and what it leaves is sound."""
    faults = Faults(path, at, act, stays=stays)
    with faults.spread():
        told = complaint(lambda: life.live(path))
    assert not told or any(os.strerror(number) in told for number in ERRORS.values()), told
    assert faults.has_struck
    n_written = sum(call.startswith("replace checkpoints/") for call in faults.calls[: at - 1])
    if path.exists():
        assert len(Run.open(path).checkpoints()) >= min(n_written, 2)
        _check_what_is_left(path)


def failing_commands(folder: Path, n_steps: int = 60, every: int = 1) -> Tally:
    """The same through `tgm train`: exit code 1 or 2, one line, and --resume mends it."""
    tally = Tally("13: the same through `tgm train`: exit code and one line, then --resume")
    common = ["--checkpoint-seconds", "0", "--json"]
    begin = ["train", "--maze", "8", "--steps", str(n_steps), *common, "--out"]
    path = folder / "run"
    faults = Faults(path)
    with quick(), faults.spread():
        assert _call_tgm(*begin, str(path))[0] == 0
    whole = files_of(path)
    shutil.rmtree(path)
    for at in range(1, len(faults.calls) + 1, every):
        for name, number in ERRORS.items():
            with tally.trial(f"{name} at {faults.calls[at - 1]} ({at})"), quick():
                with Faults(path, at, fail(number), stays=bool(at % 2)).spread():
                    code, told = _call_tgm(*begin, str(path))
                lines = [line for line in told if not line.startswith("learning: ")]
                assert len(lines) == 1 if code in (1, 2) else code == 0, told
                assert code or all(line.startswith("tgm: no report: ") for line in lines), told
                assert all("--debug" not in line for line in lines), told
                again = ["train", "--resume", str(path), *common]
                arguments = again if path.exists() else [*begin, str(path)]
                code, told = _call_tgm(*arguments)
                assert code == 0, told
                check_same(path, whole)
            shutil.rmtree(path, ignore_errors=True)
    return tally


def _call_tgm(*arguments: str) -> tuple[int, list[str]]:
    """The command line in this process: exit code, and lines of standard error."""
    told = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(told):
        code = tgm_command(arguments)
    return code, told.getvalue().splitlines()


def limited_files(folder: Path, n_trials: int = 20) -> Tally:
    """The system itself refuses to let a file grow beyond a size (RLIMIT_FSIZE)."""
    tally = Tally("13: files may not grow beyond a size (by the system), then resumed")
    life = Life(n_steps=200)
    with quick():
        whole = whole_run(life, folder / "whole")
    largest = max(len(data) for data in whole.values())
    for size in np.linspace(100, largest - 1, n_trials).astype(int).tolist():
        path = folder / f"limited-{size}"

        def live(path: Path = path, size: int = size) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            with quick(), contextlib.suppress(RunError):
                life.live(path)

        with tally.trial(f"{size} bytes"):
            assert in_child(live) == 0
            with quick():
                if path.exists():
                    _check_what_is_left(path)
                life.live(path)
            check_same(path, whole)
    return tally


DISK_TRIALS = ("full", "read-only")


def real_disks(folder: Path) -> Tally:
    """A disk of its own, really full and really read-only; where mounting is permitted."""
    tally = Tally("13: a disk really full, one really read-only, then resumed")
    (folder / "disk").mkdir()
    for kind in DISK_TRIALS:
        script = (
            'mount -t tmpfs -o size=96k none "$1" && exec "$2" -m campaigns.survival '
            '--on-disk "$3" --folder "$1"'
        )
        words = ["sh", "-c", script, "sh", str(folder / "disk"), sys.executable, kind]
        if shutil.which("unshare") is None or not _may_mount():
            print("no disk of its own: mounting is not permitted here")
            return tally
        with tally.trial(kind):
            done = subprocess.run(["unshare", "-Urm", *words], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
    return tally


def _may_mount() -> bool:
    words = ["unshare", "-Urm", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(words, capture_output=True).returncode == 0


def on_disk(kind: str, disk: Path) -> None:
    """Within a mount of its own, of 96 kB: fill it or make it read-only, mend it, go on."""
    life, path = Life(n_steps=400), disk / "run"
    with tempfile.TemporaryDirectory() as elsewhere, quick():
        whole = whole_run(life, Path(elsewhere) / "whole")
    with quick():
        if kind == "read-only":
            stop_at(life, path, 2)
            _remount(disk, "ro")
        told = complaint(lambda: life.live(path))
        assert os.strerror(errno.EROFS if kind == "read-only" else errno.ENOSPC) in told, told
        _check_what_is_left(path)
        _remount(disk, "rw,size=10m")
        life.live(path)
        check_same(path, whole)


def _remount(disk: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(disk)], check=True)


# --- promise 14: two writers, one reader ----------------------------------------------------------


def second_writers(n_trials: int, folder: Path) -> Tally:
    """While a run is written, nobody else can write it."""
    tally = Tally("14: a second writer is refused")
    path, life = folder / "run", Life("default", "20", n_steps=10**9)
    with _writing(life, path):
        _wait_for(path / "metrics.jsonl")
        agent = life.agent()
        writers = (
            lambda: RunFolder(path),
            lambda: resume(path),
            lambda: open_run(agent, path, 10),
        )
        for number in range(n_trials):
            with tally.trial(f"writer {number}"):
                told = complaint(writers[number % 3])
                assert "another process" in told or "does not come" in told, told
                assert Run.open(path).status().state == "live"
    return tally


def polls(n_polls: int, folder: Path) -> Tally:
    """A reader looks again and again while runs grow: it never sees half a record."""
    tally = Tally("14: polls of a growing run, no partial record")
    number = 0
    while tally.tried < n_polls:
        path = folder / f"run-{number}"
        life = Life(("default", "paper")[number % 2], "20", number, n_steps=10**9)
        with _writing(life, path):
            _wait_for(path / "metrics.jsonl")
            seen = _Seen()
            for _ in range(min(500, n_polls - tally.tried)):
                with tally.trial(f"{life.name}, poll {tally.tried}"):
                    seen.poll(Run.open(path), deep=tally.tried % 10 == 0)
            assert n_polls < 500 or seen.n_versions > 5, "the run did not grow"
        shutil.rmtree(path)
        number += 1
    return tally


class _Seen:
    """What a reader has seen: records only ever come on top."""

    def __init__(self) -> None:
        self._steps: list[int] = []
        self._chunks: dict[int, int] = {}
        self.n_versions = 0

    def poll(self, run: Run, *, deep: bool) -> None:
        assert run.status().state == "live"
        steps = [record["step"] for record in run.metrics()]
        assert steps[: len(self._steps)] == self._steps, "a record was changed"
        self.n_versions += len(steps) > len(self._steps)
        self._steps = steps
        firsts = run.chunk_steps()
        assert set(firsts) >= set(self._chunks), "a chunk is gone"
        for first in firsts[-2:]:
            chunk = run.chunk_file(first)
            n_observations = len(chunk.arrays["obs.step"])
            assert n_observations >= self._chunks.get(first, 0), "a chunk has shrunk"
            self._chunks[first] = n_observations
        if deep and firsts:
            assert run.frame_at(run.chunk_file(firsts[-1]).last_step).n_states > 0


@contextlib.contextmanager
def _writing(life: Life, path: Path) -> Iterator[None]:
    """A process that writes a run, often and without end."""
    pid = os.fork()
    if pid == 0:
        try:
            with (
                quick(),
                mock.patch("tgm.runs.folder.FLUSH_SECONDS", 0.0),
                mock.patch("tgm.runs.recorder.LIVE_SECONDS", 0.0),
                mock.patch("tgm.runs.timing.LINE_GAPS", (5, 5, 5)),
            ):
                life.live(path)
        finally:
            os._exit(1)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


# --- the command ----------------------------------------------------------------------------------


def main() -> int:
    """Run the campaign, print the table, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--inside", type=int, default=80, help="of them inside a write")
    parser.add_argument("--stopped-runs", type=int, default=20)
    parser.add_argument("--lines", type=int, default=200, help="lines to interrupt at")
    parser.add_argument("--commands", type=int, default=10, help="commands to interrupt")
    parser.add_argument("--polls", type=int, default=10_000)
    parser.add_argument("--writers", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="where to write; a temporary one by default")
    parser.add_argument("--only", help="kills, stops, interrupts, faults or readers")
    parser.add_argument("--on-disk", choices=DISK_TRIALS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.on_disk:
        on_disk(asked.on_disk, asked.folder)
        return 0
    tallies: list[Tally] = []
    with tempfile.TemporaryDirectory(dir=asked.folder) as temporary:
        for name, part in _PARTS.items():
            if asked.only in (None, name):
                folder = Path(temporary) / name
                folder.mkdir()
                tallies += part(asked, folder)
    return report(tallies)


def _kills(asked: argparse.Namespace, folder: Path) -> list[Tally]:
    return list(kills(asked.kills, asked.inside, asked.seed, folder))


def _stops(asked: argparse.Namespace, folder: Path) -> list[Tally]:
    return [stops(asked.stopped_runs, folder)]


def _interrupts(asked: argparse.Namespace, folder: Path) -> list[Tally]:
    return [
        interrupted_lines(asked.lines, asked.seed, folder),
        interrupted_commands(asked.commands, asked.seed, folder),
    ]


def _faults(asked: argparse.Namespace, folder: Path) -> list[Tally]:
    parts = (failing_writes, failing_resumes, failing_commands, limited_files, real_disks)
    tallies = []
    for part in parts:
        (folder / part.__name__).mkdir()
        tallies.append(part(folder / part.__name__))
    return tallies


def _readers(asked: argparse.Namespace, folder: Path) -> list[Tally]:
    return [second_writers(asked.writers, folder), polls(asked.polls, folder)]


_PARTS = {
    "kills": _kills,
    "stops": _stops,
    "interrupts": _interrupts,
    "faults": _faults,
    "readers": _readers,
}


if __name__ == "__main__":
    sys.exit(main())
