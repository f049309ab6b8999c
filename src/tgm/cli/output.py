"""Results for people, or as one JSON object for programs."""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.console import Console
from rich.text import Text


def print_json(facts: dict[str, Any]) -> None:
    """One JSON object on standard output."""
    sys.stdout.write(json.dumps(facts, allow_nan=False) + "\n")


def print_lines(*lines: str | Text) -> None:
    """Lines of text, coloured on a terminal; nothing is wrapped or taken for markup."""
    console = Console(highlight=False, soft_wrap=True)
    # Captured, so that a closed pipe is seen by `main` and not by rich, which would exit with 1.
    with console.capture() as captured:
        for line in lines:
            console.print(line if isinstance(line, Text) else Text(line))
    text = captured.get()
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, errors="replace").decode(encoding))
