"""`tgm completion`: a script that lets a shell complete commands, flags, values and file names."""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union

import tyro

from tgm.cli.streams import write_out

# The shell's own words stand in double braces, ours in single ones. Where nothing of ours fits, the
# shell completes the names of files: runs, logs, mazes.
_BASH = """\
_tgm() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} words=""
    if ((COMP_CWORD == 1)); then
        words="{commands}"
    elif [[ $word == -* ]]; then
        case ${{COMP_WORDS[1]}} in
{flags}
        esac
    else
        case "${{COMP_WORDS[1]}} ${{COMP_WORDS[COMP_CWORD - 1]}}" in
{values}
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _tgm tgm
"""

_ZSH = """\
#compdef tgm
_tgm() {{
    local -a found
    if ((CURRENT == 2)); then
        found=({commands})
        _describe command found
        return
    elif [[ $words[CURRENT] == -* ]]; then
        case $words[2] in
{flags}
        esac
        _describe -o flag found
        return
    fi
    case "$words[2] $words[CURRENT-1]" in
{values}
    esac
    if (($#found)); then compadd -a found; else _files; fi
}}
if [[ $funcstack[1] == _tgm ]]; then _tgm "$@"; else compdef _tgm tgm; fi
"""


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


@dataclass(frozen=True)
class Flag:
    """A flag of a command.

    Attributes:
        names: all ways to write it, such as `--report` and `--no-report`.
        text: what it does.
        values: what may follow; empty if that is no choice.
    """

    names: tuple[str, ...]
    text: str
    values: tuple[str, ...]

    def text_of(self, name: str) -> str:
        """What it does, written as `name`."""
        is_negated = f"--{name.removeprefix('--no-')}" in self.names
        return f"off: {self.text}" if is_negated else self.text


def script(shell: str, commands: Mapping[str, tuple[str, str, str]]) -> str:
    """The script of a shell for all commands; `commands` is the table of `tgm.cli.main`."""
    texts = {name: text for name, (_, _, text) in commands.items()}
    flags = {name: flags_of(module, kind) for name, (module, kind, _) in commands.items()}
    values = {
        f"{name} {written}": one.values
        for name, all_of_them in flags.items()
        for one in all_of_them
        if one.values
        for written in one.names
    }
    values["completion completion"] = ("bash", "zsh")
    if shell == "bash":
        named = {
            name: [written for one in some for written in one.names] for name, some in flags.items()
        }
        cases = _cases({name: f'words="{" ".join(some)}"' for name, some in named.items()}, 12)
        chosen = _cases({name: f'words="{" ".join(some)}"' for name, some in values.items()}, 12)
        return _BASH.format(commands=" ".join(texts), flags=cases, values=chosen)
    described = {
        name: _zsh_list({written: one.text_of(written) for one in some for written in one.names})
        for name, some in flags.items()
    }
    cases = _cases({name: f"found=({some})" for name, some in described.items()}, 12)
    chosen = _cases({name: f"found=({' '.join(some)})" for name, some in values.items()}, 8)
    return _ZSH.format(commands=_zsh_list(texts), flags=cases, values=chosen)


def flags_of(module: str, kind: str) -> list[Flag]:
    """The flags of the command that is the class `kind` of `module`, as tyro reads them."""
    command: Any = getattr(importlib.import_module(module), kind)
    # With two commands tyro makes a table of each; the second is there for that alone.
    both: Any = Union[  # noqa: UP007 - an expression
        Annotated[command, tyro.conf.subcommand("asked", prefix_name=False)],
        Annotated[_Nothing, tyro.conf.subcommand("nothing", prefix_name=False)],
    ]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        tyro.cli(both, prog="tgm", args=["--tyro-print-completion", "bash"])
    (table,) = re.findall(r"^COMPLETION_SPEC = (.*)$", printed.getvalue(), re.M)
    options = ast.literal_eval(table)["subcommands"]["asked"]["options"]
    return [
        Flag(tuple(one["flags"]), _text(one["description"]), tuple(one.get("choices", ())))
        for one in options
    ]


@dataclass(frozen=True)
class _Nothing:
    """No command."""


def _text(description: str) -> str:
    """The first sentence of a description, without the kind of the value and its default."""
    words = " ".join(description.rpartition("• ")[2].split())
    return re.split(r"\. | \(default: ", words)[0].rstrip(".")


def _cases(commands: Mapping[str, str], indent: int) -> str:
    return "\n".join(f"{' ' * indent}'{name}') {text} ;;" for name, text in commands.items())


def _zsh_list(texts: Mapping[str, str]) -> str:
    return " ".join(_quoted(f"{name}:{text}") for name, text in texts.items())


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
