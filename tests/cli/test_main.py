"""The command line's habits: exit codes, one line of error, JSON alone on standard output."""

import json
import re
import subprocess
import sys

import pytest

from tgm.cli.main import COMMANDS, main
from tgm.files.format import FORMAT


def lines_of(capsys) -> tuple[str, list[str]]:
    captured = capsys.readouterr()
    return captured.out, captured.err.strip().splitlines()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["maize"], "unknown command 'maize'; did you mean 'mazes'?"),
        (["train", "--maze", "72"], "unknown maze '72'"),
        (["train", "--gamma", "1.5"], "gamma is 1.5; it must be a number from 0 to 1"),
        (["train", "--gamma", "nan"], "gamma is nan"),
        (["train", "--learning-rate", "0"], "learning_rate is 0"),
        (["train", "--seed", "-1"], "seed is -1"),
        (["train", "--steps", "0"], "--steps is 0"),
        (["train", "--steps", "many"], "--steps"),
        (["train", "--stepz", "5"], "--stepz"),
        (["train", "--preset", "best"], "best"),
        (["train", "--env", "Nowhere-v0"], "Nowhere-v0"),
        (["train", "--env", "CartPole-v1", "--maze", "8"], "give one"),
        (["train", "--env", "Pendulum-v1", "--steps", "9"], "the action space is Box"),
        (["evaluate", "nowhere"], "nowhere: not a run"),
        (["structure", "nowhere"], "nowhere: not a run"),
        (["evaluate"], "RUN"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    out, err = lines_of(capsys)
    assert out == ""
    assert len(err) == 1
    assert err[0].startswith("tgm: ")
    assert message in err[0]
    assert not list(tmp_path.iterdir())  # nothing is left behind


def test_debug_shows_the_traceback():
    with pytest.raises(ValueError, match="unknown command"):
        main(["maize", "--debug"])


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "completion"])
def test_help_says_on_and_off_within_its_box(command, capsys):
    assert main([command, "--help"]) == 0
    out, _ = lines_of(capsys)
    assert not re.search(r"(True|False)\)", out)
    assert re.search(r"--json +Print one JSON object instead", out)
    assert "(default: off)" in out
    assert "--no-json" not in out
    with_default = [line for line in out.splitlines() if re.search(r"default:|\bo(n|ff)\)", line)]
    assert len({len(line) for line in with_default}) == 1


def test_a_flag_that_is_on_has_both_its_names(capsys):
    assert main(["train", "--help"]) == 0
    words = " ".join(re.sub("[│╭╮╰╯─]", "", lines_of(capsys)[0]).split())
    report = "--report, --no-report Write report.html into the run, if the inspector is installed."
    assert f"{report} (default: on)" in words
    assert "--moves, --no-moves" in words
    assert main(["train", "--preset", "paper", "--help"]) == 0
    assert re.search(r"--moves, --no-moves[^(]*\(default:[\s│]*on\)", lines_of(capsys)[0])


def test_the_overview_names_every_command(capsys):
    assert main([]) == 0
    out, _ = lines_of(capsys)
    listed = out.partition("examples:")[0]
    assert re.findall(r"^  (\w+)", listed, re.MULTILINE) == list(COMMANDS)
    known = {"mazes", "train", "evaluate", "runs", "structure", "compare", "figures"}
    assert known <= set(COMMANDS)
    assert main(["--version"]) == 0
    assert re.fullmatch(r"tgm \d+\.\d+\.\d+\n", capsys.readouterr().out)


