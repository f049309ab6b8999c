"""`tgm fit`: from a file to a table, a model and a run."""

from __future__ import annotations

import csv
import json

import numpy as np
import pandas as pd
import pytest

from tgm.cli.main import main
from tgm.inspector.report import report_page
from tgm.runs import Run

FLAGS = ["--obs", "x", "y", "--action", "move", "--episode", "id"]
FLAGS += ["--reward", "gain", "--terminated", "done"]


@pytest.fixture
def log(tmp_path):
    """Four places in a row; "on" leads to the next one, the last one is the goal."""
    rng = np.random.default_rng(0)
    path = tmp_path / "log.csv"
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["id", "x", "y", "move", "gain", "done"])
        for episode in range(25):
            place = 0
            while place < 4:
                move = str(rng.choice(["on", "wait"]))
                x, y = place + 0.1 * rng.normal(), 0.1 * rng.normal()
                x = "" if rng.uniform() < 0.03 else f"{x:.4f}"
                place += move == "on"
                lines.writerow([episode, x, f"{y:.4f}", move, int(place == 4), int(place == 4)])
    return path


def test_states_and_transitions_are_printed_and_kept(log, tmp_path, capsys):
    out = tmp_path / "run"
    assert main(["fit", str(log), *FLAGS, "--out", str(out), "--no-report"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("4 states in ")
    assert "values missing" in printed
    assert "most likely transitions" in printed
    assert "best action in each state" in printed
    assert max(map(len, printed.replace(str(out), "RUN").splitlines())) <= 80
    run = Run.open(out)
    assert run.status().state == "finished"
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    episodes = [episode for line in lines for episode in line["episodes"]]
    assert [episode["total_reward"] for episode in episodes] == [1.0] * 25
    agent = run.agent()
    assert agent.n_states == 4
    assert agent.interface.feature_names == ("x", "y")
    assert agent.interface.action_names == ("on", "wait")
    assert agent.predict([0.0, 0.0], deterministic=True)[0] == 0  # on, to the goal
    assert len(report_page([run])) > 1000  # the page opens
    agent.start_episode([0.0, 0.0]).observe(0, 0.0, [1.0, 0.0])  # and the agent lives on


def test_json_and_a_log_without_actions(log, tmp_path, capsys):
    out = tmp_path / "run"
    command = ["fit", str(log), "--obs", "x", "--episode", "id", "--out", str(out), "--json"]
    assert main([*command, "--no-report"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["states"] == 4
    assert facts["actions"] == []
    assert "policy" not in facts
    assert np.allclose(np.sum(facts["transitions"], axis=2), 1.0)
    assert Run.open(out).agent().interface.action_names == ("step",)


def test_rows_on_their_own_have_no_transitions(tmp_path, capsys):
    path = tmp_path / "log.csv"
    for text, first in (
        ("x;y\n1;2\n", "1 state in 1 row of 1 episode"),
        ("x,y\n1,2\n,3\n", "1 state in 2 rows of 2 episodes, 1 value missing"),
    ):
        path.write_text(text)
        flags = ["--obs", "x", "--episode", "y", "--no-report", "--out", str(tmp_path / first[-1:])]
        assert main(["fit", str(path), *flags]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[0] == first
        assert "no transitions: every episode is one row" in lines
        assert "most likely transitions" not in lines


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--obs", "z"], "no column 'z'; it has 'id', 'x', 'y', 'move', 'gain', 'done'"),
        ([], "name the columns of an observation"),
        (["--obs", "move"], "log.csv, row 1 (line 2), column 'move': '"),
        (["--obs", "x", "--action", "y"], "column 'y': "),
        (["--obs", "x", "--max-states", "0"], "max_states is 0"),
        (["--obs", "x", "--gamma", "2"], "--gamma is 2.0; it must be from 0 to below 1"),
    ],
)
def test_bad_input_is_one_line(flags, message, log, tmp_path, capsys):
    assert main(["fit", str(log), *flags, "--out", str(tmp_path / "run")]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_a_directory_that_exists_is_refused_first(log, tmp_path, capsys, monkeypatch):
    assert main(["fit", str(log), *FLAGS, "--out", str(tmp_path)]) == 2
    assert "exists already; name another directory with --out" in capsys.readouterr().err
    monkeypatch.chdir(tmp_path)
    assert main(["fit", str(tmp_path / "nothing.csv"), "--obs", "x"]) == 2
    assert "nothing.csv: there is no such file" in capsys.readouterr().err


@pytest.fixture
def points(tmp_path):
    """Three clusters of 300 rows, in a Parquet file with row groups of 100."""
    rng = np.random.default_rng(0)
    table = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 300, axis=0)
    table = rng.permutation(table + rng.normal(size=table.shape))
    path = tmp_path / "points.parquet"
    frame = pd.DataFrame({"x": table[:, 0], "name": "a", "y": table[:, 1]})
    frame.to_parquet(path, row_group_size=100)
    return path


def test_clusters_of_points_are_printed_and_kept(points, tmp_path, capsys):
    command = ["fit", str(points), "--obs", "y", "x", "--points"]
    assert main([*command, "--out", str(tmp_path / "found")]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("3 components in 900 rows")
    assert max(map(len, printed.replace(str(tmp_path), "").splitlines())) <= 80
    kept = json.loads((tmp_path / "found" / "components.json").read_text())
    assert kept["features"] == ["y", "x"]
    found = sorted(np.round(kept["means"]).astype(int).tolist())
    assert found == [[0, 0], [0, 9], [9, 0]]
    assert np.shape(kept["covariances"]) == (3, 2, 2)
    np.save(tmp_path / "points.npy", pd.read_parquet(points)[["y", "x"]])
    pd.read_parquet(points).to_csv(tmp_path / "points.csv", index=False)
    for other in (["points.npy"], ["points.csv", "--obs", "y", "x"]):
        assert main(["fit", str(tmp_path / other[0]), *other[1:], "--points", "--json"]) == 0
        assert np.allclose(json.loads(capsys.readouterr().out)["means"], kept["means"])


def test_clusters_are_the_same_on_a_cluster(points, capsys):
    distributed = pytest.importorskip("distributed")
    alone = ["fit", str(points), "--points", "--json"]
    assert main(alone) == 0
    expected = json.loads(capsys.readouterr().out)
    with distributed.LocalCluster(n_workers=2, processes=False, dashboard_address=None) as cluster:
        assert main([*alone, "--dask", cluster.scheduler_address]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rows"] == 900
    assert np.allclose(found["means"], expected["means"])


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--dask", "tcp://127.0.0.1:1"], "--dask is for rows without an order; add --points"),
        (["--points", "--action", "name"], "--action does not go with --points"),
        (["--points", "--obs", "name"], "columns ['name'] are missing or no numbers"),
        (["--points", "--dask", "tcp://127.0.0.1:1"], "no Dask scheduler answers at"),
    ],
)
def test_what_does_not_go_with_points_is_said(flags, message, points, capsys):
    assert main(["fit", str(points), *flags]) == 2
    assert message in capsys.readouterr().err
