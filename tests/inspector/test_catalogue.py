"""Ids stand for directories under the root, and for nothing else."""

import os
import shutil

import pytest

from tgm.errors import ConfigError, RunError
from tgm.inspector import catalogue as catalogue_module
from tgm.inspector.catalogue import Catalogue, check_files, run_id


def test_the_runs_of_a_folder_and_a_run_by_itself(runs_folder):
    all_of_them = Catalogue([runs_folder]).folders()
    assert [path.name for path in all_of_them.values()] == [
        "a-dqn",
        "b-cart-pole",
        "c-paper",
        "d-maze",
    ]
    one = Catalogue([runs_folder / "d-maze"]).folders()
    assert list(one.items()) == list(all_of_them.items())[-1:]


def test_an_id_is_looked_up_and_never_made_a_path(runs_folder):
    catalogue = Catalogue([runs_folder])
    id_ = run_id(runs_folder / "d-maze")
    assert catalogue.open(id_).name == "d-maze"
    for wrong in ("d-maze", "../d-maze", str(runs_folder / "d-maze"), "", id_[:-1]):
        with pytest.raises(KeyError):
            catalogue.open(wrong)


def test_a_place_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="no such directory"):
        Catalogue([tmp_path / "nowhere"])


def test_a_link_to_a_run_elsewhere_is_not_listed(runs_folder, tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(runs_folder / "d-maze")
    assert Catalogue([root]).folders() == {}


def test_what_resolves_outside_is_not_listed_even_if_it_was_found(
    runs_folder, tmp_path, monkeypatch
):
    """find_runs leaves links out; here it is made to let one through."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(runs_folder / "d-maze")
    monkeypatch.setattr(catalogue_module, "find_runs", lambda place: [place / "link"])
    assert Catalogue([root]).folders() == {}


@pytest.fixture
def copied(runs_folder, tmp_path):
    folder = tmp_path / "root" / "run"
    shutil.copytree(runs_folder / "d-maze", folder)
    return folder


@pytest.mark.parametrize("name", ["metrics.jsonl", "result.json", "history", "run.json"])
def test_a_link_within_a_run_is_refused(copied, name):
    target = copied / name
    elsewhere = copied.parent.parent / "elsewhere"
    target.rename(elsewhere)
    target.symlink_to(elsewhere)
    with pytest.raises(RunError, match=f"'{name}' is a link"):
        check_files(copied)
    with pytest.raises(RunError):
        Catalogue([copied.parent]).open(run_id(copied))


def test_a_link_within_the_history_is_refused(copied):
    chunk = sorted((copied / "history").iterdir())[0]
    chunk.unlink()
    chunk.symlink_to("/etc/passwd")
    with pytest.raises(RunError, match="is a link"):
        check_files(copied)


def test_a_pipe_is_refused_and_does_not_hang(copied):
    (copied / "metrics.jsonl").unlink()
    os.mkfifo(copied / "metrics.jsonl")
    with pytest.raises(RunError, match="not a regular file"):
        check_files(copied)


def test_huge_files_are_refused(copied):
    with (copied / "run.json").open("ab") as file:
        file.truncate(20 * 2**20)
    with pytest.raises(RunError, match="too large"):
        check_files(copied)
