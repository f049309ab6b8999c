"""Maze files: what is read, what is refused, and where the finger points."""

import importlib.util
import os
import sys
import warnings
from pathlib import Path

import pytest

from tgm.envs import MazeWarning, load_maze, maze_names, parse_maze, read_maze
from tgm.envs.maze_file import MAX_BYTES
from tgm.errors import ConfigError, MazeError

SOUND = b"#####\n#S.G#\n#####\n"

# Each fault: bytes, line, column, and words that the message must hold.
FAULTS = {
    "empty": (b"", 1, 1, "empty"),
    "blank": (b"  \n\n   \n", 1, 1, "empty"),
    "not UTF-8": (b"#####\n#S\xffG#\n#####\n", 2, 3, "byte 0xff is not UTF-8"),
    "not UTF-8 after a mark": (b"\xef\xbb\xbf##\xff", 1, 3, "byte 0xff is not UTF-8"),
    "not UTF-8 after a wide letter": (b"\xc3\xa9\xc3\xff", 1, 2, "byte 0xc3 is not UTF-8"),
    "UTF-16": ("###".encode("utf-16"), 1, 1, "not UTF-8"),
    "ragged": (b"#####\n#S.G\n#####\n", 2, 4, "leaks"),
    "hole to the outside": (b"## ##\n#S.G#\n#####\n", 2, 3, "leaks"),
    "floor on the border": (b"#####\n#S.G.\n#####\n", 2, 5, "leaks"),
    "unknown glyph": (b"#####\n#SxG#\n#####\n", 2, 3, "unknown glyph 'x' (U+0078)"),
    "tab": (b"#####\n#S\tG#\n#####\n", 2, 3, r"unknown glyph '\t' (U+0009)"),
    "escape": (b"#####\n#S\x1bG#\n#####\n", 2, 3, r"unknown glyph '\x1b' (U+001B)"),
    "old Macintosh": (b"#####\r#S.G#\r#####\r", 1, 6, r"unknown glyph '\r'"),
    "mark in the middle": (b"#####\n#S\xef\xbb\xbfG#\n#####\n", 2, 3, r"unknown glyph '\ufeff'"),
    "indented": (b"\n  #####\n  #SxG#\n  #####\n", 3, 5, "unknown glyph 'x'"),
    "no start": (b"#####\n#..G#\n#####\n", 1, 1, "no start; mark one floor cell with 'S'"),
    "two starts": (b"#####\n#SSG#\n#####\n", 2, 3, "second start, after that at 2:2"),
    "no goal": (b"#####\n#S..#\n#####\n", 1, 1, "no goal; mark one floor cell with 'G'"),
    "two goals": (b"#####\n#SGG#\n#####\n", 2, 4, "second goal, after that at 2:3"),
    "too wide": (b"#" * 1001 + b"\n#SG#\n", 1, 1001, "1001 columns are too many; keep to 1000"),
    "too high": (b"#\n" * 1001, 1001, 1, "1001 rows are too many; keep to 1000"),
    "too large": (b"#" * (MAX_BYTES + 1), 1, 1, "too large"),
}


@pytest.mark.parametrize(("data", "line", "column", "words"), FAULTS.values(), ids=FAULTS)
def test_fault_is_named_with_line_and_column(tmp_path, data, line, column, words):
    path = tmp_path / "bad.txt"
    path.write_bytes(data)
    with pytest.raises(MazeError) as caught:
        read_maze(path)
    message = str(caught.value)
    assert message.startswith(f"{path}:{line}:{column}: ")
    assert words in message
    assert "\n" not in message
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(
    "data",
    [
        SOUND,
        SOUND.rstrip(),
        b"\xef\xbb\xbf" + SOUND,
        SOUND.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + SOUND.replace(b"\n", b"\r\n"),
        b"\n  \n" + SOUND + b"\n \n\n",
        b"  " + SOUND.replace(b"\n", b"   \n  "),
    ],
    ids=["plain", "no last line end", "mark", "CRLF", "mark and CRLF", "blank lines", "indented"],
)
def test_same_maze_however_it_was_saved(data):
    maze = parse_maze(data, name="sound", source="sound.txt")
    assert maze.grid == ("#####", "#S.G#", "#####")
    assert maze.start == (1, 1)


