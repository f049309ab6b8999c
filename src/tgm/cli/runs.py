"""`tgm runs`: what is under runs/, and in what state."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import tyro

from tgm.agent.diagnosis import finding_of
from tgm.cli.flags import Switch
from tgm.cli.output import folded, print_json, print_lines
from tgm.errors import RunError
from tgm.inspector.catalogue import begun
from tgm.inspector.entries import BROKEN
from tgm.inspector.payload import remarks
from tgm.runs import Run
from tgm.runs.folder import RUN_FILE
from tgm.runs.summary import RunSummary, summaries, summary_of

MOST_JUDGED = 50  # runs whose history is looked at: about five seconds
HEADS = ("run", "state", "agent", "world", "steps", "states", "solved", "return", "remark")


@dataclass(frozen=True)
class Runs:
    """List the runs under a directory with their state and outcome."""

    root: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")] = Path("runs")
    """Where the runs are, or one run."""

    json: Switch = False
    """Print one JSON object instead."""

    def run(self) -> int:
        """List, and return the exit code."""
        if not self.root.is_dir():
            raise RunError(f"{self.root}: there is no such directory; `tgm train` makes a run")
        found = self._found()
        if self.json:
            print_json({"root": str(self.root), "runs": [summary.to_dict() for summary in found]})
        elif not found:
            print_lines(f"no runs under {self.root}; `tgm train` makes one")
        else:
            print_lines(*folded([HEADS, *(_cells(summary) for summary in found)]))
        return 0

    def _found(self) -> list[RunSummary]:
        """The runs under the directory, or the one that it is itself."""
        if (self.root / RUN_FILE).exists():
            run = self.root.resolve()
            return _with_health(run.parent, [summary_of(run)])
        return _with_health(self.root, summaries(self.root))


def _with_health(root: Path, found: list[RunSummary]) -> list[RunSummary]:
    """With what the Health tab finds; of more than MOST_JUDGED runs the older ones with advice."""
    newest = sorted(found, key=lambda summary: begun(root / summary.name))[-MOST_JUDGED:]
    judged = {summary.name for summary in newest}
    return [replace(one, health=_health(root, one, one.name in judged)) for one in found]


def _health(root: Path, summary: RunSummary, is_judged: bool) -> tuple[str, ...]:
    try:
        if is_judged and summary.state != "broken":
            return remarks(Run.open(root / summary.name))
    except BROKEN:
        pass  # what the agent said is left
    return tuple(finding_of(advice) for advice in summary.advice)


def _cells(summary: RunSummary) -> tuple[str, ...]:
    def text(value: Any) -> str:
        return "-" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)

    solved = None if summary.solved is None else "yes" if summary.solved else "no"
    numbers = (f"{text(summary.steps)}/{text(summary.planned)}", summary.states)
    remarks = [summary.reason] if summary.reason else []
    remarks += [title[:1].lower() + title[1:] for title in summary.health]
    return (
        summary.name,
        summary.state,
        summary.agent,
        summary.world,
        *(text(value) for value in (*numbers, solved, summary.mean_return)),
        "; ".join(remarks),
    )
