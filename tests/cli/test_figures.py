"""`tgm figures`."""

import json
import os
import subprocess
import sys

import pytest

from tgm.cli import figures
from tgm.cli.main import main


def test_some_figures_are_drawn_with_a_page(tmp_path, capsys):
    out = tmp_path / "figures"
    assert main(["figures", "--out", str(out), "--only", "9", "11", "--quick"]) == 0
    written = {path.name for path in out.iterdir()}
    assert written == {"index.html"} | {
        f"figure-{number}.{kind}" for number in ("09", "11") for kind in ("png", "svg")
    }
    assert (out / "figure-09.png").read_bytes().startswith(b"\x89PNG")
    assert "figure-11.png" in (out / "index.html").read_text()
    captured = capsys.readouterr()
    assert " 9  yes" in captured.out
    assert captured.out.strip().endswith("index.html")


def test_json_lists_files_and_claims(tmp_path, capsys):
    arguments = ["figures", "--out", str(tmp_path), "--only", "9", "--quick", "--json"]
    assert main(arguments) == 0
    facts = json.loads(capsys.readouterr().out)
    (figure,) = facts["figures"]
    assert figure["figure"] == 9
    assert figure["files"] == ["figure-09.png", "figure-09.svg"]
    assert all((tmp_path / name).exists() for name in figure["files"])
    (claim,) = figure["claims"]
    assert claim["holds"] == "yes"
    assert claim["numbers"]["forgotten_points"] == [0, 4, 8]


def test_the_same_seed_gives_the_same_bytes_and_another_one_does_not(tmp_path):
    for folder, seed in (("a", "0"), ("b", "0"), ("c", "1")):
        main(["figures", "--out", str(tmp_path / folder), "--only", "3", "--seed", seed, "--quick"])
    for name in ("figure-03.png", "figure-03.svg", "index.html"):
        first = (tmp_path / "a" / name).read_bytes()
        assert (tmp_path / "b" / name).read_bytes() == first
        assert (tmp_path / "c" / name).read_bytes() != first


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--only", "14"], "there is no figure 14; the numbers are 1 to 13"),
        (["--only", "0"], "there is no figure 0"),
        (["--seed", "-1"], "--seed is -1"),
        (["--results", "nowhere"], "--results nowhere: there is no such file"),
    ],
)
def test_bad_flags_are_one_line_and_exit_2(flags, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["figures", "--quick", *flags]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert message in line
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    out = tmp_path / "file" / "figures"
    assert main(["figures", "--out", str(out), "--only", "9"]) == 2
    assert "cannot be written" in capsys.readouterr().err
    (tmp_path / "index.html").mkdir()
    assert main(["figures", "--out", str(tmp_path), "--only", "9"]) == 2
    assert "index.html: cannot be written" in capsys.readouterr().err


def test_a_missing_matplotlib_is_named_with_its_extra(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(figures.importlib.util, "find_spec", lambda name: None)
    assert main(["figures", "--out", str(tmp_path), "--only", "9"]) == 2
    assert "pip install temporal-gaussian-mixture[figures]" in capsys.readouterr().err


def test_neither_pyplot_nor_a_window_is_touched(tmp_path):
    program = (
        "import sys; from tgm.cli.main import main; "
        f"main(['figures', '--out', {str(tmp_path)!r}, '--only', '9', '--quick']); "
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], env=os.environ, capture_output=True)
    assert done.returncode == 0, done.stderr
