"""The constants of the core: all are found in its source, and what is made of their values."""

import re
import textwrap
from pathlib import Path

import pytest

import tgm
from tgm.experiments.sensitivity.constants import CORE, Constant, constants_of, find_constants

ROOT = Path(tgm.__file__).parent
PLAIN = re.compile(r"^(_?[A-Z][A-Z0-9_]*) = (-?[0-9][0-9_.e+-]*)(?:\s|$)", re.MULTILINE)


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Makes a module of a text; returns its constants by name."""

    def make(text):
        name = f"constants_{tmp_path.name}".replace("-", "_")
        path = tmp_path / f"{name}.py"
        path.write_text(textwrap.dedent(text))
        monkeypatch.syspath_prepend(tmp_path)
        return {constant.name: constant for constant in constants_of(name)}

    return make


@pytest.mark.parametrize("package", CORE)
def test_every_assignment_of_a_plain_number_is_found(package):
    """A second look at the source, by a regular expression, line by line."""
    found = {(constant.module, constant.name): constant.value for constant in find_constants()}
    seen = 0
    for path in (ROOT / package).rglob("*.py"):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        module = ".".join(part for part in parts if part != "__init__")
        for name, text in PLAIN.findall(path.read_text()):
            assert found[module, name] == float(text.replace("_", ""))
            seen += 1
    # These have constants, whatever they are called today.
    assert seen > 0 or package not in ("planning", "learners", "inference")


def test_what_counts_as_a_constant(module):
    found = module(
        """
        import math
        from dataclasses import dataclass

        A = 3  # steps
        B: float = 0.5
        "of a row"
        # nats, and
        # no more
        C, D = 1.5, (2.0, 4)
        E = F = 1.0 / 3.0
        G = math.log(2.0)
        NAME, FLAG, LIST = "x", True, [1.0]
        lower = 2.0

        @dataclass
        class Settings:
            INNER: int = 4

        def function():
            LOCAL = 1
            return LOCAL
        """
    )
    assert {name: constant.value for name, constant in found.items()} == {
        "A": 3,
        "B": 0.5,
        "C": 1.5,
        "D": (2.0, 4),
        "E": 1.0 / 3.0,
        "F": 1.0 / 3.0,
        "G": pytest.approx(0.6931471805599453),
    }
    notes = [found[name].note for name in "ABCE"]
    assert notes == ["steps", "of a row", "nats, and no more", ""]
    assert {constant.why_fixed for constant in found.values()} == {""}


def test_what_is_not_varied_and_why(module):
    text = """
        import math

        A = 3
        B = 0.5
        MARK = -1
        ZERO = 0.0
        TWICE = 2 * A
        PI = math.pi

        def function():
            return A
        """
    assert {name: constant.why_fixed for name, constant in module(text).items()} == {
        "A": "",
        "B": "",
        "MARK": "a mark, not a quantity",
        "ZERO": "zero",
        "TWICE": "follows from other constants",
        "PI": "follows from other constants",
    }


@pytest.mark.parametrize(
    ("value", "halved", "doubled"),
    [
        (10, 5, 20),
        (3, 2, 6),
        (1, None, 2),
        (0.2, 0.1, 0.4),
        (-700.0, -350.0, -1400.0),
        (0.5, 0.25, 1.0),
        (0.9, 0.45, 0.95),
        (1.1, 1.05, 1.2),
        (1.5, 0.75, 3.0),
        ((1, 2, 0.8), (1, 1, 0.4), (2, 4, 0.9)),
    ],
)
def test_halved_and_doubled(value, halved, doubled):
    changed = Constant("module", "NAME", value, "", "").changed()
    assert changed.get("halved") == halved
    assert changed.get("doubled") == doubled
    assert type(changed["doubled"]) is type(value)


def test_a_name_stands_for_one_constant():
    modules: dict[str, set[str]] = {}
    for constant in find_constants():
        modules.setdefault(constant.name, set()).add(constant.module)
    shared = {name: sorted(found) for name, found in modules.items() if len(found) > 1}
    assert not shared


def test_a_note_can_be_read_alone():
    """On the page it stands without the notes of its neighbours."""
    fragment = re.compile(r"|(the same|and|but|nats|steps)\b.{0,4}|(the same|and|but) .*|.*[,:;]")
    varied = [constant for constant in find_constants() if not constant.why_fixed]
    found = {one.name: one.note for one in varied if fragment.fullmatch(one.note)}
    assert not found
