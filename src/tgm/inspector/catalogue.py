"""The runs that may be shown, each with an id; nothing outside the named directories."""

from __future__ import annotations

import hashlib
import math
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from tgm.errors import ConfigError, RunError
from tgm.runs import Run, find_runs
from tgm.runs.folder import HISTORY_FOLDER, MOST_FILES, RESULT_FILE, RUN_FILE
from tgm.runs.notes import LARGEST_NOTES, NOTES_FILE
from tgm.runs.reader import LARGEST_JSON

LARGEST_CHUNK = 64 * 2**20  # bytes; the recorder writes about a hundredth of this
LARGEST_FILES = {RUN_FILE: LARGEST_JSON, RESULT_FILE: LARGEST_JSON, NOTES_FILE: LARGEST_NOTES}


class Catalogue:
    """The runs below the directories that the user named.

    A request names a run by its id, a digest of its path. The id is looked up among the
    directories that were found; no path is built from it.
    """

    def __init__(self, places: Sequence[Path]) -> None:
        """Show the runs in `places`: run directories, or directories that hold some."""
        for place in places:
            if not place.is_dir():
                raise ConfigError(f"{place}: no such directory; name a run, or a folder of runs")
        self._places = [place.resolve() for place in places]
        self._found: dict[str, Path] = {}  # by the last search; with many runs a search takes long

    def folders(self) -> dict[str, Path]:
        """Id -> directory of each run that exists now, in order."""
        found: dict[str, Path] = {}
        for place in self._places:
            here = [place] if (place / RUN_FILE).exists() else find_runs(place)
            for folder in here:
                try:
                    resolved = folder.resolve()
                except (OSError, RuntimeError):
                    continue
                if resolved.is_relative_to(place):  # false for a link that points outside
                    found[run_id(resolved)] = resolved
        self._found = found
        return found

    def open(self, id_: str) -> Run:
        """The run with this id: KeyError if there is none, RunError if it cannot be read."""
        folder = self._found.get(id_)
        if folder is None or not _is_still(folder):
            folder = self.folders()[id_]
        check_files(folder)
        return Run.open(folder)


def _is_still(folder: Path) -> bool:
    """Whether a directory that was found is there as it was: a run, and no link by now."""
    try:
        return folder.resolve() == folder and (folder / RUN_FILE).is_file()
    except (OSError, RuntimeError):
        return False


def run_id(folder: Path) -> str:
    """An id for a directory that is valid in a URL, whatever the directory is called."""
    return hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]


def begun(folder: Path) -> tuple[float, str]:
    """When a run was begun, by the file that is written first and not again; then its name."""
    try:
        return (folder / RUN_FILE).stat().st_mtime, folder.name
    except OSError:
        return 0.0, folder.name


def check_files(folder: Path) -> None:
    """Raise a RunError if the run holds a link, a pipe, or a file that is too large."""
    try:
        for directory in (folder, folder / HISTORY_FOLDER):
            if directory.is_symlink():
                raise RunError(
                    f"{folder.name}: '{directory.name}' is a link; a run must not hold links"
                )
            if not directory.is_dir():
                continue
            with os.scandir(directory) as entries:
                for number, entry in enumerate(entries):
                    if number == MOST_FILES:
                        raise RunError(f"{folder.name}: holds more than {MOST_FILES} files")
                    _check_entry(folder, entry)
    except OSError as error:
        raise RunError(f"{folder.name}: cannot be read ({error.strerror})") from None


def _check_entry(folder: Path, entry: os.DirEntry[str]) -> None:
    if entry.is_symlink():
        raise RunError(f"{folder.name}: '{entry.name}' is a link; a run must not hold links")
    if entry.is_dir():
        return
    status = entry.stat(follow_symlinks=False)
    if not stat.S_ISREG(status.st_mode):
        raise RunError(f"{folder.name}: '{entry.name}' is not a regular file")
    is_history = Path(entry.path).parent.name == HISTORY_FOLDER
    if status.st_size > (LARGEST_CHUNK if is_history else LARGEST_FILES.get(entry.name, math.inf)):
        raise RunError(f"{folder.name}: '{entry.name}' is too large ({status.st_size} bytes)")
