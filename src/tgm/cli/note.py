"""`tgm note`: tags and a note that stay in a run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import tyro

from tgm.cli.flags import Switch, optional
from tgm.cli.output import print_json, print_lines
from tgm.runs import Run
from tgm.runs.notes import read_notes, write_notes


@dataclass(frozen=True)
class Note:
    """Show or change the tags and the note of a run; the inspector filters and groups by tags."""

    run_dir: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """The run's directory."""

    add: Annotated[tuple[str, ...], optional("[TAG ...]")] = ()
    """Tags to add."""

    remove: Annotated[tuple[str, ...], optional("[TAG ...]")] = ()
    """Tags to take away."""

    text: Annotated[str | None, optional("TEXT")] = None
    """The new note; "" for none."""

    json: Switch = False
    """Print one JSON object instead."""

    def run(self) -> int:
        """Change them if a flag says so, print them, and return the exit code."""
        folder = self.run_dir.resolve()
        if self.add or self.remove or self.text is not None:
            notes = write_notes(folder, add=self.add, remove=self.remove, note=self.text)
        else:
            notes = read_notes(Run.open(folder).folder)
        if self.json:
            print_json({"run": str(self.run_dir), **asdict(notes)})
        else:
            print_lines(f"tags: {', '.join(notes.tags) or '-'}", f"note: {notes.note or '-'}")
        return 0
