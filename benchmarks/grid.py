"""Throughput of a comparison's grid: two processes against one, in the same run.

Processes are warm when the clock starts: importing torch is paid once for each, however long the
grid. On a machine with fewer than two idle cores the ratio says nothing.
"""

import os
import time
from collections import Counter

from tgm.envs import load_maze
from tgm.experiments.comparison import make_trials
from tgm.experiments.grid import run_trials

AGENTS = ("dqn", "tgm", "tgm-paper")
SEEDS, STEPS = 6, 1500


def seconds(trials, jobs: int) -> float:
    """Wall-clock of all trials; none may fail."""
    began = time.perf_counter()
    outcomes = list(run_trials(trials, jobs=jobs))
    assert not Counter(outcome.error for outcome in outcomes if outcome.error)
    return time.perf_counter() - began


def main() -> None:
    """Print the ratio, the best of two goes each."""
    trials = make_trials([load_maze("27")], AGENTS, range(SEEDS), STEPS)
    warm_up = make_trials([load_maze("8")], AGENTS, range(4), 200)
    one, two = [], []
    for jobs, times in ((1, one), (2, two)):
        seconds(warm_up, jobs)
        times += [seconds(trials, jobs) for _ in range(2)]
    load = os.getloadavg()[0]
    print(f"{len(trials)} trials of {STEPS} steps; load of the machine {load:.1f}")
    for name, times in (("one process", one), ("two processes", two)):
        print(f"{name}: {len(trials) / min(times):.2f} trials per second")
    print(f"two processes: {min(one) / min(two):.2f} times the throughput of one")


if __name__ == "__main__":
    main()
