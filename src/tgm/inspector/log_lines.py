"""The lines of a log: all of a short one, samples of a long one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

READ_WHOLE = 8_000_000  # bytes: about 20,000 lines, which take 0.2 s
MOST_LINES = 30_000  # of a log that is read whole
ENDS = 1_500_000  # bytes read without a gap at both ends of a longer log
END_LINES = 6_000  # at most so many lines at each end
SAMPLES = 2_500  # single lines between them
SAMPLED = 8_000_000  # bytes read for them, including partial lines
LONGEST_LINE = 1_000_000  # bytes


def is_short(file: BinaryIO, size: int) -> bool:
    """Whether a log is read whole."""
    if size > READ_WHOLE:
        return False
    n_lines = file.read(size).count(b"\n")
    file.seek(0)
    return n_lines <= MOST_LINES


def all_lines(file: BinaryIO) -> Iterator[tuple[str, bytes]]:
    """(place, line) of each line; a line that is too long is given as b"?"."""
    number = 0
    while line := file.readline(LONGEST_LINE):
        number += 1
        if line.endswith(b"\n"):
            yield f"line {number}", line
        elif len(line) == LONGEST_LINE:
            yield f"line {number}", b"?"
            _skip_line(file)


def _skip_line(file: BinaryIO) -> None:
    while (rest := file.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
        pass


def sampled_lines(file: BinaryIO, size: int) -> Iterator[tuple[str, bytes]]:
    """(place, line): both ends without a gap, and evenly spaced single lines between them."""
    for _ in range(END_LINES):
        if file.tell() >= ENDS or not (line := file.readline(LONGEST_LINE)):
            break
        yield f"byte {file.tell() - len(line)}", line
    begin, end = file.tell(), size - ENDS
    n_read = 0
    for index in range(SAMPLES if begin < end else 0):
        file.seek(max(begin + index * (end - begin) // SAMPLES, file.tell()))
        n_read += len(file.readline(LONGEST_LINE))  # the rest of a line
        at = file.tell()
        if at >= end or n_read > SAMPLED:
            break
        line = file.readline(LONGEST_LINE)
        n_read += len(line)
        yield f"byte {at}", line
    file.seek(max(end, file.tell()))
    file.readline(LONGEST_LINE)
    yield from _last_lines(file, size)


def _last_lines(file: BinaryIO, size: int) -> Iterator[tuple[str, bytes]]:
    at = file.tell()
    whole = file.read(max(0, size - at)).split(b"\n")[:-1]
    left_out = whole[: max(0, len(whole) - END_LINES)]
    at += sum(len(line) + 1 for line in left_out)
    for line in whole[len(left_out) :]:
        yield f"byte {at}", line if len(line) < LONGEST_LINE else b"?"
        at += len(line) + 1
