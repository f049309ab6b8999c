"""What recording costs of the speed: the same life without and with a run directory.

Two agents live in turns of 100 steps: a machine that is slow for a while is slow for both. Opening
and closing the run are part of the cost. Whole lives one after the other are measured too: that is
what a user sees, but a busy machine scatters it widely. There recording costs a little more: an
agent that lives alone finds all it needs in the cache, one that takes turns does not. A long run is
not a short one made longer: its steps are quicker, and it writes more files.
"""

from __future__ import annotations

import gc
import statistics
import tempfile
import time
from pathlib import Path

import gymnasium as gym

import tgm
from tgm.agent.recording import Ending
from tgm.runs.recorder import RunRecorder
from tgm.runs.timing import CHECKPOINT_SECONDS

TURN = 100
CASES = (
    ("default", "27", 5000, 40),
    ("default", "8", 5000, 40),
    ("default", "27", 20_000, 10),
    ("paper", "27", 5000, 10),
)  # preset, maze, steps, seeds


class TurnRecorder(RunRecorder):
    """Stays open from turn to turn."""

    is_last_turn = False

    def close(self, ending: Ending, reason: str = "") -> None:
        """Close the run after the last turn."""
        if self.is_last_turn:
            super().close(ending, reason)


def life(preset: str, maze: str, n_steps: int, seed: int, run_dir: Path) -> tuple[float, float]:
    """Seconds of one life without and with a run directory."""
    config = tgm.TGMConfig.preset(preset)
    plain, recorded = (
        tgm.TGMAgent(gym.make("tgm/Maze-v0", maze=maze), config, seed=seed) for _ in range(2)
    )
    gc.collect()  # what the last life left behind is not this one's concern
    began = time.perf_counter()
    # Half of the time is the other agent's.
    waits = 2 * CHECKPOINT_SECONDS
    recorder = TurnRecorder.begin(recorded, run_dir, n_steps, checkpoint_seconds=waits)
    seconds = {plain: 0.0, recorded: time.perf_counter() - began}
    for turn in range(n_steps // TURN):
        recorder.is_last_turn = (turn + 1) * TURN == n_steps
        for agent in (plain, recorded) if turn % 2 else (recorded, plain):
            began = time.perf_counter()
            agent.learn(TURN, run_dir=recorder if agent is recorded else None)
            seconds[agent] += time.perf_counter() - began
    return seconds[plain], seconds[recorded]


def in_turns(preset: str, maze: str, n_steps: int, n_seeds: int) -> str:
    """What recording costs agents that live in turns, and the size of what was written."""
    with tempfile.TemporaryDirectory() as folder:
        runs = [Path(folder) / str(seed) for seed in range(n_seeds)]
        lives = [life(preset, maze, n_steps, seed, run) for seed, run in enumerate(runs)]
        size = sum(path.stat().st_size for path in runs[0].rglob("*") if path.is_file())
    return f"in turns: {cost_of(lives, n_steps)}; {size / 1e6:.1f} MB (goal 20)"


def whole_lives(preset: str, maze: str, n_steps: int, n_seeds: int) -> str:
    """The same with one whole life after the other, two of each kind for each seed."""
    lives = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(n_seeds):
            seconds = [0.0, 0.0]
            # What is first in one seed is last in it too, and second in the next.
            for turn in range(4):
                is_recorded = (turn in (1, 2)) == (seed % 2 == 0)
                env = gym.make("tgm/Maze-v0", maze=maze)
                agent = tgm.TGMAgent(env, tgm.TGMConfig.preset(preset), seed=seed)
                run_dir = Path(folder) / f"{seed}-{turn}" if is_recorded else None
                gc.collect()
                began = time.perf_counter()
                agent.learn(n_steps, run_dir=run_dir)
                seconds[is_recorded] += (time.perf_counter() - began) / 2
            lives.append((seconds[0], seconds[1]))
    return f"whole lives: {cost_of(lives, n_steps)}"


def cost_of(lives: list[tuple[float, float]], n_steps: int) -> str:
    """What recording takes of the speed, from seconds without and with it, in words."""
    costs = [1 - plain / recorded for plain, recorded in lives]
    low, cost, high = statistics.quantiles(costs, n=4)
    before, after = (n_steps / statistics.median(column) for column in zip(*lives, strict=True))
    return (
        f"{before:,.0f} steps a second, recorded {after:,.0f}; recording costs {cost:.1%} of the "
        f"speed (goal 10 %; half of {len(lives)} seeds within {low:.1%} and {high:.1%})"
    )


def main() -> None:
    """Print the cost for short and long runs, and both presets."""
    with tempfile.TemporaryDirectory() as folder:
        life("default", "27", 500, 0, Path(folder) / "first")  # all that is done once only
    for preset, maze, n_steps, n_seeds in CASES:
        print(f"{preset}, {n_steps:,} steps of maze {maze}")
        print(" ", in_turns(preset, maze, n_steps, n_seeds), flush=True)
        print(" ", whole_lives(preset, maze, n_steps, n_seeds), flush=True)


if __name__ == "__main__":
    main()
