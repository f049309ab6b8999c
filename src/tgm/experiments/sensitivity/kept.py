"""Why constants stay though no run of the study depends on them: read from a file beside this one.

`without_effect.toml` has one table for each kind of reason, with module and constant as keys.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path

from tgm.experiments.harness.tables import markdown

REASONS = Path(__file__).with_name("without_effect.toml")
KINDS = {
    "guard": "a guard: it keeps the arithmetic finite, or rounding out of it",
    "bound": "a bound of memory or time",
    "tolerance": "a tolerance: an iteration ends, or nothing is planned again",
    "shown": "decides what is shown or recorded, not what is learned or done",
    "elsewhere": "decides in worlds, or with settings, that this study does not have",
}
"""What the tables of the file are called, and what that means."""
NO_REASON = "no reason is given"
TITLE = "## Why constants without effect stay\n"

Key = tuple[str, str]
"""Module and name of a constant."""


def reasons() -> dict[Key, tuple[str, str]]:
    """Kind and reason by module and name."""
    tables = tomllib.loads(REASONS.read_text(encoding="utf-8"))
    found = {}
    for kind in KINDS:
        for name, reason in tables.pop(kind).items():
            module, _, constant = f"tgm.{name}".rpartition(".")
            found[module, constant] = (kind, str(reason))
    if tables:
        raise ValueError(f"{REASONS.name}: unknown kinds {', '.join(tables)}")
    return found


def section(without_effect: Iterable[Key]) -> str:
    """The last part of the page: kind and reason of each constant that changed no run."""
    given, order = reasons(), [*KINDS, NO_REASON]
    rows = sorted(
        (order.index(kind), module.removeprefix("tgm."), name, reason)
        for module, name in without_effect
        for kind, reason in [given.get((module, name), (NO_REASON, "-"))]
    )
    table = [
        {"constant": f"`{module}.{name}`", "kind": order[place], "why": reason}
        for place, module, name, reason in rows
    ]
    kinds = "".join(f"- **{kind}**: {meaning}\n" for kind, meaning in KINDS.items())
    return f"{TITLE}{kinds}\n{markdown(table)}" if table else ""
