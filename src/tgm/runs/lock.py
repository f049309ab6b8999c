"""One writer per run: a lock of the system, or where there is none, a file that names the writer.

A lock of the system goes when its holder ends, however it ends. `filelock` takes it on Linux, macOS
and Windows. Some file systems, often those of a network, have none: there `writer.json` guards the
run, and says which process on which machine writes it.
"""

from __future__ import annotations

import contextlib
import os
import time
import warnings
import weakref
from pathlib import Path

from tgm.errors import RunError, TGMWarning
from tgm.files.atomic import unique_temporary_name
from tgm.runs.writer import (
    SAFELY,
    WRITER_FILE,
    Guard,
    Writer,
    is_same_file,
    name_writer,
    read_writer,
    remove_writer,
)

LOCK_FILE = "lock"
OPEN_FLAGS = os.O_RDWR | os.O_CREAT | SAFELY
# Every user who may read a file may lock it: only its owner may read this one.
LOCK_MODE = 0o600
PATIENCE = 0.2  # seconds: a reader that looks whether a run is live holds the lock for a moment


class Lock:
    """Held while a run is written."""

    def __init__(self, folder: Path) -> None:
        """Take the lock of a run, or raise a RunError if somebody writes it."""
        self._folder = folder
        try:
            self._file = os.open(folder / LOCK_FILE, OPEN_FLAGS, LOCK_MODE)
        except OSError as error:
            raise RunError(f"{folder}: cannot be written ({error.strerror})") from None
        try:
            with contextlib.suppress(OSError, AttributeError):  # Windows, or not the owner's
                os.fchmod(self._file, LOCK_MODE)
            problem = self._lock()
            self._identity = _claim(folder, "file" if problem else "lock")
        except BaseException:
            os.close(self._file)
            raise
        _held.add(self)
        if problem:
            message = (
                f"{folder}: this file system has no locks ({problem}); {WRITER_FILE} guards the "
                "run instead. If this process is killed and the run is to go on from another "
                "machine or after a restart, remove that file first"
            )
            try:
                warnings.warn(message, TGMWarning, stacklevel=2)
            except TGMWarning:  # where warnings are errors
                self.release()
                raise

    def _lock(self) -> str:
        """Take the system's lock; why there is none, or nothing."""
        deadline = time.monotonic() + PATIENCE
        try:
            while not _try_lock(self._file):
                if time.monotonic() > deadline:
                    raise RunError(f"{self._folder}: another process is writing this run")
                time.sleep(0.01)
        except OSError as error:
            return error.strerror or str(error)
        return ""

    def release(self) -> None:
        """Let go."""
        if self._file >= 0:
            remove_writer(self._folder, self._identity)
            self.close()

    def close(self) -> None:
        """Let go of the file alone: a process that was forked has no part in its parent's lock."""
        file, self._file = self._file, -1
        os.close(file)
        _held.discard(self)


def is_locked(folder: Path) -> bool | None:
    """Whether a process writes the run in `folder` at this moment; None if that is unknown.

    It is unknown if the system's lock cannot be read (there is none, or it belongs to another
    user) and the writer is on another machine.
    """
    try:
        writer = read_writer(folder)
    except RunError:
        return _probe(folder)
    if writer is None:
        return False
    is_alive = writer.is_alive()
    if is_alive is False:
        return False
    is_held = _probe(folder)
    if is_held is None or (writer.guard == "file" and not is_held):
        return is_alive
    return is_held


def _probe(folder: Path) -> bool | None:
    """Whether the system's lock is held; None if it cannot be read."""
    try:
        file = os.open(folder / LOCK_FILE, os.O_RDONLY | SAFELY)
    except FileNotFoundError:
        return False
    except OSError:
        return None
    try:
        return not _try_lock(file)
    except OSError:
        return None
    finally:
        os.close(file)


def _try_lock(file: int) -> bool:
    """Take the system's lock of an open file, if nobody holds it; an OSError if there is none."""
    import filelock  # 60 ms, for writers and readers of a live run alone

    return filelock.lock_descriptor(file, blocking=False)


def _claim(folder: Path, guard: Guard) -> os.stat_result:
    """Name this process as the writer, in the place of one that is gone."""
    writer = Writer.this_process(guard)
    while True:
        try:
            return name_writer(folder, writer)
        except FileExistsError:
            _remove_stale(folder, guard)
        except OSError as error:
            raise RunError(f"{folder}: cannot be written ({error.strerror})") from None


def _remove_stale(folder: Path, guard: Guard) -> None:
    """Remove the file of a writer that is gone, or raise a RunError if it may be writing."""
    path = folder / WRITER_FILE
    try:
        before = path.lstat()
        other = read_writer(folder)
    except FileNotFoundError:
        return
    except RunError as error:
        if guard == "file":
            raise RunError(f"{error}; if no process writes this run, remove the file") from None
        other = None  # half of one: the lock, which is ours, was its guard
    if other is not None and (guard == "file" or other.guard == "file"):
        is_alive = other.is_alive()
        if is_alive:
            raise RunError(f"{folder}: another process is writing this run ({other})")
        if is_alive is None:
            raise RunError(
                f"{folder}: another process is writing this run, or was killed ({other}, which "
                f"cannot be asked from here); if it is gone, remove {path}"
            )
    # Renamed first: of two that find the same file stale, one gets it.
    aside = unique_temporary_name(path)
    try:
        path.rename(aside)
        if is_same_file(aside.lstat(), before):
            aside.unlink()
        else:
            aside.rename(path)  # somebody was quicker, and this is the new one
    except FileNotFoundError:
        return
    except OSError as error:
        raise RunError(f"{folder}: cannot be written ({error.strerror})") from None


_held: weakref.WeakSet[Lock] = weakref.WeakSet()


def _let_go_in_child() -> None:
    for lock in list(_held):
        lock.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go_in_child)
