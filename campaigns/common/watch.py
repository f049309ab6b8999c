"""Watches this process while it reads what somebody else wrote: nothing runs, nothing is opened."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

FORBIDDEN = (
    "compile",
    "exec",
    "import",
    "code.__new__",
    "ctypes.",
    "ftplib.",
    "marshal.",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.spawn",
    "os.startfile",
    "os.system",
    "pickle.",
    "pty.spawn",
    "shutil.",
    "smtplib.",
    "socket.",
    "sqlite3.",
    "subprocess.",
    "urllib.",
    "webbrowser.",
)
OF_PATHS = (
    "open",
    "os.chmod",
    "os.link",
    "os.listdir",
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.scandir",
    "os.symlink",
    "os.truncate",
)
# What we ask the system for ourselves: whether a process runs, and a place for closed streams.
OF_THE_SYSTEM = re.compile(r"/dev/null|/proc/[0-9]+/stat|/proc/sys/kernel/random/boot_id")
SECONDS = 20  # for one file
FACTOR, ROOM = 60, 4_000_000  # bytes of memory for a byte of the file, and besides


class Watch:
    """Owner of the audit hook, of which a process has one for good; deaf outside `over`."""

    _only: Watch | None = None

    def __init__(self) -> None:
        self._roots: tuple[str, ...] | None = None
        self._seen: list[str] = []
        self._known: set[str] = set()
        sys.addaudithook(self._hear)

    @classmethod
    def get(cls) -> Watch:
        """The hook of this process."""
        if cls._only is None:
            cls._only = cls()
        return cls._only

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if self._roots is None:
            return
        if event.startswith(FORBIDDEN):
            what = _described(event, args)
            if what not in self._known:
                self._seen.append(what)
        elif event in OF_PATHS:
            for path in args[:2] if event in ("os.rename", "os.link") else args[:1]:
                follows = event == "open" and not int(args[2] or 0) & os.O_NOFOLLOW
                if isinstance(path, str | Path) and not self._is_inside(str(path), follows):
                    self._seen.append(f"{event} {path}")

    @property
    def has_learned(self) -> bool:
        """Whether anything is known to be no news."""
        return bool(self._known)

    @contextlib.contextmanager
    def learning(self) -> Iterator[None]:
        """What happens within is what happens to sound files too, and is no news later on.

        The command line makes its parser from the annotations of our own dataclasses, for example.
        """
        self._roots, self._seen = ("/",), []
        try:
            yield
        finally:
            self._roots = None
            self._known |= set(self._seen)

    def _is_inside(self, path: str, follows: bool) -> bool:
        """Whether it lies below the roots; a link is followed as the call would do it."""
        assert self._roots is not None
        folder, name = os.path.split(path)
        real = os.path.realpath(path) if follows else f"{os.path.realpath(folder)}/{name}"
        return real.startswith(self._roots) or OF_THE_SYSTEM.fullmatch(real) is not None

    @contextlib.contextmanager
    def over(self, *roots: Path) -> Iterator[None]:
        """Within it, nothing may be executed, imported or opened but below `roots`.

        It may not take long either.
        """
        self._roots, self._seen = tuple(str(root.resolve()) for root in roots), []
        with _time_limit(SECONDS):
            try:
                yield
            finally:
                self._roots = None
        assert not self._seen, f"it did {self._seen[:3]}"


def _described(event: str, args: tuple[Any, ...]) -> str:
    """An event by what it is about; code by what it does, not by where it lies in memory."""
    code = args[0] if event == "exec" else None
    if isinstance(code, CodeType):
        return f"exec {code.co_code!r} {code.co_names} {code.co_filename}"[:400]
    return f"{event} {args!r}"[:400]


@contextlib.contextmanager
def bounded_memory(n_bytes: int) -> Iterator[None]:
    """Within it, memory may grow by a small multiple of `n_bytes` only."""
    tracemalloc.start()
    try:
        yield
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak <= FACTOR * n_bytes + ROOM, f"a file of {n_bytes} bytes took {peak} of memory"


@contextlib.contextmanager
def _time_limit(seconds: int) -> Iterator[None]:
    began = time.monotonic()

    def give_up(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"it took over {time.monotonic() - began:.0f} seconds")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
