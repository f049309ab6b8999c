"""`tgm mazes` as its user sees it: output, error output, exit code."""

import json

import pytest

from tgm.cli.main import main
from tgm.envs import load_maze, maze_names, random_maze


@pytest.fixture
def tgm(capsys):
    def call(*arguments):
        code = main(["mazes", *map(str, arguments)])
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def island(tmp_path):
    path = tmp_path / "island.txt"
    path.write_text("#####\n#S#G#\n#####\n")
    return path


def test_list(tgm):
    code, out, err = tgm()
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines()]
    assert [row[0] for row in rows[1:]] == list(maze_names())
    assert rows[2] == ["10", "7", "x", "11", "29", "28", "-27"]


def test_list_on_a_terminal_is_a_table(tgm, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    code, out, _ = tgm()
    assert code == 0
    assert "│" in out
    assert "-27" in out


def test_drawing_on_a_terminal(tgm, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    _, out, _ = tgm("25")
    assert out == (
        "██████████\n"
        "██· · ◆ ██\n"
        "██·     ██\n"
        "██M     ██\n"
        "██████████\n"
        "M mouse   ◆ cheese   · shortest path\n"
        "25: 5 x 5, 9 cells, shortest path 4 moves, best return -3, 50 steps an episode\n"
    )


def test_drawing_elsewhere_is_a_maze_file(tgm):
    assert tgm("8") == (0, load_maze("8").to_text(), "")


@pytest.mark.parametrize("kind", ["perfect", "open", "rooms"])
def test_generated_maze_passes_the_check(tgm, tmp_path, kind):
    code, out, err = tgm("--generate", kind, 20, 20, "--seed", 3)
    assert (code, out, err) == (0, random_maze(kind, 20, 20, 3).to_text(), "")
    path = tmp_path / "generated.txt"
    path.write_text(out)
    code, out, err = tgm("--check", path)
    assert (code, err) == (0, "")
    assert out.startswith(f"{path}: ok, ")


def test_check_says_where_and_how_to_mend(tgm, tmp_path):
    path = tmp_path / "bad.txt"
    path.write_text("#####\n#SxG#\n#####\n")
    code, out, err = tgm("--check", path)
    assert (code, out) == (2, "")
    wanted = "unknown glyph 'x' (U+0078); use '#', '.', 'S', 'G', 'L' or space"
    assert err == f"tgm: {path}:2:3: {wanted}\n"


def test_unreachable_goal_is_a_warning_and_no_failure(tgm, island):
    code, out, err = tgm("--check", island)
    assert code == 0
    assert out == f"{island}: ok, 5 x 3, 1 cells, no way to the goal\n"
    assert err.startswith(f"tgm: warning: {island}:2:4: the goal at (3, 1) cannot be reached")
    assert err.count("\n") == 1


def test_json_is_one_object_and_nothing_else(tgm, island):
    answers = {}
    for name, arguments in {
        "list": (),
        "one": ("27",),
        "generated": ("--generate", "open", 2, 3),
        "checked": ("--check", island),
    }.items():
        code, out, _ = tgm(*arguments, "--json")
        assert code == 0
        assert out.count("\n") == 1
        answers[name] = json.loads(out)
    assert [maze["cells"] for maze in answers["list"]["mazes"]] == [8, 29, 9, 9, 16, 25]
    assert answers["one"] == {
        "name": "27",
        "width": 7,
        "height": 7,
        "cells": 25,
        "shortest_path": 8,
        "optimal_return": -7,
        "max_episode_steps": 50,
        "text": load_maze("27").to_text(),
        "warnings": [],
    }
    assert answers["generated"]["text"] == "#####\n#..G#\n#S..#\n#####\n"
    assert answers["checked"]["ok"] is True
    assert answers["checked"]["optimal_return"] is None
    assert len(answers["checked"]["warnings"]) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("28",), "unknown maze '28'; did you mean '8'?"),
        (("--check", "nowhere.txt"), "nowhere.txt: there is no such file"),
        (("--check", "."), "directory"),
        (("--generate", "spiral", 5, 5), "spiral"),
        (("--generate", "open", 0, 5), "rows is 0"),
        (("--generate", "open", 5, 5, "--seed", -1), "seed is -1"),
        (("27", "--generate", "open", 5, 5), "give one"),
    ],
)
@pytest.mark.parametrize("json_flag", [(), ("--json",)])
def test_bad_input_is_one_line_and_exit_code_2(tgm, arguments, words, json_flag):
    code, out, err = tgm(*arguments, *json_flag)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
