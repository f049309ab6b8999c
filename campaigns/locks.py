"""Promise 26: one writer where there are no locks either, and never in a foreign directory.

Run from the root of the repository: python -m campaigns.locks [--trials 60]
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np
from campaigns.common.lives import Life, check_same, files_of, in_child, quick
from campaigns.common.tally import Tally, complaint, report

from tgm.errors import TGMWarning
from tgm.runs import Run, RunFolder, RunRecorder, resume
from tgm.runs.folder import begin_in_free
from tgm.runs.lock import is_locked

NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)  # what file systems answer
NOBODY = 65534  # the number of a user who owns nothing


@contextlib.contextmanager
def no_locks(number: int) -> Iterator[None]:
    """A file system that answers with this error when it is asked for a lock."""

    def answer(*_: object, **__: object) -> bool:
        raise OSError(number, os.strerror(number))

    with mock.patch("filelock.lock_descriptor", answer):
        yield


def without_locks(n_trials: int, seed: int, folder: Path) -> Tally:
    """Write, be killed, be told of truthfully and go on, without any lock of the system."""
    tally = Tally("26: no locks: a second writer is refused, live and killed are told, resumed")
    rng, life = np.random.default_rng(seed), Life(n_steps=120)
    with quick():
        life.live(folder / "whole")
    whole = files_of(folder / "whole")
    for number in range(n_trials):
        path, error = folder / f"run-{number}", NO_LOCKS[number % len(NO_LOCKS)]
        with tally.trial(f"{errno.errorcode[error]}, run {number}"), no_locks(error):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                with quick(), _written(life, path, float(rng.random()) * 0.2):
                    _check_live(path)
                _check_killed(path)
                with quick():
                    life.live(path)
            check_same(path, whole)
            assert is_locked(path) is False
            told = [str(w.message) for w in caught if w.category is TGMWarning]
            assert len(told) == 1, told  # the resumed one; the other was told in its own process
            assert "guards the run instead" in told[0]
        shutil.rmtree(path, ignore_errors=True)
    return tally


def _check_live(path: Path) -> None:
    assert Run.open(path).status().state == "live"
    told = [complaint(partial(RunFolder, path)), complaint(partial(resume, path))]
    assert all("another process" in line for line in told), told


def _check_killed(path: Path) -> None:
    status = Run.open(path).status()
    assert (status.state, status.reason) == ("interrupted", "it was killed"), status


@contextlib.contextmanager
def _written(life: Life, path: Path, seconds: float) -> Iterator[None]:
    """A process that has begun a run and holds it; killed at the end."""
    ready, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(BaseException), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            agent, recorder = life.begin(path)
            os.write(write, b"x")
            agent.learn(life.n_steps // 2, callback=_slowly(seconds), run_dir=recorder)
            time.sleep(60)
        os._exit(1)
    try:
        assert os.read(ready, 1) == b"x"
        yield
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(ready)
        os.close(write)


def _slowly(seconds: float) -> Callable[[object], None]:
    began = time.monotonic()

    def wait(_: object) -> None:
        if time.monotonic() - began > seconds:
            time.sleep(60)  # until it is killed

    return wait


def forked_children(n_trials: int, folder: Path) -> Tally:
    """A child that was forked while a run was written keeps nobody from writing it."""
    tally = Tally("26: a forked child does not hold the lock of its parent")
    life = Life(n_steps=60)
    for number in range(n_trials):
        path = folder / f"run-{number}"
        with tally.trial(f"run {number}"), quick():
            _, recorder = life.begin(path)
            release, held = os.pipe()
            pid = os.fork()
            if pid == 0:
                os.close(held)
                os.read(release, 1)
                os._exit(0)
            try:
                recorder.close("interrupted")
                assert is_locked(path) is False
                life.live(path)
            finally:
                os.close(held)
                os.close(release)
                os.waitpid(pid, 0)
    return tally


def other_users(n_trials: int, folder: Path) -> Tally:
    """Somebody who may read a run cannot lock it, and is told truthfully whether it is live."""
    tally = Tally("15: another user cannot block a resume, and sees whether a run is live")
    if os.name == "nt" or os.getuid() != 0:
        print("another user cannot be tried: only root can become one")
        return tally
    life = Life(n_steps=60)
    folder.chmod(0o755)
    for parent in folder.parents:
        if parent.stat().st_mode & 0o005 != 0o005:
            parent.chmod(parent.stat().st_mode | 0o005)
    for number in range(n_trials):
        path = folder / f"run-{number}"
        with tally.trial(f"run {number}"), quick():
            with _written(life, path, 0.0):
                assert in_child(partial(_as_nobody, path, "live")) == 0
            assert in_child(partial(_as_nobody, path, "interrupted")) == 0
            life.live(path)
            assert in_child(partial(_as_nobody, path, "finished")) == 0
    return tally


def _as_nobody(path: Path, state: str) -> None:
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    found = Run.open(path).status()
    assert found.state == state, found
    try:
        os.open(path / "lock", os.O_RDONLY)
    except PermissionError:
        return
    raise AssertionError("the lock can be opened by another user")


def swapped(n_trials: int, seed: int, folder: Path) -> Tally:
    """Another directory is put in the place of a run while it is written: it stays as it is."""
    tally = Tally("9: a run directory that is swapped is noticed, the foreign one is not touched")
    rng, life = np.random.default_rng(seed), Life(n_steps=120)
    for number in range(n_trials):
        path, moved = folder / f"run-{number}", folder / f"moved-{number}"
        # Half of the foreign ones are runs themselves.
        foreign = folder / f"foreign-{number}"
        if number % 2:
            with quick():
                Life(n_steps=40, seed=number).live(foreign)
        else:
            foreign.mkdir()
            (foreign / "mine.txt").write_text("mine")
        before = _content(foreign)
        at = int(rng.integers(1, 115))

        def swap(
            info: object,
            path: Path = path,
            moved: Path = moved,
            foreign: Path = foreign,
            at: int = at,
        ) -> None:
            if info.step == at:  # type: ignore[attr-defined]
                path.rename(moved)
                foreign.rename(path)

        with tally.trial(f"run {number}, step {at}"), quick():
            agent, recorder = life.begin(path)
            told = complaint(lambda a=agent, r=recorder: a.learn(120, callback=swap, run_dir=r))
            assert "is no longer the directory of this run" in told, told
            assert _content(path) == before, "the foreign directory was changed"
        with tally.trial(f"run {number}, gone on with where it is"), quick():
            life.live(moved)
            assert Run.open(moved).status().state == "finished"
        for used in (path, moved, foreign):
            shutil.rmtree(used, ignore_errors=True)
    return tally


def _content(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def same_moment(n_trials: int, folder: Path, n_processes: int = 5) -> Tally:
    """Several runs of one name begin at once: each gets a directory of its own."""
    tally = Tally(f"9: {n_processes} runs of one name at once: each has a directory of its own")
    life = Life(n_steps=30)
    for number in range(n_trials):
        path = folder / f"{number}" / "run"
        with tally.trial(f"start {number}"):
            go, gate = os.pipe()
            pids = [_starter(life, path, go, gate) for _ in range(n_processes)]
            os.close(gate)
            codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
            os.close(go)
            assert codes == [0] * n_processes, codes
            found = sorted(path.parent.iterdir())
            assert len(found) == n_processes, found
            assert all(Run.open(run).status().state == "finished" for run in found)
    return tally


def _starter(life: Life, path: Path, go: int, gate: int) -> int:
    """A process that begins a run as soon as everybody is there."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            agent = life.agent()
            os.close(gate)
            os.read(go, 1)
            begin = partial(RunRecorder.begin, agent, n_steps=life.n_steps)
            agent.learn(life.n_steps, run_dir=begin_in_free(path, begin))
            code = 0
        finally:
            os._exit(code)
    return pid


def main() -> int:
    """Run the campaign, print the table, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=60, help="of each kind")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    n_trials, seed = asked.trials, asked.seed
    parts: dict[str, Callable[[Path], Tally]] = {
        "without": lambda folder: without_locks(n_trials, seed, folder),
        "forked": lambda folder: forked_children(n_trials, folder),
        "users": lambda folder: other_users(n_trials, folder),
        "swapped": lambda folder: swapped(n_trials, seed, folder),
        "same": lambda folder: same_moment(n_trials, folder),
    }
    tallies = []
    with tempfile.TemporaryDirectory() as temporary:
        for name, part in parts.items():
            (Path(temporary) / name).mkdir()
            tallies.append(part(Path(temporary) / name))
    return report(tallies)


if __name__ == "__main__":
    sys.exit(main())
