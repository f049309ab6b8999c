"""Which constants a world reads, by runs of the agent."""

import pytest

from tgm.experiments.sensitivity import constants as constants_module
from tgm.experiments.sensitivity import reading
from tgm.experiments.sensitivity.constants import find_constants
from tgm.experiments.sensitivity.reading import worlds_that_read
from tgm.experiments.sensitivity.sweep import ConstantTrial, run
from tgm.experiments.sensitivity.worlds import SLOW


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


def test_a_default_value_is_read_everywhere_and_an_assignment_where_its_name_is(monkeypatch):
    shared, derived = ("tgm.transition.chance", "MISREAD_PRIOR"), "MOVES_BY_MISTAKE"
    read = {"8": frozenset(), "27": frozenset([("tgm.transition.reward_noise", derived)])}
    monkeypatch.setattr(reading, "_read_in", read.__getitem__)
    prior = next(one for one in find_constants() if (one.module, one.name) == shared)
    assert worlds_that_read(prior, ["8", "27"]) == ("27",)
    monkeypatch.setattr(reading, "_read_at_import", lambda: frozenset([shared]))
    assert worlds_that_read(prior, ["8", "27"]) == ("8", "27")


def test_defaults_are_read_at_import_and_plain_assignments_are_not():
    at_import = reading._read_at_import()
    assert ("tgm.structure.folding", "MOST_WORK") in at_import
    assert ("tgm.transition.clone_evidence", "MISREAD") not in at_import


@pytest.mark.parametrize(
    ("number", "is_read"),
    [
        (3, False),  # returns before the line with the constant
        (0.3, False),  # `1.0 < value < LARGEST_GROWTH` ends at its first comparison
        (3.0, True),
    ],
)
def test_an_instruction_that_is_not_executed_reads_nothing(monkeypatch, number, is_read):
    monkeypatch.setattr(reading, "measure", lambda *_: constants_module._scaled(number, 1.0))
    found = {name for _, name in reading._read_in.__wrapped__("8")}
    assert ("LARGEST_GROWTH" in found) == is_read


@pytest.mark.parametrize("slow", SLOW)
def test_slow_worlds_count_only_for_what_no_other_world_of_their_kind_reads(monkeypatch, slow):
    shared, own = constants_of("structure")[0], constants_of("planning.flow_planner")[0]
    both = frozenset((one.module, one.name) for one in (shared, own))
    others = [world for world in SLOW[slow] if world != slow]
    read = {slow: both, **dict.fromkeys(others, both - {(own.module, own.name)})}
    monkeypatch.setattr(reading, "_read_in", read.__getitem__)
    monkeypatch.setattr(reading, "_read_at_import", frozenset)
    assert worlds_that_read(shared, [slow, *others]) == tuple(others)
    assert worlds_that_read(own, [slow, *others]) == (slow,)
