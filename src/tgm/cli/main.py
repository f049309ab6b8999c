"""`tgm`: finds the command, reads its flags, and turns errors into one line and an exit code.

Exit codes: 0 done, 2 bad input, 1 a run that failed, 130 interrupted, 74 done but the result could
not be written to standard output (a full disk, or it is closed; a pipe without a reader
counts as done). Standard error never changes what is done nor the exit code: progress and messages
that cannot be written are left out.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib
import io
import re
import sys
from collections.abc import Sequence
from typing import Protocol

import tyro

from tgm import __version__
from tgm.cli.help_text import FIRST_STEPS, help_of, wide_enough, without_style
from tgm.cli.output import one_line, say, speak_plainly
from tgm.cli.streams import (
    OutputError,
    OutText,
    drop_what_is_left,
    flush_out,
    take_closed_streams,
    write_out,
)
from tgm.errors import ConfigError, FailedRunError, TGMError

# Command -> (module, class, one line of help). A module is imported when its command is called.
COMMANDS = {
    "mazes": ("tgm.cli.mazes", "Mazes", "list, draw, generate and check mazes"),
    "train": ("tgm.cli.train", "Train", "train an agent and keep what it learned"),
    "evaluate": ("tgm.cli.evaluate", "Evaluate", "greedy episodes with a trained agent"),
    "fit": ("tgm.cli.fit", "Fit", "states and transitions of logged trajectories"),
    "runs": ("tgm.cli.runs", "Runs", "what is under runs/, and in what state"),
    "note": ("tgm.cli.note", "Note", "tags and a note that stay in a run"),
    "structure": ("tgm.cli.structure", "Structure", "the learned map against the true maze"),
    "compare": ("tgm.cli.compare", "Compare", "agents side by side, with statistics"),
    "bsuite": ("tgm.cli.bsuite", "Bsuite", "the agent in the behaviour suite, with its scores"),
    "figures": ("tgm.cli.figures", "Figures", "the figures of the paper, and what holds of them"),
    "inspect": ("tgm.cli.inspect", "Inspect", "the web page that shows what was learned, and how"),
    "report": ("tgm.cli.report", "Report", "that page of a run as one file"),
    "completion": ("tgm.cli.completion", "Completion", "a script for the shell: bash or zsh"),
}

OUTPUT_LOST = 74  # EX_IOERR of sysexits.h


class Command(Protocol):
    """A frozen dataclass whose fields are the command's flags."""

    def run(self) -> int:
        """Do it and return the exit code."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `tgm` with the arguments `argv` (those of the process by default)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    take_closed_streams()
    speak_plainly(debug=debug)
    try:
        return _run_and_flush(arguments)
    except TGMError as error:
        if debug:
            raise
        say(f"tgm: {error}")
        return 1 if isinstance(error, FailedRunError) else 2
    except KeyboardInterrupt:
        if debug:
            raise
        say("tgm: interrupted")
        return 130
    except OutputError as error:
        if error.is_closed_pipe:
            return 0  # nothing reads the output any more
        if debug:
            raise
        say(f"tgm: {error}; the command itself is done")
        return OUTPUT_LOST
    except Exception as error:
        if debug:
            raise
        message = one_line(f"{type(error).__name__}: {error}")
        say(f"tgm: {message} (--debug shows where)")
        return 1
    finally:
        drop_what_is_left()


def _run_and_flush(arguments: list[str]) -> int:
    """Run a command; a standard output that is closed or full shows here, not at the end."""
    try:
        code = _run(arguments)
    except SystemExit as stop:  # tyro printed its help
        if stop.code not in (0, None):
            raise
        code = 0
    try:
        flush_out()
    except OutputError:
        if code == 0:
            raise  # otherwise the exit code of the command stands
    return code


def _run(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        write_out(f"{_overview()}\n")
        return 0
    if arguments[0] == "--version":
        write_out(f"tgm {__version__}\n")
        return 0
    return _parse(arguments[0], arguments[1:]).run()


def _overview() -> str:
    lines = ["usage: tgm COMMAND [OPTIONS]", ""]
    lines += [f"  {name:<10} {text}" for name, (_, _, text) in COMMANDS.items()]
    lines += ["", "examples:", *(f"  {example}" for example in FIRST_STEPS)]
    lines += ["", "tgm COMMAND --help shows the options of a command; --debug shows tracebacks."]
    return "\n".join(lines)


def _parse(name: str, arguments: list[str]) -> Command:
    """The command `name` with its flags read, or a ConfigError that says what is wrong."""
    if name not in COMMANDS:
        close = difflib.get_close_matches(name, COMMANDS, n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"there are {', '.join(COMMANDS)}"
        raise ConfigError(f"unknown command '{name}'; {hint}")
    module, class_name, _ = COMMANDS[name]
    command_class = getattr(importlib.import_module(module), class_name)
    start = {"default": command_class.defaults(arguments)} if name == "train" else {}
    complaint, help_text = io.StringIO(), OutText()
    try:
        with (
            wide_enough(),
            contextlib.redirect_stderr(complaint),
            contextlib.redirect_stdout(help_text),
        ):
            command: Command = tyro.cli(
                command_class,
                args=arguments,
                prog=f"tgm {name}",
                **start,
            )
        return command
    except SystemExit as stop:
        if stop.code in (0, None):
            write_out(help_of(name, help_text.getvalue()))
            raise
        raise ConfigError(_without_box(without_style(complaint.getvalue()))) from None


def _without_box(text: str) -> str:
    """tyro's boxed complaint as one line: what is wrong, then where to read on."""
    rows = [re.sub(r"[│╭╮╰╯─]", "", row).strip() for row in text.splitlines()[1:]]
    parts = " ".join(row or "\n" for row in rows).split("\n")
    what, *rest = [" ".join(part.split()) for part in parts if part.strip()]
    what = what.removeprefix("Error parsing config: ")  # the message names the setting
    hints = [part for part in rest if part.startswith(("Perhaps you meant", "For full helptext"))]
    return "; ".join([what, *hints])


if __name__ == "__main__":
    sys.exit(main())
