"""A resume reads each file of a run once."""

import json
import os
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest
from campaigns.common.lives import Life, quick

import tgm
from tgm.cli.main import main
from tgm.errors import RunError
from tgm.runs import resume
from tgm.runs.lock import LOCK_FILE
from tgm.runs.writer import WRITER_FILE

# These two are asked whether a process writes the run now: the answer may change between two reads.
GUARDS = {LOCK_FILE, WRITER_FILE}
WRITES = os.O_WRONLY | os.O_RDWR


class Reads:
    """Counts how often each file below a folder is opened for reading while it is switched on."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self.counts: Counter[str] = Counter()
        sys.addaudithook(self._note)  # a hook stays for the life of the process

    def _note(self, event: str, given: tuple) -> None:
        if event != "open" or self.folder is None or given[2] & WRITES:
            return
        if isinstance(given[0], str | os.PathLike) and Path(given[0]).is_relative_to(self.folder):
            path = Path(given[0])
            # A file under a temporary name is checked before it gets its name.
            if path.is_file() and path.suffix != ".tmp" and path.name not in GUARDS:
                self.counts[str(path.relative_to(self.folder))] += 1


READS = Reads()


@pytest.fixture
def reads():
    """Counter of the reads; set its `folder` to begin."""
    READS.counts = Counter()
    yield READS
    READS.folder = None


def finished(folder: Path) -> Path:
    """A run of several chunks of history that ended between two episodes or within one."""
    with quick():
        Life(n_steps=400).live(folder)
    return folder


def test_resume_reads_each_file_once(tmp_path, reads):
    run = finished(tmp_path / "run")
    checkpoint = newest(run / "checkpoints").name
    reads.folder = run
    agent, _ = resume(run)
    with quick():
        agent.learn(30, run_dir=run)
    assert reads.counts["run.json"] == 1
    assert reads.counts["metrics.jsonl"] == 1
    assert reads.counts[f"checkpoints/{checkpoint}"] == 1
    assert sum(name.startswith("history/") for name in reads.counts) == 1
    assert set(reads.counts.values()) == {1}


def test_the_command_line_reads_each_file_once(tmp_path, reads, monkeypatch):
    run = finished(tmp_path / "run")
    learn = tgm.TGMAgent.learn

    def learn_uncounted(agent, *given, **options):
        reads.folder = None  # the resume is done
        return learn(agent, *given, **options)

    monkeypatch.setattr(tgm.TGMAgent, "learn", learn_uncounted)
    reads.folder = run
    assert main(["train", "--resume", str(run), "--steps", "450", "--no-report"]) == 0
    names = {name.partition("/")[0] for name in reads.counts}
    assert {"run.json", "result.json", "metrics.jsonl", "checkpoints", "history"} <= names
    assert set(reads.counts.values()) == {1}


# --- what was read is not used when it is out of date ---------------------------------------------


def newest(folder: Path) -> Path:
    return max(folder.iterdir())


@pytest.mark.parametrize("name", ["checkpoints", "history"])
def test_a_file_that_changed_after_the_resume_is_read_again(name, tmp_path):
    run = finished(tmp_path / "run")
    agent, _ = resume(run)
    data = bytearray(newest(run / name).read_bytes())
    data[-5] ^= 1
    newest(run / name).write_bytes(data)
    with pytest.raises(RunError, match=f"{name}/.* damaged"):
        agent.learn(30, run_dir=run)


def test_a_run_json_that_changed_after_the_resume_is_read_again(tmp_path):
    run = finished(tmp_path / "run")
    agent, _ = resume(run)
    values = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(values | {"seed": 8}))
    with pytest.raises(RunError, match="seed is 7, not 8"):
        agent.learn(30, run_dir=run)


def test_checkpoints_that_came_after_the_resume_are_not_given_up(tmp_path):
    """The run had no checkpoint; another process went on with it meanwhile."""
    run = finished(tmp_path / "run")
    shutil.move(run / "checkpoints", tmp_path / "checkpoints")
    agent, (told,) = resume(run)
    assert "begins again at step 0" in told
    shutil.move(tmp_path / "checkpoints", run / "checkpoints")
    with pytest.raises(RunError, match="does not come from one of its checkpoints"):
        agent.learn(30, run_dir=run)