def test_short_lines_end_in_outside():
    maze = parse_maze(b"###\n#G##\n#.S#\n####\n", name="step", source="step.txt")
    assert maze.grid == ("### ", "#G##", "#.S#", "####")


def test_largest_maze_is_read():
    wall = b"#" * 1000 + b"\r\n"
    data = b"\xef\xbb\xbf" + wall * 998 + b"#SG" + wall[3:] + wall
    maze = parse_maze(data, name="largest", source="largest.txt")
    assert len(data) == MAX_BYTES
    assert (maze.width, maze.height) == (1000, 1000)


def test_unreachable_goal_is_a_warning_that_names_the_cell(tmp_path):
    path = tmp_path / "island.txt"
    path.write_bytes(b"#####\n#S#G#\n#####\n")
    with pytest.warns(MazeWarning, match=r"island.txt:2:4: the goal at \(3, 1\) cannot be reached"):
        maze = read_maze(path)
    assert maze.shortest_path == ()


def test_sound_file_warns_of_nothing(tmp_path):
    path = tmp_path / "sound.txt"
    path.write_bytes(SOUND)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_maze(path).name == "sound"


def test_directory_is_refused(tmp_path):
    with pytest.raises(MazeError, match="is a directory; name a maze file"):
        read_maze(tmp_path)


def test_pipe_is_refused_without_waiting_for_a_writer(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(MazeError, match="a pipe or a device"):
        read_maze(path)


def test_endless_device_is_refused():
    with pytest.raises(MazeError, match="a pipe or a device"):
        read_maze("/dev/zero")


def test_missing_and_impossible_files_are_refused_in_one_line(tmp_path):
    with pytest.raises(MazeError, match=r"none.txt: there is no such file"):
        read_maze(tmp_path / "none.txt")
    for name in ("x" * 300, "nul\0.txt", "two\nlines.txt"):
        with pytest.raises(MazeError) as caught:
            read_maze(tmp_path / name)
        assert "\n" not in str(caught.value)


def test_unreadable_file_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "secret.txt"
    path.write_bytes(SOUND)

    def refuse(*_):  # chmod would not do: root may read everything
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(MazeError, match="cannot be read: permission denied"):
        read_maze(path)


def test_names_and_paths(tmp_path, monkeypatch):
    assert maze_names() == ("8", "10", "20", "25", "26", "27")
    assert load_maze("27") is load_maze("27")
    monkeypatch.chdir(tmp_path)
    Path("27").write_bytes(SOUND)
    Path("mine").write_bytes(SOUND)
    assert load_maze("27").width == 7
    assert load_maze("./27").width == 5
    assert load_maze(Path("27")).width == 5
    assert load_maze("mine").name == "mine"


@pytest.mark.parametrize(("name", "words"), [("28", "did you mean '8'"), ("maze", "`tgm mazes`")])
def test_unknown_name_suggests_what_to_do(name, words):
    with pytest.raises(ConfigError, match=f"unknown maze '{name}'") as caught:
        load_maze(name)
    assert words in str(caught.value)


@pytest.mark.parametrize("name", ["", "a\0b", "x" * 5000, 27, None])
def test_impossible_names_are_refused(name):
    with pytest.raises(ConfigError):
        load_maze(name)


def test_fuzzed_files_are_accepted_or_refused_with_line_and_column(tmp_path):
    script = Path(__file__).parents[2] / "campaigns" / "maze_files.py"
    spec = importlib.util.spec_from_file_location("maze_files", script)
    campaign = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = campaign  # dataclasses look their module up there
    spec.loader.exec_module(campaign)
    tally = campaign.run_campaign(300, seed=1, folder=tmp_path)
    assert tally.crashed == []
    assert tally.refused > 200
    assert tally.accepted > 5
