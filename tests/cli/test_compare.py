"""`tgm compare`: its table, its JSON, going on where it stopped, and trials that fail."""

import json
import re

import pytest
from rich.console import Console

from tgm.cli.main import main
from tgm.cli.output import print_table
from tgm.experiments.comparison.trial_store import read_csv
from tgm.experiments.harness import runner
from tgm.experiments.harness.pool import run_trials
from tgm.experiments.harness.trial import run_trial
from tgm.runs import Run, find_runs

SMALL = [
    "compare",
    "--mazes",
    "25",
    "8",
    "--agents",
    "tgm",
    "oracle",
    "--seeds",
    "2",
    "--jobs",
    "1",
]


def compare_json(capsys, *arguments):
    code = main([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out, parse_constant=pytest.fail)


def test_the_table_and_the_json_have_the_same_numbers(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main([*SMALL, "--steps", "200"]) == 0
    captured = capsys.readouterr()
    code, facts = compare_json(capsys, *SMALL, "--steps", "200")
    assert code == 0
    assert (facts["finished_before"], facts["failed"]) == (8, [])
    rows = {(row["maze"], row["agent"]): row for row in facts["table"]}
    assert list(rows) == [("25", "tgm"), ("25", "oracle"), ("8", "tgm"), ("8", "oracle")]
    lines = [re.split(r"\s{2,}", line.strip()) for line in captured.out.splitlines()]
    shown = {key: [] for key in rows}
    for cells in lines:  # of two tables
        shown.get(tuple(cells[:2]), []).extend(cells[2:])
    assert shown.keys() == rows.keys()
    for key, row in rows.items():
        steps = f"{row['solve_steps']:.0f} [{row['solve_low']:.0f}, {row['solve_high']:.0f}]"
        assert shown[key][:2] == [f"{row['solved']}/2", steps]
        assert shown[key][2].startswith(f"{row['return_mean']:.2f} [")
        assert shown[key][-1] == f"{row['seconds_mean']:.2f}"
    assert "8 of 8 trials" in captured.err
    table = read_csv(tmp_path / "comparison" / "results.csv")
    assert sorted(map(str, table)) == sorted(map(str, facts["trials"]))
    overall = {row["agent"]: row for row in facts["overall"]}
    assert overall["tgm"]["first_is_better"] == 0.5  # of itself
    assert overall["oracle"]["score_mean"] == 1.0


def test_a_second_call_adds_and_changes_nothing(capsys, tmp_path):
    out = tmp_path / "out"
    arguments = [*SMALL[:3], "--agents", "random", "--jobs", "1", "--out", str(out)]
    code, first = compare_json(capsys, *arguments, "--seeds", "2", "--steps", "50")
    before = {path: path.read_bytes() for path in (out / "trials").rglob("*.json")}
    code, second = compare_json(capsys, *arguments, "--seeds", "3", "--steps", "50")
    assert (code, second["finished_before"]) == (0, 2)
    assert second["trials"][:2] == first["trials"]
    assert {path: path.read_bytes() for path in before} == before
    assert len(read_csv(out / "results.csv")) == 3


def test_a_failing_trial_is_told_and_the_others_go_on(capsys, tmp_path, monkeypatch):
    def work(trial):
        if trial.seed == 0:
            raise ValueError("bad\nluck")
        return run_trial(trial)

    def run(trials, _, **options):
        return run_trials(trials, work, **options)

    monkeypatch.setattr(runner, "run_trials", run)
    arguments = ["--mazes", "8", "--agents", "random", "--steps", "20", "--jobs", "1"]
    assert main(["compare", *arguments, "--seeds", "2", "--out", str(tmp_path), "--json"]) == 1
    captured = capsys.readouterr()
    facts = json.loads(captured.out)
    assert facts["failed"] == [
        {"maze": "8", "agent": "random", "seed": 0, "steps": 20, "error": "ValueError: bad luck"}
    ]
    assert [row["seed"] for row in facts["trials"]] == [1]
    last = captured.err.splitlines()[-1]
    assert last == "tgm: maze 8, random, seed 0 failed: ValueError: bad luck"
    # Nothing at all was finished: still an answer, no traceback.
    nothing = tmp_path / "nothing"
    assert main(["compare", *arguments, "--seeds", "1", "--out", str(nothing)]) == 1
    assert "no trial was finished" in capsys.readouterr().out
    monkeypatch.undo()
    code, facts = compare_json(
        capsys, "compare", *arguments, "--seeds", "2", "--out", str(tmp_path)
    )
    assert (code, facts["finished_before"], facts["failed"]) == (0, 1, [])


def test_a_terminal_shows_every_cell_of_the_table(monkeypatch, capsys):
    """What stands in brackets is no markup."""
    monkeypatch.setattr(Console, "is_terminal", True)
    print_table(("maze", "steps"), [("[bold]", "5 [never, 7]")])
    [row] = [line for line in capsys.readouterr().out.splitlines() if "bold" in line]
    assert row.split("│")[1:3] == [" [bold] ", " 5 [never, 7] "]


def test_recorded_trials_are_runs(capsys, tmp_path):
    out = tmp_path / "out"
    arguments = ["--mazes", "8", "--agents", "tgm", "random", "--seeds", "1", "--steps", "60"]
    assert main(["compare", *arguments, "--jobs", "1", "--out", str(out), "--record"]) == 0
    capsys.readouterr()
    runs = [Run.open(folder) for folder in find_runs(out / "runs")]
    assert {run.metadata["agent"] for run in runs} == {"tgm", "random"}
    assert all(run.status().state == "finished" for run in runs)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--mazes", "72"], "unknown maze '72'"),
        (["--agents", "dqm"], "unknown agent 'dqm'; did you mean 'dqn'?"),
        (["--mazes"], "--mazes is empty"),
        (["--agents"], "--agents is empty"),
        (["--seeds", "0"], "--seeds is 0"),
        (["--first-seed", "-1"], "--first-seed is -1"),
        (["--steps", "0"], "--steps is 0"),
        (["--jobs", "0"], "--jobs is 0"),
        (["--check-every", "0"], "--check-every is 0"),
        (["--jobs", "2", "--dask", "tcp://127.0.0.1:1"], "give one"),
        (["--envs"], "--envs is empty"),
        (["--envs", "cartpole"], "did you mean 'CartPole-v1'"),
        (["--envs", "FrozenLake-v1", "--env-args", "size=8"], "takes 'size': FrozenLake-v1 takes"),
        (["--env-args", "size=8"], "--env-args is for the environments of --envs"),
        (["--published-steps"], "--published-steps is for the environments of --envs"),
        (["--envs", "CartPole-v1", "--agents", "rmax"], "rmax cannot be used in CartPole-v1"),
        (["--envs", "Pendulum-v1", "--agents", "dqn"], "Discrete actions, not Box"),
        (["--envs", "FrozenLake-v1", "--env-args", "map_name=9x9"], "cannot be made"),
        (["--envs", "CartPole-v1", "--solved-return", "nan"], "--solved-return is nan"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["compare", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert message in captured.err
    assert not list(tmp_path.iterdir())


def test_a_maze_without_a_way_to_the_goal_has_no_score(capsys, tmp_path):
    path = tmp_path / "island.txt"
    path.write_text("####\n#S.#\n####\n#G##\n####\n")
    arguments = ["--mazes", str(path), "--agents", "random", "--seeds", "1", "--steps", "60"]
    with pytest.warns(match="cannot be reached"):
        code, facts = compare_json(
            capsys, "compare", *arguments, "--jobs", "1", "--out", str(tmp_path / "out")
        )
    assert code == 0
    assert facts["table"][0]["regret_mean"] is None
    assert facts["overall"][0]["score_mean"] is None


def test_any_environment_beside_a_maze(capsys, tmp_path):
    arguments = ["--envs", "FrozenLake-v1", "CartPole-v1", "--env-args", "is_slippery=false"]
    arguments += ["--mazes", "8", "--agents", "random", "rmax", "--seeds", "1", "--steps", "60"]
    arguments += ["--check-every", "60", "--jobs", "1", "--out", str(tmp_path)]
    assert main(["compare", *arguments]) == 0
    captured = capsys.readouterr()
    assert "CartPole-v1 without rmax: rmax is told the true state" in captured.err
    assert "FrozenLake-v1 is_slippery=false" in captured.out
    code, facts = compare_json(capsys, "compare", *arguments)
    assert (code, facts["finished_before"]) == (0, 5)
    known = {row["maze"]: (row["optimal_return"], row["true_states"]) for row in facts["trials"]}
    assert known == {
        "8": (-5.0, 8),
        "FrozenLake-v1 is_slippery=false": (1.0, 11),
        "CartPole-v1": (None, None),
    }
    assert len(read_csv(tmp_path / "results.csv")) == 5


def test_columns_in_which_nothing_is_known_are_left_out(capsys, tmp_path):
    arguments = ["--envs", "CartPole-v1", "--agents", "random", "--seeds", "1", "--steps", "20"]
    assert main(["compare", *arguments, "--jobs", "1", "--out", str(tmp_path)]) == 0
    head = capsys.readouterr().out.splitlines()[0]
    assert "final return" in head
    assert not any(word in head for word in ("best", "exact", "states", "regret"))


def test_a_folder_that_cannot_be_written_is_said_before_anything_runs(
    capsys, tmp_path, monkeypatch
):
    monkeypatch.setattr(runner, "run_trials", lambda *_, **__: pytest.fail("it ran"))
    (tmp_path / "file").write_text("")
    arguments = ["compare", "--mazes", "8", "--agents", "random", "--out"]
    assert main([*arguments, str(tmp_path / "file" / "out")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_names_that_begin_alike_stay_different_in_a_narrow_table(monkeypatch, capsys):
    monkeypatch.setattr(Console, "is_terminal", True)
    monkeypatch.setenv("COLUMNS", "40")
    names = ("FrozenLake-v1", "FrozenLake8x8-v1")
    heads = ("world", "agent", "solved", "final return")
    print_table(heads, [(name, "random", "0/1", "0.00 [0.00, 0.00]") for name in names])
    out = capsys.readouterr().out
    assert "…" not in out
    assert "8x8" in out
