"""Runs the study and writes its page."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tgm.agent.progress import write_line
from tgm.errors import TGMError
from tgm.experiments.harness.study import Study, parse, run_study
from tgm.experiments.sensitivity.analysis import report
from tgm.experiments.sensitivity.sweep import (
    ConstantResult,
    ConstantTrial,
    SensitivitySweep,
    run,
)
from tgm.experiments.sensitivity.update import updated
from tgm.files import write_atomically

STUDY = Study("sensitivity", SensitivitySweep, run, ConstantTrial, ConstantResult, report)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page; with --only, print it; with --update, change the one that is there."""
    sweep = parse(STUDY, arguments)
    if sweep.update and not sweep.only:
        write_atomically(sweep.page, updated(sweep.page.read_text(encoding="utf-8")).encode())
        return
    try:
        results = run_study(STUDY, sweep)
    except TGMError as error:
        write_line(f"sensitivity: {error}")
        sys.exit(2)
    page = report(results)
    if sweep.update:
        page = updated(sweep.page.read_text(encoding="utf-8"), page)
    if sweep.only and not sweep.update:
        print(page, end="")
    else:
        write_atomically(sweep.page, page.encode())
