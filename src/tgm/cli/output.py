"""Results for people, or as one JSON object for programs."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Console
from rich.text import Text

from tgm.cli.streams import OutText, write_out


def print_json(facts: dict[str, Any]) -> None:
    """One JSON object on standard output."""
    write_out(json.dumps(facts, allow_nan=False) + "\n")


def print_lines(*lines: str | Text) -> None:
    """Lines of text, coloured on a terminal; nothing is wrapped or taken for markup."""
    out = OutText()
    console = Console(file=out, highlight=False, soft_wrap=True)
    for line in lines:
        console.print(line if isinstance(line, Text) else Text(line))
    write_out(out.getvalue().encode(out.encoding, errors="replace").decode(out.encoding))
