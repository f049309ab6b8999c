"""Short versions of campaigns/survival.py: stopped, killed or refused room, it ends the same."""

import errno
import itertools
import json
import sys

import numpy as np
import pytest
from campaigns.common.attacks import ATTACKS
from campaigns.common.lives import Life, check_same, files_of, quick
from campaigns.common.tally import Tally
from campaigns.survival import (
    failing_commands,
    failing_resumes,
    failing_writes,
    interrupted_lines,
    kills,
    limited_files,
    polls,
    second_writers,
    stops,
)
from tests.runs.failing import FailsAt

import tgm
import tgm.runs.folder as runs_folder
from tgm.envs import EnvSpec
from tgm.errors import DataError, RunError
from tgm.files import write_atomically
from tgm.runs import Run, RunFolder, open_run, resume
from tgm.runs.chunk import Chunk
from tgm.runs.replay import with_all_frames


def check(tally: Tally, at_least: int = 1) -> None:
    assert tally.tried >= at_least
    assert tally.lost == []


def test_killed_at_random_moments(tmp_path):
    chosen = [Life("default", n_steps=120), Life("paper", n_steps=120)]
    anywhere, inside = kills(8, 4, 1, tmp_path, chosen)
    check(anywhere)
    check(inside, 4)


def test_stopped_at_every_episode_end(tmp_path):
    check(stops(2, tmp_path, n_steps=90), 2)


def test_interrupted_at_any_line(tmp_path):
    check(interrupted_lines(6, 3, tmp_path, n_settings=2, n_steps=80), 6)


def test_each_write_fails_in_turn(tmp_path):
    check(failing_writes(tmp_path, n_steps=60, every=7), 12)


def test_each_write_of_a_resumed_run_fails_in_turn(tmp_path):
    check(failing_resumes(tmp_path, n_steps=90, every=7), 6)


def test_each_write_of_a_command_fails_in_turn(tmp_path):
    check(failing_commands(tmp_path, n_steps=50, every=9), 4)


def test_the_system_refuses_to_let_a_file_grow(tmp_path):
    check(limited_files(tmp_path, 3), 3)


def test_a_second_writer_is_refused_in_another_process(tmp_path):
    check(second_writers(3, tmp_path), 3)


def test_a_reader_in_another_process_sees_no_partial_record(tmp_path):
    check(polls(60, tmp_path), 60)


# --- what these trials found ----------------------------------------------------------------------


def stopped_run(folder, n_steps: int = 100) -> Life:
    """A run that was stopped between two episodes; the life that it is part of."""
    life = Life(n_steps=n_steps)
    agent, recorder = life.begin(folder)
    agent.learn(n_steps // 2, run_dir=recorder)
    (folder / "result.json").unlink()  # as if it had been killed
    return life


def test_what_a_killed_writer_had_begun_is_removed(tmp_path):
    life = stopped_run(tmp_path / "run")
    for folder in (".", "history", "checkpoints"):
        (tmp_path / "run" / folder / ".0000000000.safetensors.77.tmp").write_bytes(b"half")
    life.live(tmp_path / "run")
    life.live(tmp_path / "whole")
    check_same(tmp_path / "run", files_of(tmp_path / "whole"))
    assert not list((tmp_path / "run").rglob("*.tmp"))


def test_the_agent_of_a_run_that_goes_on_is_its_newest(tmp_path):
    folder, life = tmp_path / "run", Life(n_steps=100)
    agent, recorder = life.begin(folder)
    agent.learn(50, run_dir=recorder)  # finished, with a model of step 50
    assert Run.open(folder).agent().n_steps == 50
    again, _ = resume(folder)
    recorder = open_run(again, folder, 100, checkpoint_seconds=0)
    with pytest.raises(ZeroDivisionError):
        again.learn(100, callback=lambda info: info.step < 95 or 1 / 0, run_dir=recorder)
    (folder / "result.json").unlink()  # as if it had been killed
    assert 50 < Run.open(folder).agent().n_steps < 95


def test_ctrl_c_within_a_frame_leaves_the_chunk_that_is_there(tmp_path, monkeypatch):
    folder, life = tmp_path / "run", Life("paper", n_steps=200)
    agent, recorder = life.begin(folder)
    add = recorder._history._add

    def add_half(step, changes, *, is_full):
        add(step, changes, is_full=is_full)
        if step > 100:
            raise KeyboardInterrupt

    monkeypatch.setattr(recorder._history, "_add", add_half)
    with quick(), pytest.raises(KeyboardInterrupt):
        agent.learn(200, run_dir=recorder)
    assert Run.open(folder).status().state == "interrupted"
    again, troubles = resume(folder)
    assert troubles == ()
    assert again.n_steps > 0


def test_ctrl_c_before_the_first_frame_of_a_chunk_leaves_no_empty_one(tmp_path, monkeypatch):
    folder, life = tmp_path / "run", Life(n_steps=700)
    agent, recorder = life.begin(folder)
    begin = recorder._history._begin

    def begin_only(first_step, n_episodes):
        begin(first_step, n_episodes)
        raise KeyboardInterrupt

    monkeypatch.setattr(recorder._history, "_begin", begin_only)
    with quick(), pytest.raises(KeyboardInterrupt):
        agent.learn(700, run_dir=recorder)
    run = Run.open(folder)
    assert run.chunk_steps() == [0]
    assert run.frame_at(500).n_states == agent.n_states


def test_what_a_failed_write_was_to_tell_is_told_once(tmp_path, monkeypatch):
    folder, life = tmp_path / "run", Life(n_steps=300)
    agent, recorder = life.begin(folder)
    write, n_writes = runs_folder._write_at, itertools.count(1)

    def fail_once(file, data, offset):
        if next(n_writes) == 8:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(file, data, offset)

    monkeypatch.setattr(runs_folder, "_write_at", fail_once)
    with quick(), pytest.raises(RunError, match="No space left"):
        agent.learn(300, run_dir=recorder)
    lines = list(Run.open(folder).metrics())
    told = [episode["episode"] for line in lines for episode in line["episodes"]]
    assert told == list(range(1, len(told) + 1))
    assert len(told) > 3
    steps = [line["step"] for line in lines]
    assert steps == sorted(set(steps))


def test_ctrl_c_anywhere_in_a_flush_writes_no_line_over_another(tmp_path):
    path = tmp_path / "run"
    whole = RunFolder.create(
        path, agent="dqn", world=EnvSpec("CartPole-v1"), seed=0, steps=9, config={}
    )
    whole.release()
    for at in itertools.count(1):
        folder = RunFolder(path)
        folder.append({"step": 1}, ())
        try:
            interrupted_at(at, folder.flush)
        except KeyboardInterrupt:
            folder.append({"step": 2}, ())
            folder.flush()
            folder.release()
            assert [line["step"] for line in Run.open(path).metrics()] == [1, 2]
        else:
            folder.release()
            break
    assert at > 30  # instructions


def interrupted_at(at, act):
    """Ctrl-C at the `at`-th instruction of a function."""
    n_instructions = 0

    def trace(frame, event, _):
        nonlocal n_instructions
        if frame.f_code is not act.__func__.__code__:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            n_instructions += 1
            if n_instructions == at:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys._getframe().f_trace_opcodes = True  # from 3.12 on it counts only if set before settrace
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)


