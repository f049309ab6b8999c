"""Promise 23: after a power cut, the newest checkpoint or the one before it loads.

The calls of real runs are replayed on a disk that drops, tears or reorders what was not synced. Run
from the root of the repository: python -m campaigns.power_cut [--cuts 1000]
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

import numpy as np
from campaigns.common.disk import DiskRecorder
from campaigns.common.lives import Life, check_same, files_of, quick
from campaigns.common.tally import Tally, report
from campaigns.survival import stop_at

from tgm.runs import Run, resume

LIVES = (Life(n_steps=160), Life("paper", n_steps=160), Life("auto", n_steps=160))


def power_cuts(
    n_cuts: int, seed: int, folder: Path, lives: Sequence[Life] = LIVES, *, syncs: bool = True
) -> Tally:
    """Cut runs off at random calls, and go on with what may be left of them.

    Args:
        n_cuts: how many.
        seed: of the places and of what survives.
        folder: where to work.
        lives: the runs; each is stopped once and gone on with, which is part of what is cut.
        syncs: False for a disk that lies: the campaign must find losses then.
    """
    tally = Tally("23: power cut: the newest checkpoint or the one before it, then the same bytes")
    rng = np.random.default_rng(seed)
    trials = [_recorded(life, folder / life.settings) for life in lives]
    for number in range(n_cuts):
        life, (recorder, whole) = lives[number % len(lives)], trials[number % len(lives)]
        at, path = int(rng.integers(1, len(recorder.changes) + 1)), folder / "after"
        disk = recorder.replay(at, syncs=syncs)
        kept = recorder.replay(at).synced_names("run", "checkpoints")
        steps = sorted(int(name[:10]) for name in kept if name[:10].isdigit())
        with tally.trial(f"{life.name}, cut {number} after call {at}"), quick():
            disk.write_survivor(path, rng)
            if "run" in recorder.replay(at).synced_names():
                assert (path / "run").exists(), "the run is gone"
            if (path / "run").exists():
                _check(path / "run", steps)
            life.live(path / "run")
            check_same(path / "run", whole)
        shutil.rmtree(path)
    return tally


def _recorded(life: Life, folder: Path) -> tuple[DiskRecorder, dict[str, bytes]]:
    """The calls of a run that was stopped in its middle and gone on with, and what it leaves."""
    folder.mkdir(parents=True)
    recorder = DiskRecorder(folder)
    # A reader wants to see everything at once: files are replaced between checkpoints too.
    with quick(), mock.patch("tgm.runs.recorder.LIVE_SECONDS", 0.0), recorder.spread():
        stop_at(life, folder / "run", 4)
        life.live(folder / "run")
    return recorder, files_of(folder / "run")


def _check(path: Path, steps: list[int]) -> None:
    """The run is one, and one of the two newest checkpoints that were surely written loads."""
    run = Run.open(path)
    agent, _ = resume(path)
    assert agent.n_steps >= (steps[-2:] or [0])[0], f"at step {agent.n_steps} of {steps}"
    assert run.metadata["steps"] > 0


def main() -> int:
    """Run the campaign, print the table, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cuts", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return report([power_cuts(asked.cuts, asked.seed, Path(folder))])


if __name__ == "__main__":
    sys.exit(main())
