"""What was recorded survives power cuts, swapped directories and checkpoints that do not load."""

import json
import os
import stat
import threading
from functools import partial
from pathlib import Path

import pytest
from campaigns.common.lives import Life, quick
from campaigns.extremes import extremes
from campaigns.locks import same_moment, swapped
from campaigns.power_cut import LIVES, power_cuts

import tgm
from tgm.errors import RunError, RunExistsError
from tgm.files import store
from tgm.runs import Run, RunRecorder, resume
from tgm.runs.folder import begin_in_free


def test_a_power_cut_loses_no_checkpoint(tmp_path):
    tally = power_cuts(24, 5, tmp_path, LIVES[:2])
    assert tally.tried == 24
    assert tally.lost == []


def test_a_disk_that_lies_about_syncs_loses_runs(tmp_path):
    """The campaign itself: it finds what is lost where nothing is synced."""
    assert len(power_cuts(6, 5, tmp_path, LIVES[:1], syncs=False).lost) >= 3


def test_extreme_worlds_leave_checkpoints_that_load(tmp_path):
    loads, is_saved = extremes(8, 0, tmp_path)
    assert loads.tried == is_saved.tried == 8
    assert loads.lost == is_saved.lost == []


def test_a_swapped_directory_is_not_touched(tmp_path):
    tally = swapped(4, 1, tmp_path)
    assert tally.tried == 8
    assert tally.lost == []


def test_runs_that_begin_at_once_have_directories_of_their_own(tmp_path):
    tally = same_moment(2, tmp_path)
    assert tally.tried == 2
    assert tally.lost == []


# --- checkpoints are read back --------------------------------------------------------------------


def spoil(monkeypatch, name: str, at: int) -> None:
    """Let the disk change a byte of the `at`-th file whose folder has this name."""
    write, n_files = store.write_parts, 0

    def write_spoilt(path, parts, **options):
        nonlocal n_files
        n_files += path.parent.name == name
        if path.parent.name == name and n_files == at:
            data = bytearray(b"".join(bytes(part) for part in parts))
            data[-5] ^= 1
            parts = [bytes(data)]
        write(path, parts, **options)

    monkeypatch.setattr(store, "write_parts", write_spoilt)


@pytest.mark.parametrize("folder", ["checkpoints", "history"])
def test_what_cannot_be_loaded_ends_the_run_and_keeps_what_was_there(folder, tmp_path, monkeypatch):
    life, path = Life(n_steps=200), tmp_path / "run"
    with quick(), monkeypatch.context() as patch:
        spoil(patch, folder, at=5)
        with pytest.raises(RunError, match=r"was written but cannot be loaded \(damaged") as told:
            life.live(path)
    assert f"{folder}/0000" in str(told.value)
    assert "\n" not in str(told.value)
    status = Run.open(path).status()
    assert (status.state, status.reason) == ("failed", str(told.value))
    files = Run.open(path).checkpoints()
    assert len(files) == 2
    for step, file in files:
        assert tgm.TGMAgent.load(file).n_steps == step
    agent, troubles = resume(path)
    assert troubles == ()
    assert agent.n_steps == files[-1][0]
    life.live(path)
    assert Run.open(path).status().state == "finished"


def test_a_final_model_that_cannot_be_loaded_is_a_failure(tmp_path, monkeypatch):
    agent = Life(n_steps=30).agent()  # it ends within an episode: the model is no checkpoint
    spoil(monkeypatch, "run", at=1)
    recorder = RunRecorder.begin(agent, tmp_path / "run", 3)
    with pytest.raises(RunError, match=r"model\.safetensors: was written but cannot be loaded"):
        agent.learn(3, run_dir=recorder)
    assert not (tmp_path / "run" / "model.safetensors").exists()
    assert Run.open(tmp_path / "run").status().state == "failed"


def test_saving_over_a_model_keeps_it_if_the_new_one_cannot_be_loaded(tmp_path, monkeypatch):
    agent = Life().agent()
    agent.learn(50).save(tmp_path / "model")
    spoil(monkeypatch, tmp_path.name, at=1)
    with pytest.raises(RunError, match="what was saved before is kept"):
        agent.learn(50).save(tmp_path / "model")
    assert tgm.TGMAgent.load(tmp_path / "model").n_steps == 50
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


# --- directories ----------------------------------------------------------------------------------