def test_an_agent_whose_first_episode_was_broken_off_has_no_run(tmp_path):
    agent = tgm.TGMAgent(FailsAt(1, KeyboardInterrupt(), maze="8"), seed=0)
    with pytest.raises(KeyboardInterrupt):
        agent.learn(50, run_dir=tmp_path / "run")
    for name in ("run", "another"):
        with pytest.raises(RunError, match="broke it off before its first step"):
            agent.learn(50, run_dir=tmp_path / name)
    fresh, _ = resume(tmp_path / "run", agent.env)
    fresh.learn(50, run_dir=tmp_path / "run")
    assert Run.open(tmp_path / "run").status().state == "finished"


def test_a_lock_is_let_go_of_when_closing_fails(tmp_path, monkeypatch):
    folder, life = tmp_path / "run", Life(n_steps=60)
    agent, recorder = life.begin(folder)
    monkeypatch.setattr(recorder, "_write_model", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        agent.learn(60, run_dir=recorder)
    assert Run.open(folder).status().state == "interrupted"


@pytest.mark.parametrize("name", ["metrics.jsonl", "lock"])
def test_nothing_is_written_through_a_link(name, tmp_path):
    life = stopped_run(tmp_path / "run")
    private = tmp_path / "private.txt"
    private.write_text("private")
    (tmp_path / "run" / name).unlink()
    (tmp_path / "run" / name).symlink_to(private)
    with pytest.raises(RunError, match="cannot be written"):
        life.live(tmp_path / "run")
    assert private.read_text() == "private"


def test_folders_of_a_run_do_not_lead_elsewhere(tmp_path):
    life = stopped_run(tmp_path / "run")
    (tmp_path / "run" / "history").rename(tmp_path / "elsewhere")
    (tmp_path / "run" / "history").symlink_to(tmp_path / "elsewhere")
    n_files = len(list((tmp_path / "elsewhere").iterdir()))
    with pytest.raises(RunError, match="leads elsewhere"):
        life.live(tmp_path / "run")
    assert len(list((tmp_path / "elsewhere").iterdir())) == n_files
    assert Run.open(tmp_path / "run").chunk_steps() == []


def test_a_file_is_not_written_through_a_link_that_was_left(tmp_path, monkeypatch):
    monkeypatch.setattr("os.getpid", lambda: 77)
    (tmp_path / "private.txt").write_text("private")
    (tmp_path / ".model.77.tmp").symlink_to(tmp_path / "private.txt")
    write_atomically(tmp_path / "model", b"data")
    assert (tmp_path / "private.txt").read_text() == "private"
    assert (tmp_path / "model").read_bytes() == b"data"
    assert not (tmp_path / "model").is_symlink()


def test_metrics_that_are_a_pipe_keep_nobody_waiting(tmp_path):
    stopped_run(tmp_path / "run")
    ATTACKS["metrics.jsonl is a pipe"](tmp_path / "run")
    assert Run.open(tmp_path / "run").status().last == {}
    assert list(Run.open(tmp_path / "run").metrics()) == []


def test_files_of_other_names_are_not_taken_for_checkpoints(tmp_path):
    life = stopped_run(tmp_path / "run")
    for name in ("zz", "-1", "\u0663" * 10, "9" * 30):
        (tmp_path / "run" / "checkpoints" / f"{name}.safetensors").write_bytes(b"x")
        (tmp_path / "run" / "history" / f"{name}.safetensors").write_bytes(b"x")
    life.live(tmp_path / "run")
    steps = [step for step, _ in Run.open(tmp_path / "run").checkpoints()]
    assert len(steps) == 2
    assert max(steps) <= 100


@pytest.mark.parametrize(
    ("attack", "reason"),
    [
        ("notes before the metrics", "'metrics_bytes' is -100"),
        ("notes of half a chunk", "'n_frames' is -3"),
        ("episodes that are no episodes", "an episode has"),
        ("returns that are text", "'returns' holds more than numbers"),
        ("a LearnInfo of its own", "'n_forgotten' is"),
        ("notes that name a file", "'chunk' is '../../outside"),
    ],
)
def test_notes_are_checked(attack, reason, tmp_path):
    life = stopped_run(tmp_path / "run")
    (tmp_path / "run" / "model.safetensors").unlink()
    newest = Run.open(tmp_path / "run").checkpoints()[-1][1]
    (tmp_path / "run" / "model.safetensors").write_bytes(newest.read_bytes())
    ATTACKS[attack](tmp_path / "run")
    with pytest.raises(RunError, match="no checkpoint can be read") as refused:
        resume(tmp_path / "run")
    assert reason in str(refused.value)
    assert life.n_steps == json.loads((tmp_path / "run" / "run.json").read_text())["steps"]


@pytest.fixture(scope="module")
def chunk(tmp_path_factory) -> Chunk:
    folder = tmp_path_factory.mktemp("chunk") / "run"
    Life(n_steps=80).live(folder)
    return Run.open(folder).chunk_file(0)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("row.action", 5, "holds 5; it must be from 0 to 4"),
        ("row.action", -1, "holds -1; it must be from 0 to 4"),
        ("obs.action", 7, "holds 7; it must be from -1 to 4"),
        ("obs.step", 2**60, "is not within 0 and"),
        ("obs.share", 1.5, r"holds 1\.5; it must be from 0 to 1"),
        ("obs.weight", -0.5, r"holds -0\.5; it must be from 0 to 1"),
        ("frame.step", 2**60, "is not within 0 and"),
    ],
)
def test_chunks_hold_what_a_run_can_have_done(chunk, name, value, reason):
    arrays = {key: array.copy() for key, array in chunk.arrays.items()}
    arrays[name][-1] = value
    with pytest.raises(DataError, match=reason):
        Chunk.of(0, arrays, 2, 5)
    assert Chunk.of(0, chunk.arrays, 2, 5).last_step == 80


