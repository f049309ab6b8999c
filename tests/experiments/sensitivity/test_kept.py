"""Why constants stay on which no run of the study depends."""

import re
from pathlib import Path

import pytest

from tgm.experiments.sensitivity import kept
from tgm.experiments.sensitivity.constants import find_constants

PAGE = (Path(__file__).parents[3] / "docs" / "sensitivity.md").read_text()
LISTED = re.findall(
    r"^\| `([\w.]+)\.(\w+)` \| ([\w ]+) \| (.*) \|$", PAGE.split(kept.TITLE)[1], re.M
)


@pytest.fixture
def reasons_file(tmp_path, monkeypatch):
    path = tmp_path / "reasons.toml"
    path.write_text("".join(f"[{kind}]\n" for kind in kept.KINDS))
    monkeypatch.setattr(kept, "REASONS", path)
    return path


def test_every_constant_without_effect_has_a_reason_and_no_other():
    shown = {(f"tgm.{module}", name): (kind, why) for module, name, kind, why in LISTED}
    assert shown == kept.reasons()  # so none is without one, and no reason is left over
    assert len(shown) == len(LISTED) > 100


def test_every_constant_with_a_reason_is_in_the_code():
    found = {(constant.module, constant.name) for constant in find_constants()}
    assert kept.reasons().keys() <= found


def test_a_section_by_hand(reasons_file):
    text = reasons_file.read_text()
    text = text.replace("[bound]\n", '[bound]\n"m.B" = "time"\n"m.GONE" = "memory"\n')
    reasons_file.write_text(text.replace("[guard]\n", '[guard]\n"m.n.A" = "ln 0"\n'))
    found = kept.section([("tgm.m", "NEW"), ("tgm.m", "B"), ("tgm.m.n", "A")])
    assert [line for line in found.splitlines() if line.startswith("| `")] == [
        "| `m.n.A` | guard | ln 0 |",
        "| `m.B` | bound | time |",
        "| `m.NEW` | no reason is given | - |",
    ]
    assert kept.section([]) == ""


def test_an_unknown_kind_is_an_error(reasons_file):
    reasons_file.write_text(reasons_file.read_text() + '[taste]\n"m.A" = "nice"\n')
    with pytest.raises(ValueError, match="unknown kinds taste"):
        kept.reasons()
