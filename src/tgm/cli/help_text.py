"""The help of a command: tyro's, in plain words, with examples."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import textwrap
from collections.abc import Iterator

EXAMPLES = {
    "mazes": (
        "tgm mazes                        # the mazes that come with tgm",
        "tgm mazes 27                     # draw one",
        "tgm mazes --generate perfect 20 20 --seed 3 > mine.txt",
        "tgm mazes --check mine.txt",
    ),
    "train": (
        "tgm train --maze 27 --seed 0",
        "tgm train --env CliffWalking-v1 --steps 1000",
        "tgm train --env FrozenLake-v1 --env-args map_name=8x8 --steps 20000",
        "tgm train --resume runs/latest   # go on with a run that was stopped",
    ),
    "evaluate": (
        "tgm evaluate runs/latest",
        "tgm evaluate runs/latest --episodes 100 --json",
    ),
    "fit": (
        "tgm fit log.csv --obs x y --episode id",
        "tgm fit log.parquet --obs x y --action a --episode id --reward r",
        "tgm fit points.parquet --obs x y --points   # clusters, in files of any size",
        "tgm fit points.parquet --points --dask tcp://HOST:8786",
    ),
    "runs": (
        "tgm runs",
        "tgm runs comparison/runs --json",
    ),
    "note": (
        "tgm note runs/latest             # what is noted",
        'tgm note runs/latest --add paper --text "the run of figure 3"',
    ),
    "structure": ("tgm structure runs/latest",),
    "compare": (
        "tgm compare --mazes 25 27 --agents tgm random --seeds 2 --steps 500",
        "tgm compare --agents tgm dqn a2c --seeds 5 --out comparison",
        "tgm compare --envs CartPole-v1 --agents tgm dqn --seeds 2 --steps 3000",
        "tgm compare --envs FrozenLake-v1 --env-args map_name=8x8 --agents tgm rmax",
    ),
    "bsuite": (
        "tgm bsuite --experiments deep_sea/0 catch/0 --episodes 200   # a first look",
        "tgm bsuite --experiments memory --jobs 2 --out bsuite        # a capability",
    ),
    "figures": (
        "tgm figures --quick",
        "tgm figures --only 1 12 --out figures",
    ),
    "inspect": (
        "tgm inspect                      # all runs under runs/",
        "tgm inspect runs/latest --no-browser",
    ),
    "report": ("tgm report runs/latest -o report.html",),
    "completion": (
        'eval "$(tgm completion bash)"    # in ~/.bashrc',
        "tgm completion zsh > ~/.zsh/completions/_tgm   # in a folder of $fpath",
    ),
}

FIRST_STEPS = (
    "tgm train --maze 27              # train an agent; draw what it learned",
    "tgm inspect runs/latest          # the same in the browser, step by step",
    "tgm fit log.csv --obs x y        # states of a table of observations",
)

WIDEST = 80  # columns of text that is not in a box
NARROWEST = 40  # in fewer columns tyro draws its boxes for ever

# In tyro's words, however a terminal colours them.
_TRUTH_VALUE = re.compile(r"(\(default:(?:\s|│|\x1b\[[\d;]*m)*)(True|False)\)")
_OR_NONE = re.compile(r"\{None\}\|(\w+)")
_OR_WORD = re.compile(r"(\w+)\|\{(\w+)\}")
_STYLE = re.compile(r"\x1b\[[\d;]*m")
_GROUPS = {"maze-flags options": "maze options", "config options": "agent options"}


@contextlib.contextmanager
def wide_enough() -> Iterator[None]:
    """Within this context a very narrow terminal counts as one of 40 columns."""
    before = os.environ.get("COLUMNS")
    if shutil.get_terminal_size().columns >= NARROWEST:
        yield
        return
    os.environ["COLUMNS"] = str(NARROWEST)
    try:
        yield
    finally:
        os.environ.pop("COLUMNS")
        if before is not None:
            os.environ["COLUMNS"] = before


def without_style(text: str) -> str:
    """Text for a terminal without its colours."""
    return _STYLE.sub("", text)


def help_of(name: str, text: str) -> str:
    """tyro's help of a command in our words, with examples; boxes keep their width."""
    if os.environ.get("NO_COLOR"):  # tyro does not ask
        text = without_style(text)
    words = {"True": "on)  ", "False": "off)  "}
    text = _TRUTH_VALUE.sub(lambda match: match[1] + words[match[2]], text)
    text = _OR_NONE.sub(r"\1|None  ", text)
    text = _OR_WORD.sub(r"\1|\2  ", text)
    for long, short in _GROUPS.items():
        line = "─" if f"{long} ─" in text else " "  # what goes on after the title of a box
        text = text.replace(f"{long} ", f"{short} {line * (len(long) - len(short))}")
    lines = [line for row in text.rstrip("\n").splitlines() for line in _wrapped(row)]
    examples = [f"  {example}" for example in EXAMPLES.get(name, ())]
    return "\n".join([*lines, "", "examples:", *examples, ""])


def _wrapped(row: str) -> list[str]:
    """A row of plain text in lines that fit; a row of a box or with colours as it is."""
    width = max(NARROWEST, min(WIDEST, shutil.get_terminal_size().columns))
    if len(row) <= width or row.startswith(("│", "╭", "╰")) or "\x1b" in row:
        return [row]
    return textwrap.wrap(row, width, subsequent_indent="  " * row.startswith("usage"))
