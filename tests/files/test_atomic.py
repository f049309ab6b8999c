"""Files and directories are there whole or not at all."""

import os

import pytest

from tgm.errors import RunError, RunExistsError
from tgm.files.atomic import (
    link_or_copy,
    make_folder,
    remove_temporary_files,
    temporary_name,
    unique_temporary_name,
    write_json,
    write_new,
    write_parts,
)


def names(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_write_that_fails_keeps_the_old_file(tmp_path):
    path = tmp_path / "file"
    write_parts(path, [b"old"])

    def parts():
        yield b"new"
        raise OSError(28, "No space left on device")

    with pytest.raises(RunError, match=r"file: cannot be written \(No space left on device\)"):
        write_parts(path, parts())
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


def test_a_check_that_fails_keeps_the_old_file(tmp_path):
    path = tmp_path / "file"
    write_parts(path, [b"old"])

    def refuse(written):
        assert written.read_bytes() == b"new"
        raise RunError(f"{written}: damaged")

    with pytest.raises(RunError, match=r"file: was written but cannot be loaded \(damaged\)"):
        write_parts(path, [b"n", b"ew"], check=refuse)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


def test_write_new_never_overwrites(tmp_path):
    path = tmp_path / "a" / "b" / "file"
    assert write_new(path, b"first")
    assert not write_new(path, b"second")
    assert path.read_bytes() == b"first"
    assert names(path.parent) == ["file"]


def test_write_new_names_what_is_in_the_way(tmp_path):
    (tmp_path / "a").write_text("a file")
    with pytest.raises(RunError, match="a/file: cannot be written"):
        write_new(tmp_path / "a" / "file", b"data")


def test_json_has_a_line_for_each_value(tmp_path):
    write_json(tmp_path / "x.json", {"a": [1, 2], "b": None})
    assert (tmp_path / "x.json").read_text() == '{\n  "a": [1, 2],\n  "b": null\n}\n'


def test_a_file_system_without_links_gets_a_copy(tmp_path, monkeypatch):
    (tmp_path / "source").write_bytes(b"data")
    link_or_copy(tmp_path / "linked", tmp_path / "source")
    assert (tmp_path / "linked").samefile(tmp_path / "source")

    def refuse(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", refuse)
    link_or_copy(tmp_path / "copied", tmp_path / "source")
    assert (tmp_path / "copied").read_bytes() == b"data"
    assert not (tmp_path / "copied").samefile(tmp_path / "source")


def test_a_directory_is_filled_before_it_has_its_name(tmp_path):
    path = tmp_path / "new" / "run"

    def fill(folder):
        assert not path.exists()
        (folder / "file").write_text("x")

    make_folder(path, fill)
    assert names(path) == ["file"]
    assert names(path.parent) == ["run"]
    with pytest.raises(RunExistsError, match="exists already"):
        make_folder(path, fill)


def test_a_directory_that_cannot_be_filled_is_not_there(tmp_path):
    def fill(folder):
        (folder / "file").write_text("x")
        raise OSError(28, "No space left on device")

    with pytest.raises(RunError, match=r"run: cannot be made \(No space left on device\)"):
        make_folder(tmp_path / "run", fill)
    assert names(tmp_path) == []


def test_a_name_that_is_taken_meanwhile_is_not_replaced(tmp_path):
    path = tmp_path / "run"

    def fill(folder):
        path.mkdir()
        (path / "theirs").write_text("x")

    with pytest.raises(RunExistsError, match="exists already"):
        make_folder(path, fill)
    assert names(path) == ["theirs"]
    assert names(tmp_path) == ["run"]


def test_temporary_files_are_removed_and_nothing_else(tmp_path):
    kept = [tmp_path / "file", tmp_path / ".hidden", tmp_path / "x.tmp"]
    for path in (*kept, temporary_name(kept[0]), unique_temporary_name(kept[0])):
        path.write_text("x")
    remove_temporary_files(tmp_path)
    assert names(tmp_path) == sorted(path.name for path in kept)
