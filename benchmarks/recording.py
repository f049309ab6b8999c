"""What recording costs: the same training with and without a run directory, in turn."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

import gymnasium as gym

import tgm

ROUNDS = 7
N_STEPS = 5000


def seconds(maze: str, config: tgm.TGMConfig, seed: int, run_dir: Path | None) -> float:
    """Time of one training."""
    agent = tgm.TGMAgent(gym.make("tgm/Maze-v0", maze=maze), config, seed=seed)
    began = time.perf_counter()
    agent.learn(N_STEPS, run_dir=run_dir)
    return time.perf_counter() - began


def main() -> None:
    """Print the cost on maze 27 for both presets, and the size of what was written."""
    for name, config in (("default", tgm.TGMConfig()), ("paper", tgm.TGMConfig.paper())):
        plain, recorded = [], []
        with tempfile.TemporaryDirectory() as folder:
            for seed in range(ROUNDS):
                run_dir = Path(folder) / str(seed)
                plain.append(seconds("27", config, seed, None))
                recorded.append(seconds("27", config, seed, run_dir))
            size = sum(path.stat().st_size for path in run_dir.rglob("*") if path.is_file())
        costs = [b / a - 1 for a, b in zip(plain, recorded, strict=True)]
        print(
            f"{name}: {N_STEPS} steps of maze 27 in {statistics.median(plain):.2f} s, recorded in "
            f"{statistics.median(recorded):.2f} s; recording costs {statistics.median(costs):.1%} "
            f"(goal 10 %), {size / 1e6:.1f} MB (goal 20)"
        )


if __name__ == "__main__":
    main()
