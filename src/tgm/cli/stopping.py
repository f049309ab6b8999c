"""Ctrl-C and SIGTERM during `tgm train`: the run stops with a checkpoint."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any

from tgm.runs import RunRecorder


@contextlib.contextmanager
def stop_with_checkpoint(recorder: RunRecorder) -> Iterator[None]:
    """Within this context a signal asks the recorder to stop; a second one raises.

    After Ctrl-C the episode may end if its end is near; after SIGTERM it is broken off. Either
    waits for the step of the environment that is running.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    seen: set[int] = set()

    def ask(signal_number: int, frame: Any) -> None:
        is_first_term = signal_number == signal.SIGTERM and signal_number not in seen
        if recorder.stops and not is_first_term:
            raise KeyboardInterrupt
        seen.add(signal_number)
        recorder.request_stop(at_once=is_first_term)

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
