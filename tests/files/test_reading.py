"""A file is read again only after it has changed."""

import os

import pytest

from tgm.errors import RunError
from tgm.files.reading import ReadOnce, identity, read_bytes


def test_a_file_is_read_again_only_after_it_has_changed(tmp_path):
    path, n_reads = tmp_path / "file", 0

    def read(path):
        nonlocal n_reads
        n_reads += 1
        return read_bytes(path, 100)

    kept = ReadOnce()
    path.write_bytes(b"old")
    assert not kept.is_current(path)
    assert [kept.get(path, read) for _ in range(3)] == [b"old"] * 3
    assert n_reads == 1
    (tmp_path / "new").write_bytes(b"new")
    (tmp_path / "new").replace(path)
    assert not kept.is_current(path)
    assert [kept.get(path, read) for _ in range(3)] == [b"new"] * 3
    assert n_reads == 2


def test_an_error_is_not_kept(tmp_path):
    kept = ReadOnce()
    with pytest.raises(RunError, match="cannot be read"):
        kept.get(tmp_path / "file", lambda path: read_bytes(path, 9))
    (tmp_path / "file").write_bytes(b"data")
    assert kept.get(tmp_path / "file", lambda path: read_bytes(path, 9)) == b"data"


def test_a_change_while_a_file_is_read_is_noticed(tmp_path):
    path, kept = tmp_path / "file", ReadOnce()
    path.write_bytes(b"old")

    def read_and_change(path):
        data = read_bytes(path, 100)
        path.write_bytes(b"newer")
        return data

    assert kept.get(path, read_and_change) == b"old"
    assert kept.get(path, lambda path: read_bytes(path, 100)) == b"newer"


def test_two_names_of_one_file_have_one_identity(tmp_path):
    (tmp_path / "file").write_bytes(b"data")
    os.link(tmp_path / "file", tmp_path / "link")
    assert identity(tmp_path / "file") == identity(tmp_path / "link") is not None
    assert identity(tmp_path / "none") is None
