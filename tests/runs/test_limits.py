"""Files are measured before they are read; campaigns/file_bombs.py tries a thousand of them."""

import json
import os
import random
import shutil

import numpy as np
import pytest
import safetensors.numpy
from tests.inspector.recorded import record_maze
from tests.runs import bombs

from tgm.agent import TGMAgent
from tgm.agent.model_file import MODEL_FORMAT
from tgm.cli.main import main
from tgm.errors import RunError
from tgm.files import read_arrays, write_arrays
from tgm.files.reading import MOST_HOLES, opened, parse_json, read_bytes
from tgm.runs import Run
from tgm.runs.summary import summary_of

MEMORY = 200_000_000  # bytes
PATIENCE = 20.0  # seconds: ten times what it takes on a busy machine


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A sound run."""
    return record_maze(tmp_path_factory.mktemp("source") / "run", "8", 300)


@pytest.fixture
def copied(source, tmp_path):
    return shutil.copytree(source, tmp_path / "run")


@pytest.mark.parametrize("kind", bombs.KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("seed", range(3))
def test_bombs_cost_little(copied, kind, seed):
    kind(copied, random.Random(seed))
    honest = bombs.n_bytes_on_disk(copied)
    for question in bombs.read_all(copied):
        cost = bombs.answer(question)
        assert cost.memory < honest + MEMORY, cost
        assert cost.seconds < PATIENCE, cost
        assert not cost.words.startswith(("the process", "broken")), cost


def test_a_sparse_file_is_named(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"x" * 10_000)
    os.truncate(path, 10_000 + MOST_HOLES // 2)
    assert len(read_bytes(path, 2**40)) == 10_000 + MOST_HOLES // 2
    os.truncate(path, 2**33)
    if 512 * path.stat().st_blocks >= 2**33:
        pytest.skip("this file system has no holes")
    with pytest.raises(RunError, match="is a sparse file"), opened(path):
        pass


def test_files_without_counted_blocks_have_the_absolute_limit(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"x" * 100)
    monkeypatch.delattr(os, "SEEK_HOLE", raising=False)
    assert read_bytes(path, 100) == b"x" * 100
    with pytest.raises(RunError, match="has 100 bytes; at most 99 are read"):
        read_bytes(path, 99)


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, tmp_path / "nothing"):
        with pytest.raises(RunError, match=r"regular file|cannot be read"):
            read_bytes(path, 100)


def test_values_are_counted_before_they_are_made():
    assert parse_json(b"[1, 2, {}]", "x", 4) == [1, 2, {}]
    with pytest.raises(RunError, match="x: holds more than 3 values"):
        parse_json(b"[1, 2, {}]", "x", 3)
    with pytest.raises(RunError, match="x: cannot be read"):
        parse_json("[" * 100_000, "x", 10**6)


@pytest.mark.parametrize("value", ["Infinity", "NaN", "1e999", "0", "-1", '"5"', "null", "1" * 400])
@pytest.mark.parametrize("name", ["n_features", "n_actions"])
def test_an_interface_that_is_none_is_named(copied, name, value):
    facts = json.loads((copied / "run.json").read_text())
    old = f'"{name}": {facts["interface"][name]}'
    text = (copied / "run.json").read_text()
    assert old in text
    (copied / "run.json").write_text(text.replace(old, f'"{name}": {value}'))
    if value == '"5"' and name == "n_actions":
        Run.open(copied)  # five actions, written in another way
        return
    summary = summary_of(copied)
    if value != '"5"':
        assert summary.state == "broken"
        assert "interface" in summary.reason


@pytest.mark.parametrize("options", [{"max_episode_steps": 0}, {"noise": float("nan")},
                                     {"noise": -1}, {"max_episode_steps": True}])  # fmt: skip
def test_options_that_no_maze_has_are_one_line(copied, options, capsys):
    facts = json.loads((copied / "run.json").read_text())
    facts["world"]["options"] = options
    (copied / "run.json").write_text(json.dumps(facts))
    for command in ("evaluate", "structure"):
        assert main([command, str(copied)]) == 2
        assert "the run's maze was made with" in capsys.readouterr().err


@pytest.mark.parametrize("text", ['{"step": ' + "1" * 400 + "}\n", '{"step": 1e999}\n'])
def test_a_step_beyond_all_numbers_is_named(copied, text):
    (copied / "metrics.jsonl").write_text(text)
    assert "its step is" in summary_of(copied).reason


def test_a_result_beyond_all_numbers_is_none(copied):
    result = json.loads((copied / "result.json").read_text())
    (copied / "result.json").write_text(json.dumps(result | {"states": 10**400, "steps": 1e300}))
    assert summary_of(copied).states is None


def test_a_file_that_is_cut_while_it_is_read_kills_nobody(tmp_path, monkeypatch):
    """All of it is in memory before it is looked at; of a mapped file, the system sends SIGBUS."""
    path = tmp_path / "file.safetensors"
    write_arrays(path, {"a": np.ones(500_000)}, MODEL_FORMAT, {})
    load = safetensors.numpy.load

    def load_when_cut(data):
        os.truncate(path, 100)
        return load(data)

    monkeypatch.setattr(safetensors.numpy, "load", load_when_cut)
    arrays, _ = read_arrays(path, MODEL_FORMAT)
    assert arrays["a"].sum() == 500_000
    with pytest.raises(RunError, match="not a readable tgm-model file"):
        read_arrays(path, MODEL_FORMAT)


def test_a_header_with_a_type_that_is_not_ours_is_named(tmp_path):
    import numpy as np

    path = tmp_path / "file.safetensors"
    safetensors.numpy.save_file({"a": np.ones(3, np.float32)}, path, {MODEL_FORMAT: "{}"})
    with pytest.raises(RunError, match="array 'a' has type F32"):
        read_arrays(path, MODEL_FORMAT)


def test_a_sound_run_is_read_as_before(source):
    run = Run.open(source)
    assert run.status().state == "finished"
    assert run.agent().n_steps == TGMAgent.load(source / "model.safetensors").n_steps == 300
    assert len(list(run.metrics())) > 3
    assert len(list(run.frames(100))) == 3
