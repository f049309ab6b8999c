"""Runs and models of version 0.1 are refused with one line that says what to do."""

import json

import pytest
from tests.inspector.client import Client

import tgm
from tgm.cli.main import main
from tgm.errors import RunError
from tgm.files.format import FORMAT, check_format
from tgm.inspector.catalogue import Catalogue
from tgm.inspector.server import TOKEN_HEADER, make_app
from tgm.runs import Run

ADVICE = (
    "written by tgm 0.1, which tgm 0.2 cannot read; train again with 0.2, or install "
    "temporal-gaussian-mixture==0.1"
)


def old_file(kind: str) -> bytes:
    """A model, checkpoint or chunk of history as 0.1 wrote it: format 2, called schema."""
    content = {"schema": 2, "facts": json.dumps({"n_steps": 8}), "checksum": 0}
    header = {
        "__metadata__": {kind: json.dumps(content)},
        "weight": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]},
    }
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + bytes(8)


@pytest.fixture
def old_run(tmp_path):
    """A run directory as 0.1 left it: format 3, called schema."""
    run = tmp_path / "runs" / "old"
    for name in ("history", "checkpoints"):
        (run / name).mkdir(parents=True)
    values = {
        "schema": 3,
        "agent": "tgm",
        "world": {"id": "tgm/Maze-v0", "maze": {"name": "x", "grid": ["#####", "#S.G#", "#####"]}},
        "seed": 0,
        "steps": 8,
        "config": {},
        "interface": {"n_features": 2, "n_actions": 5},
        "versions": {"temporal-gaussian-mixture": "0.1.0"},
        "started": "2025-01-01T00:00:00+00:00",
    }
    (run / "run.json").write_text(json.dumps(values))
    (run / "result.json").write_text(json.dumps({"status": "finished", "steps": 8}))
    (run / "metrics.jsonl").write_text('{"step": 8, "episodes": []}\n')
    (run / "history" / "0000000000.safetensors").write_bytes(old_file("tgm-history"))
    (run / "checkpoints" / "0000000008.safetensors").write_bytes(old_file("tgm-model"))
    (run / "model.safetensors").write_bytes(old_file("tgm-model"))
    return run


def test_a_model_of_0_1_is_refused(tmp_path):
    (tmp_path / "model").write_bytes(old_file("tgm-model"))
    with pytest.raises(RunError) as refused:
        tgm.TGMAgent.load(tmp_path / "model")
    assert str(refused.value) == f"{tmp_path / 'model'}: a tgm-model file {ADVICE}"


@pytest.mark.parametrize("read", [Run.open, tgm.runs.resume])
def test_a_run_of_0_1_is_refused(read, old_run):
    with pytest.raises(RunError) as refused:
        read(old_run)
    assert str(refused.value) == f"{old_run}: a run {ADVICE}"


@pytest.mark.parametrize(
    "words", [["evaluate"], ["structure"], ["report"], ["train", "--resume"]], ids=" ".join
)
def test_commands_refuse_a_run_of_0_1(words, old_run, capsys, monkeypatch):
    if words == ["report"]:
        pytest.importorskip("plotly")
    monkeypatch.chdir(old_run.parent)  # the report would go there
    before = {path: path.read_bytes() for path in old_run.rglob("*") if path.is_file()}
    assert main([*words, str(old_run)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [f"tgm: {old_run}: a run {ADVICE}"]
    assert {path: path.read_bytes() for path in old_run.rglob("*") if path.is_file()} == before


def test_a_list_of_runs_says_it_of_each(old_run, capsys):
    assert main(["runs", str(old_run.parent), "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)["runs"]
    assert (listed["name"], listed["state"]) == ("old", "broken")
    assert listed["reason"] == f"{old_run}: a run {ADVICE}"


def test_the_inspector_says_it_of_each(old_run):
    pytest.importorskip("starlette")
    app = make_app(Catalogue([old_run]), frozenset({"127.0.0.1:80"}), "token")
    client = Client(app, [("host", "127.0.0.1:80"), (TOKEN_HEADER, "token")])
    (listed,) = client.get("/api/runs").json()["runs"]
    assert (listed["name"], listed["state"]) == ("old", "broken")
    assert listed["error"] == f"{old_run}: a run {ADVICE}"
    answer = client.get(f"/api/runs/{listed['id']}")
    assert answer.status == 422
    assert ADVICE in answer.json()["error"]


@pytest.mark.parametrize("number", [0, -1, FORMAT + 1, True, 4.0, "4", None, [4], {}, 10**400])
def test_other_formats_are_told(number):
    with pytest.raises(RunError, match=rf"^here: a run of format .*; this version reads {FORMAT}$"):
        check_format("here", "a run", number)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_all_formats_of_0_1_are_known(number):
    with pytest.raises(RunError, match=r"a run written by tgm 0\.1"):
        check_format("here", "a run", number)


def test_this_format_is_read():
    check_format("here", "a run", FORMAT)
