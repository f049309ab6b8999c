"""The page: effects by hand, and verdicts that follow them."""

import math
from dataclasses import replace

import pytest

from tgm.experiments.sensitivity import analysis, command, update
from tgm.experiments.sensitivity.analysis import effect_of, report, verdict
from tgm.experiments.sensitivity.constants import Constant
from tgm.experiments.sensitivity.sweep import ConstantResult, ConstantTrial
from tgm.experiments.sensitivity.worlds import Measured

RUNS = tuple(Measured("8", seed, 40, True, 1.0, f"{seed}") for seed in range(4))
BASELINE = ConstantResult(RUNS, (0.5, 0.5, 0.5, 0.5))
TRIAL = ConstantTrial("", "", "baseline", "", 4, ("8",))
TRIED = replace(TRIAL, module="tgm.m", constant="A", change="halved", value="1")


def changed(*solved, **fields):
    """The baseline with other steps of solving, all of them good unless never solved."""
    runs = tuple(
        replace(run, solved_at=at, is_good=at is not None, digest="x", **fields)
        for run, at in zip(RUNS, solved, strict=True)
    )
    return effect_of(TRIED, ConstantResult(runs, (0.5, 0.5, 1.0, 1.0)), BASELINE)


def test_an_effect_by_hand():
    effect = changed(40, 60, 80, None, states_per_cell=1.25)
    assert (effect.n_good, effect.n_runs, effect.n_lost) == (3, 4, 1)
    assert (effect.median, effect.worst) == (1.75, math.inf)
    assert (effect.states, effect.states_change, effect.time) == (1.25, 0.25, 1.5)
    assert str(effect) == "1: 3/4, steps x1.75, never, states 1.250, time x1.50"


def test_runs_that_are_missing_are_lost():
    effect = effect_of(TRIED, ConstantResult(RUNS[:1], (0.5,)), BASELINE)
    assert (effect.n_good, effect.n_lost, effect.time, effect.is_same) == (1, 3, None, False)
    assert math.isinf(effect.median)
    assert str(effect).endswith("time limit")


def test_only_worlds_that_read_the_constant_are_compared():
    flowing = Measured("CartPole-v1", 0, None, False, None, "f")
    both = ConstantResult((*RUNS, flowing), (*BASELINE.seconds, 9.0))
    assert effect_of(TRIED, BASELINE, both) == effect_of(TRIED, BASELINE, BASELINE)
    there = replace(TRIED, worlds=("CartPole-v1",))
    solved = ConstantResult((replace(flowing, solved_at=1000, is_good=True),), (18.0,))
    effect = effect_of(there, solved, both)
    assert (effect.n_good, effect.n_runs, effect.n_lost, effect.time) == (1, 1, -1, 2.0)
    assert (effect.median, effect.states_change, effect.is_same) == (1.0, 0.0, False)
    assert str(effect) == "1: 1/1, steps x1.00, x1.00, time x2.00"  # there are no cells


@pytest.mark.parametrize(
    ("effect", "word"),
    [
        (effect_of(TRIED, BASELINE, BASELINE), "no effect seen"),
        (effect_of(TRIED, ConstantResult(RUNS, (1.0,) * 4), BASELINE), "no effect seen but time"),
        (changed(40, 40, 40, 40), "matters little"),  # another map, and nothing else
        (changed(40, 40, 40, None), "matters little"),
        (changed(40, 40, None, None), "matters"),
        (changed(45, 45, 45, 45), "matters"),
        (changed(35, 35, 35, 35), "matters"),
        (changed(40, 40, 40, 40, states_per_cell=1.03), "matters"),
    ],
)
def test_verdicts(effect, word):
    assert verdict([effect_of(TRIED, BASELINE, BASELINE), effect]) == word


def results_of(*effects):
    """Results of constants A, B, ... whose runs have these digests."""
    pairs = [(TRIAL, BASELINE)]
    for name, runs in zip("ABC", effects, strict=False):
        trial = replace(TRIED, constant=name, value="0.5")
        pairs.append((trial, ConstantResult(runs, BASELINE.seconds)))
    return pairs


def table_of(page):
    """The rows of the first table."""
    return [line for line in page.split("## Not varied")[0].splitlines() if line.startswith("| `")]


