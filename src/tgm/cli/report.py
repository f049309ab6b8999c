"""`tgm report`: the inspector's page of a run as one file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from tgm.cli.flags import Switch
from tgm.cli.output import print_json, print_lines, say
from tgm.cli.waiting import busy
from tgm.errors import ConfigError, TGMError
from tgm.files import write_atomically
from tgm.inspector.assets import has_extra, need_extra
from tgm.runs import Run
from tgm.runs.folder import RUN_FILE

REPORT_FILE = "report.html"


@dataclass(frozen=True)
class Report:
    """Write one HTML file that shows a run, to open from disk or to send to a colleague."""

    runs: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """The run's directory; more of them are compared with it."""

    out: Annotated[Path, tyro.conf.arg(aliases=("-o",), metavar="FILE")] = Path(REPORT_FILE)
    """The file to write; one that exists is replaced."""

    json: Switch = False
    """Print one JSON object instead."""

    def run(self) -> int:
        """Write the file, print its name, and return the exit code."""
        if not self.runs:
            raise ConfigError("name the directory of a RUN")
        need_extra()
        _check_target(self.out)
        # Whoever names a link, such as runs/latest, means the run; within a run there are none.
        write_report([Run.open(folder.resolve()) for folder in self.runs], self.out)
        size = self.out.stat().st_size
        if self.json:
            print_json({"file": str(self.out), "bytes": size})
        else:
            print_lines(f"{self.out} ({size / 1e6:.1f} MB) opens in any browser")
        return 0


def _check_target(path: Path) -> None:
    """Refuse to replace a file of a run, or anything that is no file."""
    if path.exists() and not path.is_file():
        raise ConfigError(f"{path}: is not a regular file; name another one with -o")
    folder = path.resolve().parent
    is_within = any((parent / RUN_FILE).exists() for parent in (folder, *folder.parents[:1]))
    if is_within and path.exists() and path.name != REPORT_FILE:
        raise ConfigError(f"{path}: is a file of a run; name another one with -o")


def write_report(runs: Sequence[Run], path: Path) -> None:
    """The page of the first run, compared with the others, as one file."""
    from tgm.inspector.report import report_page

    with busy("report"):
        write_atomically(path, report_page(runs).encode("utf-8"))


def report_within(run: Run) -> Path | None:
    """A report in a run's own directory; None if the inspector is not installed.

    The run is done: a report that fails, whatever the reason, costs one line and not the run.
    """
    if not has_extra():
        return None
    path = run.folder / REPORT_FILE
    try:
        write_report([run], path)
    except Exception as error:
        reason = str(error) if isinstance(error, TGMError) else f"{type(error).__name__}: {error}"
        say(f"tgm: no report: {' '.join(reason.split())}; tgm report {run.folder} tries again")
        return None
    return path
