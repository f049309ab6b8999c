"""One writer, with the system's lock or without; and readers are told the truth."""

import errno
import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import pytest
from campaigns.common.lives import in_child
from campaigns.locks import NO_LOCKS, forked_children, no_locks, other_users, without_locks

import tgm
from tgm.cli.main import main
from tgm.envs import EnvSpec
from tgm.errors import RunError, TGMWarning
from tgm.runs import Run, RunFolder
from tgm.runs.lock import Lock, is_locked
from tgm.runs.writer import Writer


def begin(path: Path) -> RunFolder:
    world = EnvSpec("CartPole-v1")
    return RunFolder.create(path, agent="dqn", world=world, seed=0, steps=9, config={})


def write_writer(folder: Path, **changes: object) -> None:
    facts = {
        "host": "there",
        "machine": "another",
        "pid": 1,
        "started": "1",
        "guard": "file",
    } | changes
    (folder / "writer.json").write_text(json.dumps(facts))


# --- short versions of the campaign ---------------------------------------------------------------


def test_without_locks(tmp_path):
    tally = without_locks(3, 2, tmp_path)
    assert tally.tried == 3
    assert tally.lost == []


def test_a_forked_child_holds_nothing(tmp_path):
    tally = forked_children(2, tmp_path)
    assert tally.tried == 2
    assert tally.lost == []


@pytest.mark.skipif(os.name == "nt" or os.getuid() != 0, reason="only root can be another user")
def test_other_users_cannot_lock():
    with tempfile.TemporaryDirectory() as folder:
        tally = other_users(1, Path(folder))
    assert tally.tried == 1
    assert tally.lost == []


# --- without the system's lock --------------------------------------------------------------------


@pytest.mark.parametrize("number", NO_LOCKS)
def test_a_run_without_locks_is_finished_and_told_so(number, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = ["train", "--maze", "8", "--steps", "60", "--no-report", "--json"]
    with no_locks(number):
        with pytest.warns(TGMWarning, match=r"writer\.json guards the run instead") as told:
            assert main(command) == 0
        assert len(told) == 1
        assert os.strerror(number) in str(told[0].message)
        capsys.readouterr()
        assert main(["runs", "--json"]) == 0
        (listed,) = json.loads(capsys.readouterr().out)["runs"]
        assert listed["state"] == "finished"


def test_a_writer_on_another_machine_is_not_judged(tmp_path):
    begin(tmp_path / "run").release()
    write_writer(tmp_path / "run")
    with no_locks(errno.ENOLCK):
        assert is_locked(tmp_path / "run") is None
        status = Run.open(tmp_path / "run").status()
        assert status.state == "unknown"
        assert "live or killed" in status.reason
        with pytest.raises(RunError, match=r"process 1 on there.*remove .*writer\.json"):
            RunFolder(tmp_path / "run")
    # Where there are locks, such a writer may still be there: it could not take one.
    with pytest.raises(RunError, match="another process is writing this run, or was killed"):
        RunFolder(tmp_path / "run")
    (tmp_path / "run" / "writer.json").unlink()
    RunFolder(tmp_path / "run").release()


def test_a_copy_of_a_killed_run_from_another_machine_can_go_on(tmp_path):
    begin(tmp_path / "run").release()
    write_writer(tmp_path / "run", guard="lock")
    assert is_locked(tmp_path / "run") is False
    assert Run.open(tmp_path / "run").status().state == "interrupted"
    RunFolder(tmp_path / "run").release()


def test_a_number_of_a_process_that_is_used_again_is_not_the_writer(tmp_path):
    begin(tmp_path / "run").release()
    me = Writer.this_process("file")
    write_writer(tmp_path / "run", machine=me.machine, pid=me.pid, started=me.started)
    assert is_locked(tmp_path / "run") is True
    if me.started:
        write_writer(tmp_path / "run", machine=me.machine, pid=me.pid, started="1")
        assert is_locked(tmp_path / "run") is False
    for pid in (2**22 + 1, 2**80):
        write_writer(tmp_path / "run", machine=me.machine, pid=pid)
        assert is_locked(tmp_path / "run") is False


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"pid": 1}', "[" * 9999, '{"pid": true}', "x" * 10**6]
)
def test_a_writer_that_names_no_process(text, tmp_path):
    begin(tmp_path / "run").release()
    (tmp_path / "run" / "writer.json").write_text(text)
    assert is_locked(tmp_path / "run") is False  # the lock says so
    with no_locks(errno.ENOSYS):
        assert is_locked(tmp_path / "run") is None
        with pytest.raises(RunError, match="remove the file"):
            RunFolder(tmp_path / "run")
    RunFolder(tmp_path / "run").release()  # half of one: its lock is free
    assert not (tmp_path / "run" / "writer.json").exists()