@pytest.fixture
def constants(monkeypatch):
    found = [Constant("tgm.m", name, 1.0, f"{name} | note", "") for name in "ABC"]
    found.append(Constant("tgm.m", "MARK", -1, "", "a mark, not a quantity"))
    found.append(Constant("tgm.m", "IDLE", 1.0, "", ""))
    monkeypatch.setattr(analysis, "worlds_that_read", lambda constant, worlds: ())
    monkeypatch.setattr(analysis, "find_constants", lambda: found)


def test_the_page_is_sorted_by_effect(constants):
    other = tuple(replace(run, digest="x") for run in RUNS)
    lost = tuple(replace(run, solved_at=None, is_good=False, digest="y") for run in RUNS)
    page = report(results_of(RUNS, other, lost))
    rows = [line.split(" | ") for line in table_of(page)]
    assert [row[0].strip("| ") for row in rows] == ["`C`", "`B`", "`A`"]
    assert [row[-1].strip(" |") for row in rows] == ["matters", "matters little", "no effect seen"]
    assert "Of 3 constants 1 matter, 1 matter little, and of 1 no effect was seen; 2 more" in page
    assert r"C \| note" in page
    assert "- a mark, not a quantity: `m.MARK`" in page
    assert "- no world of this study reads it: `m.IDLE`" in page


def test_the_page_is_written_whole_and_printed_with_only(constants, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "run_study", lambda study, sweep: results_of(RUNS))
    path = tmp_path / "page.md"
    command.main(["--only", "A", "--page", str(path)])
    printed = capsys.readouterr().out
    assert not path.exists()
    command.main(["--page", str(path)])
    assert path.read_text() == printed
    assert capsys.readouterr().out == ""


def test_an_unknown_name_is_one_line_and_exit_2(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        command.main(["--only", "NO_SUCH_CONSTANT", "--out", str(tmp_path)])
    assert stop.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("sensitivity: --only NO_SUCH_CONSTANT: there is no such constant")
    assert not list(tmp_path.iterdir())


def test_a_page_is_made_to_agree_with_the_code_without_a_run(constants, tmp_path, monkeypatch):
    other = tuple(replace(run, digest="x") for run in RUNS)
    path = tmp_path / "page.md"
    path.write_text(report(results_of(RUNS, other, other)))
    now = [
        Constant("tgm.m", "A", 1.0, "another note", ""),
        Constant("tgm.m", "B", 2.0, "", ""),  # another value; C is gone
        Constant("tgm.m", "NEW", 3.0, "", ""),
        Constant("tgm.m", "MARK", -1, "", "a mark, not a quantity"),
        Constant("tgm.m", "IDLE", 1.0, "", ""),
    ]
    monkeypatch.setattr(update, "find_constants", lambda: now)
    command.main(["--update", "--page", str(path)])
    page = path.read_text()
    (row,) = table_of(page)
    assert row.startswith("| `A` | m | another note | 1.0 | 0.5: same")
    assert "Of 1 constants 0 matter, 0 matter little, and of 1 no effect was seen; 4 more" in page
    assert f"- {update.NOT_TRIED}: `m.B`, `m.NEW`\n" in page
    assert "- a mark, not a quantity: `m.MARK`" in page
    assert "- no world of this study reads it: `m.IDLE`" in page
    command.main(["--update", "--page", str(path)])
    assert path.read_text() == page
    reasons = page.split("## Why constants without effect stay")[1]
    assert "| `m.A` | no reason is given | - |" in reasons
    assert "| `m.IDLE` | no reason is given | - |" in reasons
    assert "m.NEW" not in reasons


def test_constants_that_are_tried_again_replace_their_rows(constants, tmp_path, monkeypatch):
    other = tuple(replace(run, digest="x") for run in RUNS)
    lost = tuple(replace(run, solved_at=None, is_good=False, digest="y") for run in RUNS)
    path = tmp_path / "page.md"
    path.write_text(report(results_of(RUNS, other, other)))
    monkeypatch.setattr(update, "find_constants", analysis.find_constants)
    monkeypatch.setattr(command, "run_study", lambda study, sweep: results_of(lost))
    command.main(["--update", "--only", "A", "--page", str(path)])
    rows = [line.split(" | ") for line in table_of(path.read_text())]
    assert [row[0].strip("| ") for row in rows] == ["`A`", "`B`", "`C`"]
    assert [row[-1].strip(" |") for row in rows] == ["matters", "matters little", "matters little"]
    assert path.read_text().startswith(report(results_of(RUNS, other, other))[:300])