def test_a_chunk_whose_columns_differ_in_length_is_refused(chunk):
    arrays = dict(chunk.arrays)
    arrays["frame.is_full"] = arrays["frame.is_full"][:-1]
    with pytest.raises(DataError, match=r"'frame\.is_full' has"):
        Chunk.of(0, arrays, 2, 5)


def test_counts_that_begin_again_at_zero_are_refused(chunk):
    # Eight times 2^61 is nothing in 64 bits: the sum fits, the numbers do not.
    arrays = {key: array.copy() for key, array in chunk.arrays.items()}
    arrays["row.n_next"][:8] += 2**61
    assert arrays["row.n_next"].sum() == chunk.arrays["row.n_next"].sum()
    with pytest.raises(DataError, match=r"'next\.state' has shape .*, not \(1844"):
        Chunk.of(0, arrays, 2, 5)


def test_a_chunk_does_not_grow_without_bound(chunk):
    # Every observation repeats a row of very many successors.
    arrays = {key: array.copy() for key, array in chunk.arrays.items()}
    n_next, n_obs, last = 20_000, 4_000, len(arrays["row.state"]) - 1
    extra = n_next - int(arrays["row.n_next"][last])
    arrays["row.n_next"][last] = n_next
    arrays["next.state"] = np.concatenate([arrays["next.state"], np.arange(extra) + 10**6])
    arrays["next.count"] = np.concatenate([arrays["next.count"], np.ones(extra)])
    for name in [name for name in arrays if name.startswith("obs.")]:
        arrays[name] = np.repeat(arrays[name][-1:], n_obs, axis=0)
    arrays["obs.share"][:] = arrays["obs.weight"][:] = 1.0
    arrays["obs.state"][:] = arrays["row.state"][last]
    arrays["obs.action"][:] = arrays["row.action"][last]
    arrays["frame.n_obs"][:] = 0
    with pytest.raises(DataError, match="more successors"):
        with_all_frames(Chunk.of(0, arrays, 2, 5))
