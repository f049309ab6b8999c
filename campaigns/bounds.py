"""Promise 30: states, memory and the time of a step level off in worlds of noise, with a warning.

Run from the root of the repository: python -m campaigns.bounds [--steps 100000]
A step of 64 features takes milliseconds at the bound: those worlds get a tenth of the steps.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import gymnasium as gym
import numpy as np
from campaigns.common.lives import in_child
from campaigns.common.tally import Tally, report
from campaigns.common.worlds import Outliers, Stream
from campaigns.repeatability import resident_bytes

import tgm
from tgm.learners.limits import most_states

PARTS = 10  # in which a life is measured; the last two are compared with those before
MEMORY_GROWTH = 0.05
TIME_GROWTH = 1.5  # the machine is shared: a part may take so many times as long


GIVEN = "uniform on [0, 100]^2, a bandwidth of 0.5"  # a scale that is learned sees one place


def worlds() -> dict[str, tuple[Callable[[], gym.Env], float]]:
    """Name -> how to make it, and its share of the steps."""
    return {
        GIVEN: (lambda: Stream(2, "uniform"), 1.0),
        "N(0, 1), 1 feature": (lambda: Stream(1, "normal"), 1.0),
        "N(0, 1), 2 features": (lambda: Stream(2, "normal"), 1.0),
        "N(0, 1), 8 features": (lambda: Stream(8, "normal"), 0.5),
        "N(0, 1), 64 features": (lambda: Stream(64, "normal"), 0.1),
        "uniform on [0, 100]^2": (lambda: Stream(2, "uniform"), 1.0),
        "random walk, 2 features": (lambda: Stream(2, "walk"), 1.0),
        "maze 27 with 5 % outliers": (
            lambda: Outliers(gym.make("tgm/Maze-v0", maze="27"), share=0.05, size=1.5),
            1.0,
        ),
    }


def live(name: str, n_steps: int) -> dict[str, float]:
    """Live in a world, and tell how its last fifth compares with the fifth before it."""
    make, share = worlds()[name]
    config = tgm.TGMConfig(bandwidth=0.5) if name == GIVEN else tgm.TGMConfig()
    agent = tgm.TGMAgent(make(), config, seed=0)
    part = max(1, int(share * n_steps) // PARTS)
    states, seconds, memory = [], [], []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", tgm.TGMWarning)
        for _ in range(PARTS):
            began = time.process_time()
            agent.learn(part)
            seconds.append((time.process_time() - began) / part)
            states.append(agent.n_states)
            memory.append(resident_bytes())
    told = [str(warning.message) for warning in caught if warning.category is tgm.TGMWarning]
    return {
        "states": float(states[-1]),
        "bound": float(most_states(agent.interface.n_features)),
        "micros": 1e6 * float(np.mean(seconds[-2:])),
        "slower": float(np.mean(seconds[-2:]) / np.mean(seconds[-4:-2])),
        "memory": memory[-1] / memory[-3],
        "megabytes": memory[-1] / 1e6,
        "told": float(any("states" in message for message in told)),
    }


def bounded(n_steps: int, only: str | None = None) -> Tally:
    """Live in every world, each in a process of its own."""
    tally = Tally("30: states, memory and time level off in noise, and the user is warned")
    with tempfile.TemporaryDirectory() as folder:
        for number, name in enumerate(worlds()):
            if only is not None and only not in name:
                continue
            told = Path(folder) / str(number)

            def tell(name: str = name, told: Path = told) -> None:
                told.write_text(json.dumps(live(name, n_steps)))

            with tally.trial(name):
                assert in_child(tell) == 0, "the life failed"
                found = json.loads(told.read_text())
                print(f"{name}: " + ", ".join(f"{key} {value:.4g}" for key, value in found.items()))
                assert found["states"] <= found["bound"]
                if found["states"] >= found["bound"]:
                    assert found["told"], "nobody was warned of the bound"
                assert found["memory"] <= 1 + MEMORY_GROWTH, "memory grows"
                assert found["slower"] <= TIME_GROWTH, "a step takes longer and longer"
    return tally


def main() -> int:
    """Run the campaign, print the table, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--only", help="worlds whose name holds this")
    asked = parser.parse_args()
    return report([bounded(asked.steps, asked.only)])


if __name__ == "__main__":
    sys.exit(main())