def test_train_then_evaluate_then_structure(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = ["--maze", "25", "--steps", "2000", "--seed", "1", "--preset", "paper"]
    assert main(["train", *settings, "--out", "run", "--json"]) == 0
    trained = json.loads(capsys.readouterr().out)
    assert trained["steps"] == 2000
    assert trained["structure"]["cells"]["missing"] == 0
    assert main(["evaluate", "run", "--json", "--seed", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["returns"] == trained["returns"]
    assert main(["structure", "run", "--json"]) == 0
    structure = json.loads(capsys.readouterr().out)
    assert structure["cells"] == trained["structure"]["cells"]
    assert [then["step"] for then in structure["over_time"]] == list(range(100, 2001, 100))
    assert main(["structure", "run"]) == 0
    assert "states found for 9 cells" in capsys.readouterr().out
    assert main(["train", *settings, "--out", "run"]) == 2
    assert "exists already" in capsys.readouterr().err


def test_the_drawing_shows_the_way(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["train", "--maze", "8", "--preset", "paper", "--seed", "0"]) == 0
    out = capsys.readouterr().out
    assert "maze 8 is solved: mean return -5.00" in out
    drawing = out.splitlines()
    # The row of the start, at the bottom: three steps to the right, then up.
    assert re.search(r"██→.→.→.↑.██", drawing[4])
    assert (tmp_path / "runs").is_dir()


def test_another_environment_is_trained_too(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ["--env", "CartPole-v1", "--steps", "200", "--out", "run", "--json"]
    assert main(["train", *arguments, "--preset", "paper"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["states"] > 0
    assert (facts["solved"], facts["solved_return"]) == (False, 475.0)
    assert main(["structure", "run"]) == 2
    assert "only a maze" in capsys.readouterr().err


def test_a_closed_pipe_is_no_error():
    code = (
        "import sys; from tgm.cli.main import COMMANDS, main; sys.exit(main(['mazes', '--json']))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    _, err = process.communicate(timeout=60)
    assert err == b""
    assert process.returncode == 0


def test_settings_start_from_the_preset(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    settings = ["--preset", "paper", "--gamma", "0.9", "--steps", "5"]
    assert main(["train", *settings, "--out", "run"]) == 0
    config = json.loads((tmp_path / "run" / "run.json").read_text())["config"]
    assert config["gamma"] == 0.9
    assert config["learn_every"] == 100


def test_an_existing_directory_is_refused_whatever_is_in_it(tmp_path, capsys):
    assert main(["train", "--maze", "8", "--steps", "5", "--out", str(tmp_path)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_goal_out_of_reach_is_never_solved_and_the_json_is_json(tmp_path, capsys):
    path = tmp_path / "island.txt"
    path.write_text("####\n#S.#\n####\n#G##\n####\n")
    out = str(tmp_path / "run")
    with pytest.warns(match="cannot be reached"):
        assert main(["train", "--maze", str(path), "--steps", "20", "--out", out, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert facts["solved"] is False
    assert facts["reached_goal"] == 0
    assert facts["optimal_return"] == facts["mean_return"] == -50


def test_an_environment_of_a_module_is_imported(tmp_path, capsys):
    arguments = ["--env", "tgm:tgm/Maze-v0", "--steps", "20", "--out", str(tmp_path / "run")]
    assert main(["train", *arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["steps"] == 20


def test_a_run_that_fails_exits_with_1(tmp_path, capsys, monkeypatch):
    from tgm.envs.maze_env import MazeEnv

    step = MazeEnv.step
    monkeypatch.setattr(
        MazeEnv, "step", lambda self, a: (step(self, a)[0] * float("nan"), *step(self, a)[1:])
    )
    out = str(tmp_path / "run")
    assert main(["train", "--maze", "8", "--steps", "50", "--out", out]) == 1
    assert "the run failed: step 1: observation[0] is nan" in capsys.readouterr().err


@pytest.mark.parametrize("maze", [{"name": "x"}, {"name": "x", "grid": 5}, {"grid": ["#"]}, 3])
def test_a_run_with_a_broken_maze_is_refused(tmp_path, capsys, maze):
    facts = {"format": FORMAT, "agent": "tgm", "seed": 0, "steps": 9, "config": {}, "interface": {}}
    facts["world"] = {"id": "tgm/Maze-v0", "maze": maze}
    (tmp_path / "run.json").write_text(json.dumps(facts))
    assert main(["evaluate", str(tmp_path)]) == 2
    assert "the run's maze is" in capsys.readouterr().err


def test_arguments_of_an_environment_are_kept_and_may_be_named_again(capsys, tmp_path):
    arguments = ["--env-args", "map_name=4x4", "is_slippery=false"]
    run = str(tmp_path / "run")
    train = ["train", "--env", "FrozenLake-v1", *arguments, "--no-report", "--out", run]
    assert main([*train, "--steps", "300"]) == 0
    line = "FrozenLake-v1 is solved (from 0.7 on): mean return 1.00 over 20 episodes, the best is 1"
    assert line in capsys.readouterr().out
    assert main(["evaluate", run]) == 0
    assert capsys.readouterr().out.strip() == line
    assert main(["evaluate", run, *arguments]) == 0
    assert capsys.readouterr().out.strip() == line
    assert main(["train", "--resume", run, *arguments, "--steps", "310", "--no-report"]) == 0
    capsys.readouterr()
    assert main(["evaluate", run, "--env-args", "map_name=8x8"]) == 2
    assert 'map_name is "8x8", not "4x4"' in capsys.readouterr().err
