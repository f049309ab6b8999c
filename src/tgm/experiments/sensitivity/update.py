"""A page of before, made to agree with the code, without trying every constant again."""

from __future__ import annotations

import re
from dataclasses import replace

from tgm.experiments.harness.tables import markdown
from tgm.experiments.sensitivity.analysis import (
    NOT_READ,
    cell,
    fixed_lines,
    is_without_effect,
    summary,
)
from tgm.experiments.sensitivity.constants import Constant, find_constants
from tgm.experiments.sensitivity.kept import Key, section

NOT_TRIED = "not tried yet: new since the page was written, or with another value"
REMARK = "Rows that were not tried again are of the code and the worlds of their time."
ORDER = ("matters", "matters little", "no effect seen")  # of verdicts, in the table
CELL_END = re.compile(r"(?<!\\)\|")
NAMED = re.compile(r"`([\w.]+)\.(\w+)`")

Row = dict[str, str]
"""By the name of its column."""


def updated(page: str, fresh: str = "") -> str:
    """The page with rows of another one, of fewer constants, and without those that are gone.

    Rows whose constant is as it was are taken over. They were measured by the code of their time,
    in the worlds of that time, as the head of the page then says.
    """
    head, separator, rest = page.partition("| constant |")
    head = _with_remark(fresh.partition("| constant |")[0] or head)
    not_varied = "\n## Not varied\n"
    table, _, fixed = (separator + rest).partition(not_varied)
    constants = {(one.module, one.name): one for one in find_constants()}
    rows = _rows_of(table) | _rows_of(fresh.partition(not_varied)[0])
    kept = {key: row for key, row in rows.items() if _is_as_it_was(constants.get(key), row)}
    for key, row in kept.items():
        row["what it is"] = cell(constants[key].note)
    ordered = sorted(kept.values(), key=lambda row: _place(row["verdict"]))
    unread = _unread_in(fresh or fixed)
    others = [_with_reason(one, unread) for key, one in constants.items() if key not in kept]
    counted = summary([row["verdict"] for row in ordered], len(others))
    head = re.sub(r"^Of \d+ constants.*$", counted, head, flags=re.MULTILINE)
    lines = markdown(ordered) if ordered else ""
    without = [key for key, row in kept.items() if is_without_effect(row["verdict"])]
    without += [(one.module, one.name) for one in others if one.why_fixed == NOT_READ]
    return f"{head}{lines}{not_varied.lstrip()}{fixed_lines(others)}\n{section(without)}"


def _with_remark(head: str) -> str:
    """The head of a page whose rows are of several times."""
    return head if REMARK in head else f"{head}{REMARK}\n\n"


def _rows_of(page: str) -> dict[Key, Row]:
    """The rows of a table, by the constant of each."""
    lines = [line for line in page.splitlines() if line.startswith("| ")]
    cells = [[part.strip() for part in CELL_END.split(line)[1:-1]] for line in lines]
    rows = [dict(zip(cells[0], line, strict=True)) for line in cells[2:]]
    return {(f"tgm.{row['module']}", row["constant"].strip("`")): row for row in rows}


def _is_as_it_was(constant: Constant | None, row: Row) -> bool:
    if constant is None or constant.why_fixed:
        return False
    return str(constant.value) == row["value"]


def _place(verdict: str) -> int:
    """Of a verdict in the order of the table: the longest beginning that fits."""
    return max(place for place, word in enumerate(ORDER) if verdict.startswith(word))


def _unread_in(fixed: str) -> set[Key]:
    """The constants that no world reads, as a page says."""
    lines = [line for line in fixed.splitlines() if line.startswith(f"- {NOT_READ}: ")]
    return {(f"tgm.{module}", name) for line in lines for module, name in NAMED.findall(line)}


def _with_reason(constant: Constant, unread: set[Key]) -> Constant:
    if constant.why_fixed:
        return constant
    is_unread = (constant.module, constant.name) in unread
    return replace(constant, why_fixed=NOT_READ if is_unread else NOT_TRIED)
