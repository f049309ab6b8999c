"""The standard streams of a command, which may be closed, full or without a reader."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import TextIO


class OutputError(Exception):
    """Standard output cannot be written, and a command's result is lost.

    Attributes:
        is_closed_pipe: whether the reader went away (`tgm mazes | head`), which is no error of
            anybody.
    """

    def __init__(self, reason: str, *, is_closed_pipe: bool = False) -> None:
        super().__init__(f"standard output cannot be written ({reason})")
        self.is_closed_pipe = is_closed_pipe


class OutText(io.StringIO):
    """Text that is to go to standard output, for libraries that draw differently for a terminal.

    They would write by themselves otherwise, and each handles a closed pipe in a way of its own.
    """

    def __init__(self) -> None:
        """For the standard output of this moment."""
        super().__init__()
        self._stream: TextIO | None = sys.stdout

    def isatty(self) -> bool:
        """Whether standard output is a terminal."""
        with contextlib.suppress(Exception):
            return self._stream is not None and self._stream.isatty()
        return False

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """That of standard output."""
        return getattr(self._stream, "encoding", None) or "utf-8"


def write_out(text: str) -> None:
    """Write to standard output, or raise an OutputError."""
    stream = _standard_output()
    try:
        stream.write(text)
    except (OSError, ValueError) as error:
        raise _output_error(error) from error


def flush_out() -> None:
    """Wait until standard output has all that was written, or raise an OutputError."""
    try:
        _standard_output().flush()
    except (OSError, ValueError) as error:
        raise _output_error(error) from error


def take_closed_streams() -> None:
    """Open the null device in the place of standard streams that are closed.

    Otherwise the next file that is opened, such as the metrics of a run, gets their number, and
    what libraries and children write to them ends up in it.
    """
    file = os.open(os.devnull, os.O_RDWR)
    while file <= 2:
        file = os.open(os.devnull, os.O_RDWR)
    os.close(file)


def drop_what_is_left() -> None:
    """Drop what a broken stream still holds: Python would try it again, and exit with 120."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            with contextlib.suppress(Exception):
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, stream.fileno())
                os.close(null)


def _standard_output() -> TextIO:
    stream: TextIO | None = sys.stdout
    if stream is None:  # how Python starts where it is closed
        raise OutputError("it is closed")
    return stream


def _output_error(error: OSError | ValueError) -> OutputError:
    reason = getattr(error, "strerror", None) or str(error)
    return OutputError(reason, is_closed_pipe=isinstance(error, BrokenPipeError))
