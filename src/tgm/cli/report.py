"""`tgm report`: the inspector's page of a run as one file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from tgm.agent.model_file import write_atomically
from tgm.cli.output import print_json, print_lines
from tgm.errors import ConfigError
from tgm.inspector.assets import need_extra
from tgm.runs import Run


@dataclass(frozen=True)
class Report:
    """Write one HTML file that shows a run, to open from disk or to send to a colleague."""

    runs: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """The run's directory; more of them are compared with it."""

    out: Annotated[Path, tyro.conf.arg(aliases=("-o",), metavar="FILE")] = Path("report.html")
    """The file to write; one that exists is replaced."""

    json: bool = False
    """Print one JSON object instead."""

    def run(self) -> int:
        """Write the file, tell, and return the exit code."""
        if not self.runs:
            raise ConfigError("name the directory of a RUN")
        need_extra()
        from tgm.inspector.report import report_page

        page = report_page([Run.open(folder) for folder in self.runs])
        write_atomically(self.out, page.encode("utf-8"))
        size = self.out.stat().st_size
        if self.json:
            print_json({"file": str(self.out), "bytes": size})
        else:
            print_lines(f"{self.out} ({size / 1e6:.1f} MB) opens in any browser")
        return 0
