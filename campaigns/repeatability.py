"""Promises 8, 9 and 21: the same seed is the same run, for ever, in a bounded room.

Run from the root of the repository: python -m campaigns.repeatability [--steps 1000000]
Promise 7, that NaN never enters, is tried by campaigns/promises.py.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import gymnasium as gym
import numpy as np
from campaigns.common.lives import SETTINGS, Life, files_of, in_child, quick
from campaigns.common.tally import Tally, report

import tgm

HASH_SEEDS = ("1", "4242")
CHECK_EVERY = 100  # steps between two looks at the probabilities
LIMIT = 1e-12
WARM_UP = 0.1  # share of the steps after which memory may grow by so much only:
GROWTH = 0.05


# --- promise 9 ------------------------------------------------------------------------------------


def lives(n_configurations: int, n_steps: int) -> list[Life]:
    """Different settings, mazes and seeds."""
    names, mazes = list(SETTINGS), ("8", "10", "20", "25", "26")
    return [
        Life(names[number % len(names)], mazes[number // len(names) % 5], number, n_steps)
        for number in range(n_configurations)
    ]


def digests(n_configurations: int, n_steps: int) -> dict[str, str]:
    """A fingerprint of all that each configuration leaves behind."""
    found = {}
    with tempfile.TemporaryDirectory() as folder, quick():
        for number, life in enumerate(lives(n_configurations, n_steps)):
            path = Path(folder) / str(number)
            life.live(path)
            files = files_of(path)
            parts = [name.encode() + files[name] for name in sorted(files)]
            found[life.name] = hashlib.sha256(b"".join(parts)).hexdigest()
    return found


def same_bytes(n_configurations: int, n_steps: int = 200) -> Tally:
    """Let two processes with different hash seeds live the same lives."""
    tally = Tally("9: same seed, two processes, different hash seeds: identical bytes")
    words = [sys.executable, "-m", "campaigns.repeatability", "--digests"]
    words += [f"--configurations={n_configurations}", f"--steps={n_steps}"]
    processes = [
        subprocess.Popen(
            words, env=os.environ | {"PYTHONHASHSEED": seed}, stdout=subprocess.PIPE, text=True
        )
        for seed in HASH_SEEDS
    ]
    one, other = (json.loads(process.communicate()[0]) for process in processes)
    for name in one:
        with tally.trial(name):
            assert one[name] == other[name], "the files differ"
    assert tally.tried == n_configurations
    return tally


# --- promises 8 and 21 ----------------------------------------------------------------------------


class Sums:
    """A callback that looks at the probabilities now and then."""

    def __init__(self, agent: tgm.TGMAgent, tally: Tally) -> None:
        self._agent = agent
        self._tally = tally
        self._rng = np.random.default_rng(0)

    def __call__(self, info: tgm.LearningInfo) -> None:
        if info.step % CHECK_EVERY == 0:
            with self._tally.trial(f"step {info.step}"):
                check_probabilities(self._agent, self._rng)


def check_probabilities(agent: tgm.TGMAgent, rng: np.random.Generator) -> None:
    """Beliefs and transition rows sum to one, and covariances are positive definite."""
    means = agent.means
    point = means[rng.integers(len(means))] + rng.normal(size=means.shape[1])
    for name, values in (("belief", agent.belief(point)), ("row", agent.transition_matrix)):
        error = float(np.abs(values.sum(axis=-1) - 1.0).max())
        assert error <= LIMIT, f"a {name} sums to one but for {error}"
        assert (values >= 0).all(), f"a {name} holds a probability below zero"
    smallest = float(np.linalg.eigvalsh(agent.covariances).min())
    assert smallest > 0, f"a covariance has the eigenvalue {smallest}"


def long_run(n_steps: int, maze: str, run_dir: Path | None) -> tuple[Tally, Tally]:
    """Live long, look at the probabilities, and measure the memory of this process."""
    where = "no run_dir" if run_dir is None else "run_dir"
    sums = Tally(f"8: probabilities every {CHECK_EVERY} of {n_steps} steps, {where}")
    memory = Tally(f"21: {n_steps} steps, memory grows by less than 5 %, {where}")
    agent = tgm.TGMAgent(gym.make("tgm/Maze-v0", maze=maze), seed=0)
    check, sizes = Sums(agent, sums), []

    def measure(info: tgm.LearningInfo) -> None:
        check(info)
        if info.step == int(WARM_UP * n_steps) or info.step == n_steps:
            sizes.append(resident_bytes())

    began = time.perf_counter()
    agent.learn(n_steps, callback=measure, run_dir=run_dir)
    seconds = time.perf_counter() - began
    with memory.trial(where):
        before, after = sizes
        mega = f"{before / 1e6:.1f} MB after warm-up, {after / 1e6:.1f} MB at the end"
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{n_steps} steps, {where}: {mega}, at most {peak:.1f} MiB; {seconds:.0f} s", flush=True
        )
        assert after <= (1.0 + GROWTH) * before, mega
    return sums, memory


def resident_bytes() -> int:
    """Memory of this process that is in use at this moment."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def long_run_in_child(n_steps: int, maze: str, run_dir: Path | None, told: Path) -> list[Tally]:
    """The same in a process of its own, so that nobody else's memory is measured."""

    def live() -> None:
        tallies = long_run(n_steps, maze, run_dir)
        told.write_text(json.dumps([[t.promise, t.tried, t.lost] for t in tallies]))

    assert in_child(live) == 0
    return [Tally(*values) for values in json.loads(told.read_text())]


def main() -> int:
    """Run the campaign, print the table, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--configurations", type=int, default=50)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--maze", default="27")
    parser.add_argument("--only", help="bytes, plain or recorded")
    parser.add_argument("--digests", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.digests:
        print(json.dumps(digests(asked.configurations, asked.steps)))
        return 0
    tallies: list[Tally] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if asked.only in (None, "bytes"):
            tallies.append(same_bytes(asked.configurations))
        for name, run_dir in (("plain", None), ("recorded", folder / "run")):
            if asked.only in (None, name):
                tallies += long_run_in_child(asked.steps, asked.maze, run_dir, folder / name)
    return report(tallies)


if __name__ == "__main__":
    sys.exit(main())
