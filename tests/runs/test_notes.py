"""Tags and notes stay in the run, and nothing else in its directory is touched."""

import json

import pytest
from tests.inspector.recorded import record_returns

from tgm.cli.main import main
from tgm.errors import ConfigError, RunError
from tgm.inspector.entries import entry
from tgm.runs import Run
from tgm.runs.notes import LONGEST_TAG, MOST_TAGS, NOTES_FILE, Notes, read_notes, write_notes


@pytest.fixture
def folder(tmp_path):
    return record_returns(tmp_path / "run")


def test_notes_are_kept_and_listed(folder):
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    assert read_notes(folder) == Notes()
    write_notes(folder, add=["good", "long run"], note="first")
    assert write_notes(folder, add=["good", "x"], remove=["long run"]) == Notes(
        ("good", "x"), "first"
    )
    listed = entry(Run.open(folder))
    assert (listed["tags"], listed["note"]) == (["good", "x"], "first")
    (folder / NOTES_FILE).unlink()
    assert {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()} == before


@pytest.mark.parametrize("tag", ["", "  ", "a" * (LONGEST_TAG + 1), "\x1b[31m", "a\nb"])
def test_a_tag_that_is_none_is_refused(folder, tag):
    with pytest.raises(ConfigError, match="a tag is"):
        write_notes(folder, add=[tag])
    assert not (folder / NOTES_FILE).exists()


def test_wrong_requests_are_refused(folder, tmp_path):
    with pytest.raises(RunError, match="not the directory of a run"):
        write_notes(tmp_path, note="x")
    with pytest.raises(ConfigError, match="no tag 'x'"):
        write_notes(folder, remove=["x"])
    with pytest.raises(ConfigError, match="tags"):
        write_notes(folder, add=[str(k) for k in range(MOST_TAGS + 1)])
    (folder / NOTES_FILE).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RunError, match="link"):
        write_notes(folder, note="x")


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{", '{"tags": 3, "note": []}', '{"tags": [1, null, "a"]}', '{"note": 1e999}'],
)
def test_a_file_that_is_wrong_is_not_believed(folder, content):
    (folder / NOTES_FILE).write_text(content)
    assert read_notes(folder).note == ""
    assert set(read_notes(folder).tags) <= {"a"}
    assert entry(Run.open(folder))["note"] == ""


def test_the_command_changes_and_shows_them(folder, capsys):
    assert main(["note", str(folder), "--add", "a", "b", "--text", "words", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tags"] == ["a", "b"]
    assert main(["note", str(folder)]) == 0
    assert capsys.readouterr().out == "tags: a, b\nnote: words\n"
    assert main(["note", str(folder), "--remove", "c"]) == 2
    assert main(["note", str(folder.parent)]) == 2
