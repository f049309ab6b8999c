"""The limit of an episode, as a user meets it: who is called solved, and which flags there are."""

import json

import pytest

from tgm.cli.main import main
from tgm.envs import random_maze
from tgm.runs import Run


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p20.txt").write_text(random_maze("perfect", 20, 20, 3).to_text())
    return tmp_path


@pytest.fixture
def tell(here, capsys):
    """The JSON of a command."""

    def told(*arguments):
        assert main([*arguments, "--json"]) == 0
        return json.loads(capsys.readouterr().out, parse_constant=pytest.fail)

    return told


TOO_SHORT = ["--maze", "p20.txt", "--max-episode-steps", "50", "--steps", "120", "--no-report"]
FAR = "the goal is 282 steps away and an episode has only 50: raise --max-episode-steps"


def test_a_goal_beyond_the_limit_is_not_solved_by_any_command(here, tell, capsys):
    trained = tell("train", *TOO_SHORT, "--out", "runs/short")
    evaluated = tell("evaluate", "runs/short")
    for facts in (trained, evaluated):
        assert facts["mean_return"] == facts["optimal_return"] == -50
        assert (facts["solved"], facts["reached_goal"]) == (False, 0)
        assert facts["max_episode_steps"] == 50
    assert json.loads((here / "runs/short/result.json").read_text())["solved"] is False
    assert tell("runs")["runs"][0]["solved"] is False
    assert main(["evaluate", "runs/short"]) == 0
    assert capsys.readouterr().out == (
        f"maze p20 is not solved: mean return -50.00 over 20 episodes; {FAR}\n"
    )


def test_a_limit_that_is_too_short_is_told_before_the_training(here, capsys):
    assert main(["train", *TOO_SHORT, "--out", "run"]) == 0
    captured = capsys.readouterr()
    assert captured.err.startswith(f"tgm: warning: maze p20: {FAR}\n")
    assert "is solved" not in captured.out
    assert main(["compare", *COMPARED, "--max-episode-steps", "50"]) == 0
    assert f"tgm: warning: maze p20: {FAR}\n" in capsys.readouterr().err


COMPARED = ["--mazes", "p20.txt", "--agents", "random", "--seeds", "1", "--steps", "50"]
COMPARED += ["--jobs", "1", "--check-every", "25"]


def test_random_actions_do_not_solve_a_goal_beyond_the_limit(tell):
    facts = tell("compare", *COMPARED, "--max-episode-steps", "50", "--record")
    (row,) = facts["table"]
    assert (row["solved"], row["solve_steps"], row["return_mean"]) == (0, None, -50)
    (trial,) = facts["trials"]
    assert (trial["optimal_return"], trial["max_episode_steps"]) == (-50, 50)
    assert facts["overall"][0]["score_mean"] is None
    assert tell("runs", "comparison/runs")["runs"][0]["solved"] is False


def test_a_verdict_of_an_older_version_is_not_believed_beyond_the_limit(here, tell):
    tell("train", *TOO_SHORT, "--out", "runs/old")
    path = here / "runs/old/result.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"solved": True}))
    assert tell("runs")["runs"][0]["solved"] is False


def test_a_generated_maze_has_a_limit_that_its_way_fits_into(tell):
    facts = tell("train", "--maze", "p20.txt", "--steps", "30", "--out", "run", "--no-report")
    assert (facts["max_episode_steps"], facts["optimal_return"]) == (1128, -280)
    assert tell("mazes", "--check", "p20.txt")["max_episode_steps"] == 1128
    (trial,) = tell("compare", *COMPARED)["trials"]
    assert (trial["optimal_return"], trial["max_episode_steps"]) == (-280, 1128)


def test_noise_and_limit_are_kept_and_used_again(here, tell, capsys):
    arguments = ["--maze", "8", "--noise", "0.05", "--max-episode-steps", "9", "--steps", "40"]
    facts = tell("train", *arguments, "--out", "run", "--checkpoint-seconds", "0")
    assert facts["max_episode_steps"] == 9
    options = Run.open(here / "run").world.options
    assert options == {"noise": 0.05, "max_episode_steps": 9}
    longer = tell("train", "--resume", "run", "--steps", "60")
    whole = tell("train", *arguments[:-1], "60", "--out", "whole")
    assert longer["returns"] == whole["returns"]
    one, other = (Run.open(here / name).agent() for name in ("run", "whole"))
    assert (one.means == other.means).all()
    lengths = [e["length"] for line in Run.open(here / "run").metrics() for e in line["episodes"]]
    assert lengths
    assert max(lengths) == 9
    assert min(tell("evaluate", "run")["returns"]) >= -9
    assert tell("compare", "--mazes", "8", "--agents", "tgm", "--seeds", "1", "--steps", "20",
                "--jobs", "1", "--noise", "0.05")["trials"][0]["noise"] == 0.05  # fmt: skip


@pytest.mark.parametrize("command", ["train", "compare"])
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--noise", "nan"), "--noise is nan; it must be from 0"),
        (("--noise", "inf"), "--noise is inf; it must be from 0"),
        (("--noise", "-0.1"), "--noise is -0.1; it must be from 0"),
        (("--max-episode-steps", "0"), "--max-episode-steps is 0; it must be from 1 to 1e+12"),
        (("--max-episode-steps", "-1"), "--max-episode-steps is -1; it must be from 1"),
        (("--max-episode-steps", "9" * 400), "9; it must be from 1 to 1e+12"),
        (("--max-episode-steps", "many"), "many"),
        (("--noise", "loud"), "loud"),
    ],
)
def test_wrong_flags_are_named(here, capsys, command, arguments, words):
    assert main([command, *arguments, "--steps", "5"]) == 2
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1
    assert not (here / "runs").exists()
    assert not (here / "comparison").exists()


def test_the_flags_are_for_mazes(here, capsys):
    for flag in ("--noise", "--max-episode-steps"):
        assert main(["train", "--env", "CartPole-v1", flag, "1", "--steps", "5"]) == 2
        assert capsys.readouterr().err == f"tgm: --env does not take {flag}: only a maze does\n"


def test_a_resumed_run_keeps_its_noise_and_limit(here, capsys):
    train = ["train", "--maze", "8", "--no-report", "--out", "run", "--steps", "60"]
    assert main([*train, "--noise", "0.2"]) == 0
    for flag, value, words in (
        ("--noise", "0.3", "noise is 0.3, not 0.2"),
        ("--max-episode-steps", "60", "max_episode_steps is 60, not 50"),
        ("--maze", "10", "the rows of maze '10' are not those of the run's maze"),
    ):
        capsys.readouterr()
        assert main(["train", "--resume", "run", flag, value, "--steps", "90"]) == 2
        assert words in capsys.readouterr().err
    same = ["--noise", "0.2", "--max-episode-steps", "50", "--maze", "8", "--steps", "90"]
    assert main(["train", "--resume", "run", "--no-report", *same]) == 0
