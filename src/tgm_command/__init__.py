"""The command `tgm`, which can be interrupted while the packages that it needs are imported.

It imports nothing of `tgm` before: that takes seconds.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

INTERRUPTED = 130  # as shells have it: 128 and the number of the signal


def main() -> int:
    """Run `tgm` with the arguments of the process; the exit code."""
    is_heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not under nohup
    if is_heard:
        signal.signal(signal.SIGINT, _leave)
    from tgm.cli.main import main as run

    if is_heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return run()


def _leave(number: int, frame: FrameType | None) -> None:
    """Nothing was done yet; an exception within an import may become another one."""
    sys.stderr.write("tgm: interrupted\n")
    sys.stderr.flush()
    os._exit(INTERRUPTED)