def test_looking_makes_and_changes_nothing(tmp_path):
    path = tmp_path / "run"
    begin(path).release()
    (path / "lock").unlink()
    write_writer(path)
    before = sorted(entry.name for entry in path.iterdir())
    is_locked(path)
    assert sorted(entry.name for entry in path.iterdir()) == before
    os.mkfifo(path / "lock")
    is_locked(path)  # does not wait
    (path / "writer.json").unlink()
    os.mkfifo(path / "writer.json")
    is_locked(path)


def test_a_refused_writer_leaves_the_first_ones_name(tmp_path):
    with warnings.catch_warnings(), no_locks(errno.ENOLCK):
        warnings.simplefilter("ignore", TGMWarning)
        first = begin(tmp_path / "run")
        named = (tmp_path / "run" / "writer.json").read_bytes()
        with pytest.raises(RunError, match="another process is writing this run"):
            RunFolder(tmp_path / "run")
        assert (tmp_path / "run" / "writer.json").read_bytes() == named
        first.release()
        assert not (tmp_path / "run" / "writer.json").exists()


def test_a_warning_that_is_an_error_holds_no_lock(tmp_path):
    begin(tmp_path / "run").release()
    with no_locks(errno.ENOLCK), warnings.catch_warnings():
        warnings.simplefilter("error", TGMWarning)
        with pytest.raises(TGMWarning, match="no locks"):
            RunFolder(tmp_path / "run")
        assert is_locked(tmp_path / "run") is False


def test_only_the_owner_may_open_the_lock(tmp_path):
    path = tmp_path / "run"
    begin(path).release()
    assert (path / "lock").stat().st_mode & 0o777 == 0o600
    (path / "lock").chmod(0o644)  # as earlier versions made it
    RunFolder(path).release()
    assert (path / "lock").stat().st_mode & 0o777 == 0o600


def test_a_killed_process_that_nobody_waits_for_is_gone(tmp_path):
    """A zombie: its number is still taken."""
    path = tmp_path / "run"
    begin(path).release()
    pid = os.fork()
    if pid == 0:
        with no_locks(errno.ENOLCK):
            warnings.simplefilter("ignore")
            Lock(path)
        os._exit(0)  # without letting go
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    try:
        with no_locks(errno.ENOLCK):
            if sys.platform == "linux":
                assert is_locked(path) is False
    finally:
        os.waitpid(pid, 0)
    with no_locks(errno.ENOLCK):
        assert is_locked(path) is False
        with pytest.warns(TGMWarning, match="no locks"):
            RunFolder(path).release()


# --- other systems --------------------------------------------------------------------------------

WITHOUT_FCNTL = """
import sys
for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None
import os
import asyncio, gymnasium, numpy.random, rich.progress, scipy.stats, tyro  # know their systems
for name in ("O_NOFOLLOW", "O_NONBLOCK", "fchmod", "register_at_fork", "getuid", "getloadavg"):
    delattr(os, name)
import pkgutil, importlib, pathlib
import tgm
# May be missing.
EXTRAS = "matplotlib", "plotly", "starlette", "uvicorn", "joblib", "tensorboard", "sklearn"
EXTRAS += "pandas", "pyarrow", "bsuite", "dm_env", "stable_baselines3", "torch"
for module in pkgutil.walk_packages(tgm.__path__, "tgm."):
    if "__main__" in module.name or "baselines.deep" in module.name:
        continue
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        if error.name.partition(".")[0] not in EXTRAS:
            raise
from tgm.cli.main import main
from tgm.errors import RunError
from tgm.runs import RunFolder, Run
from tgm.runs.lock import Lock, is_locked
assert main(["train", "--maze", "8", "--steps", "60", "--out", "run", "--no-report"]) == 0
assert is_locked(pathlib.Path("run")) is False
lock = Lock(pathlib.Path("run"))
assert is_locked(pathlib.Path("run")) is True
try:
    Lock(pathlib.Path("run"))
except RunError as error:
    assert "another process" in str(error)
else:
    raise AssertionError("two writers")
lock.release()
assert Run.open(pathlib.Path("run")).status().state == "finished"
"""


def test_a_system_without_fcntl_records_and_guards(tmp_path):
    source = str(Path(tgm.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_FCNTL],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": source, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    warned = [line for line in done.stderr.splitlines() if "no locks" in line]
    assert warned[0].startswith("tgm: warning: run: this file system has no locks")


def test_a_lock_goes_with_its_process(tmp_path):
    path = tmp_path / "run"
    begin(path).release()
    assert in_child(lambda: (Lock(path), os.kill(os.getpid(), 9))) == -9
    assert (path / "writer.json").exists()
    assert is_locked(path) is False
    assert Run.open(path).status().state == "interrupted"
    RunFolder(path).release()
