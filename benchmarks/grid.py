"""Throughput of a comparison's grid: two processes against one, in the same run.

Processes are warm when the clock starts: importing torch is paid once for each, however long the
grid. On a machine without two idle cores the wall-clock says nothing; the processor time of a trial
then still shows what two processes cost each other.
"""

import os
import time
from dataclasses import replace

from tgm.envs import load_maze
from tgm.experiments.comparison import make_trials
from tgm.experiments.harness.pool import run_trials
from tgm.experiments.harness.trial import Trial, TrialResult, run_trial

AGENTS = ("dqn", "tgm", "tgm-paper")
SEEDS, STEPS = 6, 1500


def on_the_processor(trial: Trial) -> TrialResult:
    """A trial whose seconds are those of the processor, checks and all."""
    began = time.process_time()
    result = run_trial(trial)
    return replace(result, seconds=time.process_time() - began)


def measure(trials: list[Trial], jobs: int) -> tuple[float, float]:
    """Wall-clock of all trials, and processor time of all trials; none may fail."""
    began = time.perf_counter()
    outcomes = list(run_trials(trials, on_the_processor, jobs=jobs))
    wall = time.perf_counter() - began
    assert all(outcome.error is None for outcome in outcomes), outcomes
    return wall, sum(outcome.result.seconds for outcome in outcomes)


def main() -> None:
    """Print the ratios, the best of two goes each."""
    trials = make_trials([load_maze("27")], AGENTS, range(SEEDS), STEPS)
    warm_up = make_trials([load_maze("8")], AGENTS, range(4), 200)
    best = {}
    for jobs in (1, 2):
        measure(warm_up, jobs)
        goes = [measure(trials, jobs) for _ in range(2)]
        best[jobs] = [min(times) for times in zip(*goes, strict=True)]
    print(f"{len(trials)} trials of {STEPS} steps; load of the machine {os.getloadavg()[0]:.1f}")
    for jobs, (wall, processor) in best.items():
        print(
            f"{jobs} process{'es' if jobs > 1 else ''}: {len(trials) / wall:.2f} trials per "
            f"second, {processor / len(trials):.2f} s of processor time each"
        )
    (one, one_processor), (two, two_processor) = best[1], best[2]
    print(
        f"two processes: {one / two:.2f} times the throughput of one "
        f"({2 * one_processor / two_processor:.2f} by processor time)"
    )


if __name__ == "__main__":
    main()
