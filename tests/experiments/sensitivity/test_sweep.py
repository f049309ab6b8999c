"""The trials of the study: a changed constant reaches the agent, and what is refused."""

import json
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from tgm.errors import ConfigError, RunError
from tgm.experiments.sensitivity import sweep as sweep_module
from tgm.experiments.sensitivity.constants import Constant, find_constants
from tgm.experiments.sensitivity.sweep import (
    ConstantTrial,
    SensitivitySweep,
    chosen,
    run,
)
from tgm.experiments.sensitivity.worlds import measure

UNCHANGED = ConstantTrial("", "", "baseline", "", 1, ("8",))
CONSTANTS = [
    Constant("tgm.a", "ONE", 1.0, "", ""),
    Constant("tgm.b", "ONE", 2.0, "", ""),
    Constant("tgm.b", "MARK", -1, "", "a mark, not a quantity"),
    Constant("tgm.b", "LEAST", 1, "", ""),
]
IDLE = Constant("tgm.c", "ONE", 1.0, "", "")


def with_value(module, constant, value):
    return replace(UNCHANGED, module=module, constant=constant, change="halved", value=value)


def test_without_a_change_the_process_does_what_this_process_does():
    assert run(UNCHANGED).runs == (measure("8", 0),)


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("tgm.structure.scale", "AUTO_RADIUS"),
        ("tgm.planning.exploration.optimism", "FIRST_TRY"),
        ("tgm.learners.online", "BIRTH"),
    ],
)
def test_absurd_values_change_the_runs(module, name):
    assert (module, name) in {(one.module, one.name) for one in find_constants()}
    expected = measure("8", 0)
    (measured,) = run(with_value(module, name, "1e3")).runs
    assert expected.error == ""
    assert (measured.digest, measured.error) != (expected.digest, "")


def test_modules_that_import_a_constant_and_values_derived_from_it_follow(tmp_path):
    (tmp_path / "source.py").write_text("A, B = 2, 5\nTWICE = 2 * A\n\ndef f(x=A):\n    return x\n")
    (tmp_path / "user.py").write_text("from source import A, B, TWICE, f\nALL = A, B, TWICE, f()\n")
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); "
        f"import runpy; names = runpy.run_path({sweep_module.patched_process.__file__!r}); "
        "sys.meta_path.insert(0, names['Patch']('source', 'A', '7')); "
        "import user; print(user.ALL)"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    for _ in range(2):  # a second time: no bytecode of the change was kept, and none is used
        assert subprocess.check_output(command, text=True) == "(7, 5, 14, 7)\n"
        plain = [sys.executable, "-c", "import user; print(user.ALL)"]
        assert subprocess.check_output(plain, text=True, cwd=tmp_path) == "(2, 5, 4, 2)\n"


def test_a_constant_that_is_not_there_is_an_error():
    with pytest.raises(RunError, match=r"tgm\.planning assigns no NO_SUCH_CONSTANT"):
        run(with_value("tgm.planning", "NO_SUCH_CONSTANT", "1"))


def test_an_unchanged_run_that_fails_is_an_error_and_a_changed_one_a_result(monkeypatch):
    failed = json.dumps([{**vars(measure("8", 0)), "error": "ValueError: no"}, 1.5]).encode()

    def answer(command, **options):
        return subprocess.CompletedProcess(command, 0, failed + b"\n", b"")

    monkeypatch.setattr(subprocess, "run", answer)
    with pytest.raises(RunError, match="without any change failed: ValueError: no"):
        run(UNCHANGED)
    result = run(with_value("tgm.a", "ONE", "0.5"))
    assert [measured.error for measured in result.runs] == ["ValueError: no"]
    assert result.seconds == (1.5,)


def test_runs_beyond_the_time_limit_are_left_out(monkeypatch):
    line = json.dumps([vars(measure("8", 0)), 1.5]).encode()

    def stop(command, **options):
        lines = line + b"\n" + line[:10]
        return subprocess.CompletedProcess(command, -signal.SIGXCPU, lines, b"")

    monkeypatch.setattr(subprocess, "run", stop)
    result = run(with_value("tgm.a", "ONE", "0.5"))
    assert (len(result.runs), result.seconds) == (1, (1.5,))


def test_trials_are_the_baseline_and_two_values_of_each_constant(monkeypatch):
    monkeypatch.setattr(sweep_module, "find_constants", lambda: [*CONSTANTS, IDLE])
    where = {"tgm.a": ("8", "27"), "tgm.b": ("27",), "tgm.c": ()}
    monkeypatch.setattr(sweep_module, "worlds_that_read", lambda one, worlds: where[one.module])
    trials = SensitivitySweep(seeds=2).trials()
    assert [(trial.module, trial.constant, trial.value) for trial in trials] == [
        ("", "", ""),
        ("tgm.a", "ONE", "0.5"),
        ("tgm.a", "ONE", "2.0"),
        ("tgm.b", "ONE", "1.0"),
        ("tgm.b", "ONE", "4.0"),
        ("tgm.b", "LEAST", "2"),  # half of it is itself
    ]
    assert {trial.seeds for trial in trials} == {2}
    assert [trial.worlds for trial in trials[1:]] == [("8", "27")] * 2 + [("27",)] * 3
    assert trials[0].name == "baseline"
    assert trials[1].name == "a.ONE halved to 0.5"


def test_names_choose_and_unknown_ones_are_refused_with_the_list():
    assert [constant.module for constant in chosen(CONSTANTS, ["ONE"])] == ["tgm.a", "tgm.b"]
    with pytest.raises(ConfigError, match="ONCE: there is no such constant; there are LEAST, ONE"):
        chosen(CONSTANTS, ["ONE", "ONCE"])
    with pytest.raises(ConfigError, match=r"tgm\.b\.MARK is not varied \(a mark"):
        chosen(CONSTANTS, ["MARK"])
    with pytest.raises(ConfigError, match="unknown world 'moon'; there are 8, 10"):
        SensitivitySweep(worlds=("moon",)).trials()
