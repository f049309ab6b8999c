"""Results for people, or as one JSON object for programs.

Printed text may come from files of others: names of runs, mazes and agents, reasons, quoted content
in errors. It reaches the terminal as text, never as a control sequence: everything that is printed
goes through `print_lines`, `print_table`, `print_json` or `one_line`.
"""

from __future__ import annotations

import json
import sys
import traceback
import warnings
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from tgm.agent.progress import write_line
from tgm.cli.streams import OutText, write_out

LONGEST_LINE = 2000  # characters of an error or a warning
LONGEST_CELL = 200  # of a cell of a table
# Letters and marks without width: two names that differ only in them would look the same.
_UNSEEN = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0}
_UNSEEN |= {*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}


def plain(text: str) -> str:
    """`text` with everything that a terminal does not show as a sign of its own written out.

    Escapes and other controls, line breaks, marks of direction and signs without width become
    `\\\\x1b`, `\\\\n`, `\\\\u202e` and so on; letters of all languages stay.
    """
    if text.isprintable() and text.isascii():
        return text
    return "".join(
        sign
        if sign.isprintable() and ord(sign) not in _UNSEEN
        else sign.encode("unicode_escape").decode("ascii")
        for sign in text
    )


def one_line(text: str) -> str:
    """A message in one line of plain text, however long it is and whatever it quotes."""
    return _cut(plain(" ".join(text[: 4 * LONGEST_LINE].split())), LONGEST_LINE)


def say(line: str) -> None:
    """Write a message to standard error, as one line of plain text, if possible."""
    write_line(one_line(line))


def print_json(facts: dict[str, Any]) -> None:
    """One JSON object on standard output, in ASCII without controls."""
    text = json.dumps(facts, allow_nan=False).replace("\x7f", "\\u007f")
    write_out(text + "\n")


def print_lines(*lines: str | Text) -> None:
    """Lines of text; nothing is wrapped or taken for markup.

    A `Text` is a drawing of ours, coloured on a terminal, with its own line breaks.
    """
    _write(*(line if isinstance(line, Text) else Text(plain(line)) for line in lines))


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table with its cells to the right: drawn on a terminal, columns of text elsewhere."""
    if not Console(file=OutText()).is_terminal:
        print_lines(*columns([heads, *rows], to_the_right=True))
        return
    table = Table()
    for head in heads:
        table.add_column(Text(_cell(head)), justify="right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(_cell(cell)) for cell in row))  # not markup: "[never, 7]" is no tag
    _write(table)


def columns(rows: Sequence[Sequence[str]], *, to_the_right: bool = False) -> list[str]:
    """Rows of cells as lines of plain text, each column as wide as its widest cell."""
    cells = [[_cell(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    put = str.rjust if to_the_right else str.ljust
    return [
        "  ".join(put(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]


def folded(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines that fit the terminal; where there is none, one line each, for programs.

    If a row would be wider, its first cell gets a line of its own, and so does the last, which may
    be long. The first row is the heads.
    """
    console = Console(file=OutText())
    lines = columns(rows)
    if not console.is_terminal or max(map(len, lines)) <= console.width:
        return lines
    middle = columns([row[1:-1] for row in rows])
    return [
        line
        for row, part in zip(rows, middle, strict=True)
        for line in (_cell(row[0]), f"  {part}", f"  {_cell(row[-1])}")
        if line.strip()
    ]


def format_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    line: str | None = None,
) -> str:
    """A warning as one line; takes the place of `warnings.formatwarning`."""
    words = Text.from_ansi(str(message)).plain.removeprefix("WARN: ")  # as Gymnasium begins
    return f"tgm: warning: {one_line(words)}\n"


def show_traceback(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """A traceback as plain lines; takes the place of `sys.excepthook`."""
    for line in "".join(traceback.format_exception(kind, error, trace)).split("\n"):
        write_line(plain(line))


def speak_plainly(*, debug: bool) -> None:
    """From now on, warnings, and with `debug` tracebacks, are plain text too."""
    warnings.formatwarning = format_warning
    if debug:
        sys.excepthook = show_traceback


def _write(*parts: RenderableType) -> None:
    out = OutText()
    console = Console(file=out, highlight=False)
    for part in parts:
        console.print(part, soft_wrap=isinstance(part, Text))
    write_out(out.getvalue().encode(out.encoding, errors="replace").decode(out.encoding))


def _cell(text: str) -> str:
    return _cut(plain(text), LONGEST_CELL)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
