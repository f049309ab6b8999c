"""Runs the study and writes its page."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from tgm.agent.progress import write_line
from tgm.errors import TGMError
from tgm.experiments.finite_worlds import STUDY
from tgm.experiments.finite_worlds.analysis import page, report
from tgm.experiments.harness.plain import to_plain
from tgm.experiments.harness.study import parse, run_study
from tgm.files import write_atomically


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, and write the page if all worlds were run or it is to be changed."""
    sweep = parse(STUDY, arguments)
    try:
        results = run_study(STUDY, sweep)
    except TGMError as error:
        write_line(f"{STUDY.name}: {error}")
        sys.exit(2)
    if sweep.json:
        for trial, result in results:
            print(json.dumps({"trial": to_plain(trial), "result": to_plain(result)}))
        return
    print(report(results), end="")
    if sweep.update or not sweep.worlds:
        before = sweep.page.read_text() if sweep.update and sweep.page.exists() else ""
        write_atomically(sweep.page, page(results, before).encode())
        write_line(f"wrote {sweep.page}")
