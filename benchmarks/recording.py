"""What recording costs: the same training with and without a run directory, in turn.

Each is done several times, and the least time of each counts: a busy machine only adds to it. A
long run is not a short one made longer: its steps are quicker, and it writes more files.
"""

from __future__ import annotations

import gc
import tempfile
import time
from pathlib import Path

import gymnasium as gym

import tgm

SEEDS, ROUNDS = 3, 6
CASES = (("default", "27", 5000), ("default", "8", 5000), ("default", "27", 20_000),
         ("paper", "27", 5000))  # fmt: skip


def seconds(preset: str, maze: str, n_steps: int, seed: int, run_dir: Path | None) -> float:
    """Time of one training."""
    config = tgm.TGMConfig.preset(preset)
    agent = tgm.TGMAgent(gym.make("tgm/Maze-v0", maze=maze), config, seed=seed)
    gc.collect()  # what the last training left behind is not this one's concern
    began = time.perf_counter()
    agent.learn(n_steps, run_dir=run_dir)
    return time.perf_counter() - began


def measure(preset: str, maze: str, n_steps: int) -> str:
    """What recording costs, and the size of what was written, in words."""
    plain, recorded = [float("inf")] * SEEDS, [float("inf")] * SEEDS
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(ROUNDS):
            for seed in range(SEEDS):
                run_dir = Path(folder) / f"{turn}-{seed}"
                plain[seed] = min(plain[seed], seconds(preset, maze, n_steps, seed, None))
                recorded[seed] = min(recorded[seed], seconds(preset, maze, n_steps, seed, run_dir))
        size = sum(path.stat().st_size for path in run_dir.rglob("*") if path.is_file())
    before, after = sum(plain), sum(recorded)
    microseconds = 1e6 / (SEEDS * n_steps)
    return (
        f"{preset}: {n_steps:,} steps of maze {maze} of {microseconds * before:.1f} us, recorded "
        f"of {microseconds * after:.1f} us; recording costs {after / before - 1:.1%} (goal 10 %), "
        f"{size / 1e6:.1f} MB (goal 20)"
    )


def main() -> None:
    """Print the cost for both presets."""
    seconds("default", "27", 500, 0, None)  # all that is done once only
    for case in CASES:
        print(measure(*case), flush=True)


if __name__ == "__main__":
    main()
