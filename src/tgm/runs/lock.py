"""One writer per run: a lock that the system lets go of when the writer ends, however it ends."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from tgm.errors import RunError

if sys.platform != "win32":  # where runs are not locked
    import fcntl

LOCK_FILE = "lock"
# A run may come from somebody else: nothing is written through a link, nobody waits for a pipe.
SAFELY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
OPEN_FLAGS = os.O_RDWR | os.O_CREAT | SAFELY
PATIENCE = 0.2  # seconds: a reader that looks whether a run is live holds the lock for a moment


class Lock:
    """Held while a run is written."""

    def __init__(self, folder: Path) -> None:
        """Take the lock of a run, or raise a RunError if somebody writes it."""
        try:
            self._file = os.open(folder / LOCK_FILE, OPEN_FLAGS, 0o644)
        except OSError as error:
            raise RunError(f"{folder}: cannot be written ({error.strerror})") from None
        deadline = time.monotonic() + PATIENCE
        while not _try_lock(self._file, exclusive=True):
            if time.monotonic() > deadline:
                os.close(self._file)
                raise RunError(f"{folder}: another process is writing this run")
            time.sleep(0.01)

    def release(self) -> None:
        """Let go."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def is_locked(folder: Path) -> bool:
    """Whether somebody writes the run in `folder` at this moment."""
    try:
        file = os.open(folder / LOCK_FILE, os.O_RDONLY | SAFELY)
    except OSError:
        return False
    try:
        return not _try_lock(file, exclusive=False)
    finally:
        os.close(file)


def _try_lock(file: int, *, exclusive: bool) -> bool:
    if sys.platform != "win32":
        try:
            fcntl.flock(file, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except OSError:
            return False
    return True
