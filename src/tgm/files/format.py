"""The format number of runs, histories and models, and the answer to files of another format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tgm.errors import RunError
from tgm.version import __version__

FORMAT = 4
OLDEST_FORMAT, NEWEST_OF_0_1 = 1, 3  # version 0.1 wrote these


def format_of(values: Mapping[str, Any]) -> object:
    """The format number that a file gives, whatever its type; 0.1 called it its schema."""
    return values.get("format", values.get("schema"))


def check_format(where: object, kind: str, found: object) -> None:
    """RunError if a file has another format number than this version reads.

    Args:
        where: the file, with which the message begins.
        kind: what the file is, with its article: "a run".
        found: its format number, as the file gives it; any JSON value.
    """
    number = found if isinstance(found, int) and not isinstance(found, bool) else 0
    if number == FORMAT:
        return
    if OLDEST_FORMAT <= number <= NEWEST_OF_0_1:
        this = __version__.rpartition(".")[0]
        raise RunError(
            f"{where}: {kind} written by tgm 0.1, which tgm {this} cannot read; train again with "
            f"{this}, or install temporal-gaussian-mixture==0.1"
        )
    raise RunError(f"{where}: {kind} of format {found!r:.100}; this version reads {FORMAT}")
