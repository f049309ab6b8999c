"""Which constants a world reads, by runs of the agent."""

import pytest

from tgm.experiments.sensitivity import reading
from tgm.experiments.sensitivity.constants import find_constants
from tgm.experiments.sensitivity.reading import worlds_that_read
from tgm.experiments.sensitivity.sweep import ConstantTrial, run
from tgm.experiments.sensitivity.worlds import FLOWING


def constants_of(package):
    return [one for one in find_constants() if one.module.startswith(f"tgm.{package}")]


@pytest.mark.parametrize("package", ["planning", "learners", "inference", "structure"])
def test_a_maze_reads_some_constants_of_every_part(package):
    assert any(worlds_that_read(constant, ["8"]) for constant in constants_of(package))


@pytest.mark.parametrize(
    "module", ["perception.variational", "perception.symbol_book", "planning.flow_planner"]
)
def test_a_maze_reads_none_of_what_only_other_worlds_use(module):
    assert constants_of(module)
    assert not any(worlds_that_read(constant, ["8"]) for constant in constants_of(module))


def test_a_change_of_what_a_world_does_not_read_changes_nothing_there():
    unchanged = run(ConstantTrial("", "", "baseline", "", 1, ("8",))).runs
    unread = [
        constant
        for constant in constants_of("structure")
        if not constant.why_fixed and not worlds_that_read(constant, ["8"])
    ]
    value = repr(unread[0].changed()["doubled"])
    trial = ConstantTrial(unread[0].module, unread[0].name, "doubled", value, 1, ("8",))
    assert run(trial).runs == unchanged


def test_what_is_read_at_import_is_read_everywhere(monkeypatch):
    monkeypatch.setattr(reading, "_read_in", lambda world: frozenset())
    worlds = ["8", *FLOWING]
    read = [constant for constant in find_constants() if worlds_that_read(constant, worlds)]
    assert read
    assert all(worlds_that_read(constant, worlds) == ("8",) for constant in read)


def test_flowing_worlds_count_only_for_what_no_other_world_reads(monkeypatch):
    shared, own = constants_of("structure")[0], constants_of("planning.flow_planner")[0]
    both = frozenset((one.module, one.name) for one in (shared, own))
    read = {"8": both - {(own.module, own.name)}, **dict.fromkeys(FLOWING, both)}
    monkeypatch.setattr(reading, "_read_in", read.__getitem__)
    monkeypatch.setattr(reading, "_read_at_import", frozenset)
    assert worlds_that_read(shared, [*FLOWING, "8"]) == ("8",)
    assert worlds_that_read(own, [*FLOWING, "8"]) == tuple(FLOWING)
