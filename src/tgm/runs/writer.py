"""Who writes a run: `writer.json`, which everybody can read and which can guard the run as well."""

from __future__ import annotations

import functools
import json
import os
import socket
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from tgm.errors import RunError

WRITER_FILE = "writer.json"
# A run may come from somebody else: nothing is opened through a link, and a pipe blocks nobody.
SAFELY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
LARGEST = 4096  # bytes of a writer's file
ENDED = ("Z", "X")  # how Linux calls a process that was killed and is not yet out of its list

Guard = Literal["lock", "file"]


@dataclass(frozen=True)
class Writer:
    """A process that writes a run.

    Attributes:
        host: the name of its machine, for people.
        machine: what tells machines and their starts apart; a process number means nothing outside.
        pid: its number.
        started: when it began, as the system counts; numbers of processes are used again.
        guard: what keeps others out: the lock of the system, or this file alone.
    """

    host: str
    machine: str
    pid: int
    started: str
    guard: Guard

    @classmethod
    def this_process(cls, guard: Guard) -> Writer:
        """The process that asks."""
        pid = os.getpid()
        return cls(socket.gethostname(), _machine(), pid, _start_of(pid) or "", guard)

    def is_alive(self) -> bool | None:
        """Whether the process is running; None if that cannot be found out from here."""
        if self.machine != _machine() or sys.platform == "win32":
            return None  # on Windows there is no harmless question to a process
        try:
            os.kill(self.pid, 0)
        except (ProcessLookupError, OverflowError):
            return False
        except PermissionError:
            pass  # somebody else's
        started = _start_of(self.pid)
        return True if started is None else started == self.started

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


def read_writer(folder: Path) -> Writer | None:
    """The writer that a run names, or None if it names none; a RunError if it cannot be read."""
    path = folder / WRITER_FILE
    try:
        file = os.open(path, os.O_RDONLY | SAFELY)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RunError(f"{path}: cannot be read ({error.strerror})") from None
    try:
        values = json.loads(os.read(file, LARGEST))
        writer = Writer(*(values[name] for name in Writer.__dataclass_fields__))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        raise RunError(f"{path}: does not name a process") from None
    finally:
        os.close(file)
    texts = (writer.host, writer.machine, writer.started, writer.guard)
    is_number = isinstance(writer.pid, int) and not isinstance(writer.pid, bool)
    if not all(isinstance(text, str) for text in texts) or not is_number or writer.pid < 1:
        raise RunError(f"{path}: does not name a process")
    return writer


def name_writer(folder: Path, writer: Writer) -> os.stat_result:
    """Make the file of a writer; a FileExistsError if there is one. Returns what identifies it."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | SAFELY
    file = os.open(folder / WRITER_FILE, flags, 0o644)
    try:
        os.write(file, (json.dumps(asdict(writer)) + "\n").encode())
        return os.fstat(file)
    except OSError:
        remove_writer(folder, os.fstat(file))
        raise
    finally:
        os.close(file)


def remove_writer(folder: Path, identity: os.stat_result) -> None:
    """Remove the file of a writer, if it is still the same one and that is possible."""
    path = folder / WRITER_FILE
    try:
        if is_same_file(path.lstat(), identity):
            path.unlink()
    except OSError:
        return  # a reader will find that the process is gone


def is_same_file(one: os.stat_result, other: os.stat_result) -> bool:
    """Whether both are of one file; file systems give the number of a removed file to the next."""
    return os.path.samestat(one, other) and one.st_mtime_ns == other.st_mtime_ns


@functools.cache
def _machine() -> str:
    """This start of this machine, and within it the numbering of processes, as far as is known."""
    parts = [socket.gethostname()]
    try:
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    except OSError:
        pass  # not Linux: the name has to do
    return " ".join(parts)


def _start_of(pid: int) -> str | None:
    """When a process that runs began, in the system's own count; None if it does not say."""
    try:
        status = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # The name of the program, in brackets, may hold spaces and brackets.
    state, *numbers = status.rpartition(b")")[2].decode().split()
    return "ended" if state in ENDED else numbers[18]
