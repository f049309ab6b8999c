"""Flags of `python -m tgm.experiments.results`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from tgm.experiments.baselines import PAPER_AGENTS, check_extras
from tgm.experiments.harness.study import optional
from tgm.experiments.results.campaign import (
    STEPS,
    campaign_trials,
    page_of,
    run_campaign,
    take_tables,
)
from tgm.files import write_atomically


@dataclass(frozen=True)
class Results:
    """Write docs/results.md from the tables in docs/data; with --run, run the campaign first."""

    run: Annotated[Path | None, optional("FOLDER")] = None
    """Run all trials that are not finished in this folder, and renew the tables."""

    jobs: int = 2
    """Processes on this machine."""

    dask: Annotated[str | None, optional("ADDRESS")] = None
    """Address of a Dask scheduler whose workers are used instead."""

    steps: int = STEPS
    """Training steps of each trial."""

    compared: Annotated[Path | None, optional("FOLDER")] = None
    """Folder of `tgm compare --envs`, whose tables become those of the part on Gymnasium."""

    suite: Annotated[Path | None, optional("FOLDER")] = None
    """Folder of `tgm bsuite`, whose results are added to those of the part on bsuite."""

    data: Path = Path("docs/data")
    """Folder of the tables."""

    page: Path = Path("docs/results.md")
    """The page to write."""


def main(argv: Sequence[str] | None = None) -> None:
    """Write the page; with --run, run the campaign first."""
    flags = tyro.cli(Results, args=argv, prog="python -m tgm.experiments.results")
    if flags.run is not None:
        check_extras(PAPER_AGENTS)
        trials = campaign_trials(flags.steps)
        run_campaign(flags.run, flags.data, trials, flags.jobs, flags.dask)
    take_tables(flags.data, flags.compared, flags.suite)
    write_atomically(flags.page, page_of(flags.data).encode())
