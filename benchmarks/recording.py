"""What recording costs: the same training with and without a run directory, in turn.

A long run is not a short one made longer: its steps are quicker, and it writes more files.
The median of pairs is told, and the ratio of the least times, which a busy machine disturbs less.
"""

from __future__ import annotations

import gc
import statistics
import tempfile
import time
from pathlib import Path

import gymnasium as gym

import tgm

MAZE = "27"
CASES = (("default", 5000, 11), ("default", 20_000, 5), ("paper", 5000, 5))  # preset, steps, pairs


def seconds(preset: str, n_steps: int, seed: int, run_dir: Path | None) -> float:
    """Time of one training."""
    config = tgm.TGMConfig.preset(preset)
    agent = tgm.TGMAgent(gym.make("tgm/Maze-v0", maze=MAZE), config, seed=seed)
    gc.collect()  # what the last training left behind is not this one's concern
    began = time.perf_counter()
    agent.learn(n_steps, run_dir=run_dir)
    return time.perf_counter() - began


def measure(preset: str, n_steps: int, n_pairs: int) -> str:
    """What recording costs, and the size of what was written, in words."""
    plain, recorded = [], []
    with tempfile.TemporaryDirectory() as folder:
        for pair in range(n_pairs):
            run_dir = Path(folder) / str(pair)
            plain.append(seconds(preset, n_steps, pair, None))
            recorded.append(seconds(preset, n_steps, pair, run_dir))
        size = sum(path.stat().st_size for path in run_dir.rglob("*") if path.is_file())
    cost = statistics.median(b / a - 1 for a, b in zip(plain, recorded, strict=True))
    return (
        f"{preset}: {n_steps} steps of maze {MAZE} in {statistics.median(plain):.2f} s, recorded "
        f"in {statistics.median(recorded):.2f} s; recording costs {cost:.1%}, by the least times "
        f"{min(recorded) / min(plain) - 1:.1%} (goal 10 %), {size / 1e6:.1f} MB (goal 20)"
    )


def main() -> None:
    """Print the cost for both presets."""
    seconds("default", 500, 0, None)  # all that is done once only
    for case in CASES:
        print(measure(*case), flush=True)


if __name__ == "__main__":
    main()
