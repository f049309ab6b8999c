"""`tgm completion`: a script that lets a shell complete commands, flags and values."""

from __future__ import annotations

import contextlib
import importlib
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union

import tyro

from tgm.cli.streams import write_out


@dataclass(frozen=True)
class Completion:
    """Print a completion script for a shell."""

    shell: Annotated[Literal["bash", "zsh"], tyro.conf.Positional]
    """The shell that reads it."""

    def run(self) -> int:
        """Print the script and return the exit code."""
        from tgm.cli.main import COMMANDS

        write_out(script(self.shell, COMMANDS))
        return 0


def script(shell: str, commands: Mapping[str, tuple[str, str, str]]) -> str:
    """tyro's script for all commands together; `commands` is the table of `tgm.cli.main`."""
    kinds = [
        Annotated[
            getattr(importlib.import_module(module), kind),
            tyro.conf.subcommand(name, prefix_name=False, description=text),
        ]
        for name, (module, kind, text) in commands.items()
    ]
    any_of_them: Any = Union[tuple(kinds)]  # noqa: UP007 - of a list
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        tyro.cli(any_of_them, prog="tgm", args=["--tyro-print-completion", shell])
    # In the table of flags a line break within a description would become a word to complete.
    rows = printed.getvalue().splitlines()
    return "\n".join(row.replace("\\n", " ") if _is_table(row) else row for row in rows) + "\n"


def _is_table(row: str) -> bool:
    return row.startswith("COMPLETION_SPEC = ")
