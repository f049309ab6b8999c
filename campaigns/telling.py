"""Promise 24: standard output or error closed, full or broken: same bytes, honest exit code.

Run from the root of the repository: python -m campaigns.telling [--trials 200]
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from campaigns.common.lives import check_same, files_of
from campaigns.common.tally import Tally, report

OUTPUT_LOST = 74
# By the kind of standard output; a terminal may go away before or after the result was shown.
EXIT_CODES = {
    "file": (0,),
    "closed": (OUTPUT_LOST,),
    "full": (OUTPUT_LOST,),
    "pipe": (0,),
    "half pipe": (0,),
    "terminal": (0, OUTPUT_LOST),
}
# A shell closes what Python's own subprocess cannot.
COMMAND = 'exec "$0" -m tgm train --maze 8 --steps "$1" --checkpoint-seconds 0 --out "$2"'


def telling(n_trials: int, seed: int, folder: Path, n_steps: int = 600) -> Tally:
    """Train with standard streams of all kinds, some of which break while it runs."""
    tally = Tally("24: output or error closed, full, broken: same bytes, honest exit code")
    rng = np.random.default_rng(seed)
    assert _train(folder / "whole", n_steps, "file", "file", 0.0) == 0
    whole = files_of(folder / "whole")
    for number in range(n_trials):
        kinds = [str(rng.choice(list(EXIT_CODES))) for _ in range(2)]
        path, seconds = folder / f"run-{number}", float(rng.random()) * 2.0
        with tally.trial(f"output {kinds[0]}, error {kinds[1]}, {seconds:.2f} s"):
            code = _train(path, n_steps, *kinds, seconds)
            assert code in EXIT_CODES[kinds[0]], f"exit code {code}"
            check_same(path, whole)
        shutil.rmtree(path, ignore_errors=True)
    return tally


def _train(path: Path, n_steps: int, output: str, error: str, seconds: float) -> int:
    """The exit code of `tgm train` with these streams; pipes and terminals break after a while."""
    closing = [f"{number}>&-" for number, kind in ((1, output), (2, error)) if kind == "closed"]
    words = ["sh", "-c", " ".join([COMMAND, *closing]), sys.executable, str(n_steps), str(path)]
    with _stream(output, seconds) as out, _stream(error, seconds) as err:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        os.close(out)
        os.close(err)
        return process.wait()


@contextlib.contextmanager
def _stream(kind: str, seconds: float) -> Iterator[int]:
    """A file to write to, which the receiver closes."""
    if kind in ("file", "closed", "full"):
        yield os.open("/dev/full" if kind == "full" else os.devnull, os.O_WRONLY)
        return
    reader, writer = os.openpty() if kind == "terminal" else os.pipe()
    thread = threading.Thread(target=_reader(kind, reader, seconds))
    thread.start()
    yield writer
    thread.join()


def _reader(kind: str, file: int, seconds: float) -> Callable[[], None]:
    """Reads for some seconds, or only the beginning, and goes away."""

    def read() -> None:
        deadline = time.monotonic() + seconds
        os.set_blocking(file, False)
        while time.monotonic() < deadline:
            with contextlib.suppress(BlockingIOError, OSError):
                if os.read(file, 65536) and kind == "half pipe":
                    break
            time.sleep(0.01)
        os.close(file)

    return read


def main() -> int:
    """Run the campaign, print the table, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return report([telling(asked.trials, asked.seed, Path(folder))])


if __name__ == "__main__":
    sys.exit(main())