def test_directories_are_synced(tmp_path, monkeypatch):
    synced = []
    fsync = os.fsync

    def note(file):
        synced.append(str(Path(f"/proc/self/fd/{file}").readlink()))
        fsync(file)

    if not Path("/proc/self/fd").exists():
        pytest.skip("the system does not tell the names of open files")
    monkeypatch.setattr("os.fsync", note)
    Life(n_steps=60).live(tmp_path / "new" / "folder" / "run")
    run = tmp_path / "new" / "folder" / "run"
    for folder in (tmp_path, tmp_path / "new", run.parent, run):
        assert str(folder) in synced
    for name in ("checkpoints", "history"):
        assert str(run / name) in synced
    assert synced.count(str(run / "checkpoints")) == sum(
        ".safetensors" in p and "/checkpoints/" in p for p in synced
    )


def test_a_file_system_that_syncs_files_only_will_do(tmp_path, monkeypatch):
    fsync = os.fsync

    def files_only(file):
        if stat.S_ISDIR(os.fstat(file).st_mode):
            raise OSError(22, "Invalid argument")
        fsync(file)

    monkeypatch.setattr("os.fsync", files_only)
    Life(n_steps=60).live(tmp_path / "run")
    assert Run.open(tmp_path / "run").status().state == "finished"


def test_a_run_that_is_moved_away_says_so(tmp_path):
    life, path = Life(n_steps=100), tmp_path / "run"
    agent, recorder = life.begin(path)

    def move(info):
        if info.step == 30:
            path.rename(tmp_path / "elsewhere")

    with quick(), pytest.raises(RunError, match="moved or replaced while it was written"):
        agent.learn(100, callback=move, run_dir=recorder)
    assert not path.exists()
    with quick():
        life.live(tmp_path / "elsewhere")
    assert Run.open(tmp_path / "elsewhere").status().state == "finished"


def test_a_folder_within_a_run_that_is_swapped_is_not_written(tmp_path):
    life, path = Life(n_steps=100), tmp_path / "run"
    agent, recorder = life.begin(path)
    (tmp_path / "foreign").mkdir()

    def swap(info):
        if info.step == 30:
            (path / "checkpoints").rename(tmp_path / "moved")
            (path / "checkpoints").symlink_to(tmp_path / "foreign")

    with quick(), pytest.raises(RunError, match="no longer the directory of this run"):
        agent.learn(100, callback=swap, run_dir=recorder)
    assert list((tmp_path / "foreign").iterdir()) == []


def test_the_next_name_is_taken_and_another_error_is_not_tried_again(tmp_path):
    tried = []

    def begin(path):
        tried.append(path.name)
        if len(tried) < 3:
            raise RunExistsError("somebody was quicker")
        return path

    (tmp_path / "run-2").mkdir()
    assert begin_in_free(tmp_path / "run", begin).name == "run-4"
    assert tried == ["run", "run-3", "run-4"]
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be made"):
        begin_in_free(
            tmp_path / "file" / "run", partial(RunRecorder.begin, Life().agent(), n_steps=5)
        )


def test_threads_that_train_at_once_get_runs_of_their_own(tmp_path, monkeypatch):
    from datetime import datetime

    import tgm.cli.train

    class Still(datetime):
        @classmethod
        def now(cls, tz=None):
            return cls(2026, 1, 1)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tgm.cli.train, "datetime", Still)
    begun = []

    def train():
        _, recorder, _ = tgm.cli.train.Train(maze="8", steps=30)._begin()
        begun.append(recorder)

    threads = [threading.Thread(target=train) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = sorted(recorder.path.name for recorder in begun)
    assert names == [
        "20260101-000000-maze-8-seed-0",
        *(f"20260101-000000-maze-8-seed-0-{number}" for number in range(2, 6)),
    ]
    assert (tmp_path / "runs" / "latest").resolve().name in names
    assert not list((tmp_path / "runs").glob(".*"))
    for recorder in begun:
        recorder.close("interrupted")


def test_result_says_failed_if_the_end_cannot_be_written(tmp_path, monkeypatch):
    agent, recorder = Life(n_steps=40).begin(tmp_path / "run")
    monkeypatch.setattr(
        recorder, "_write_model", lambda: (_ for _ in ()).throw(RunError("no room"))
    )
    with pytest.raises(RunError, match="no room"):
        agent.learn(40, run_dir=recorder)
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert (result["status"], result["reason"]) == ("failed", "no room")
