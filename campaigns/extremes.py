"""Promise 22: whatever observation and reward is accepted, every checkpoint loads.

Run from the root of the repository: python -m campaigns.extremes [--runs 1000]
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from campaigns.common.lives import SETTINGS, quick
from campaigns.common.tally import Tally, report

import tgm
from tgm.errors import DataError
from tgm.runs import Run, RunRecorder, resume

N_ACTIONS = 3
LOWEST, HIGHEST = -320.0, 308.0  # powers of ten that a number can have


class Extreme(gym.Env[Any, Any]):
    """A walk among a few places, some of them and some rewards of any size that a number has."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self._n_features = int(rng.integers(1, 4))
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (self._n_features,), np.float64)
        self.action_space = gym.spaces.Discrete(N_ACTIONS)
        self._places = rng.normal(size=(6, self._n_features)) * 5.0
        self._rewards = rng.normal(size=6)
        for values in (self._places, self._rewards):
            # Sizes that are accepted more often than not: the door decides.
            power = rng.uniform(-20.0, 60.0) if rng.random() < 0.7 else rng.uniform(LOWEST, HIGHEST)
            chosen = rng.random(values.shape) < rng.choice([0.0, 0.1, 1.0])
            values[chosen] = np.clip(values[chosen], -9.0, 9.0) * 10.0 ** min(power, 307.0)
        self._length = int(rng.integers(3, 15))
        self._at = self._n = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """To the first place."""
        super().reset(seed=seed)
        self._at = self._n = 0
        return self._places[0].copy(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """One place on, back, or anywhere."""
        moves = (1, -1, int(self.np_random.integers(6)))
        self._at = (self._at + moves[int(action)]) % 6
        self._n += 1
        noise = self.np_random.normal(size=self._n_features) * 1e-3
        point = self._places[self._at] * (1.0 + 1e-12 * noise) + noise
        is_end = self._n >= self._length
        return point, float(self._rewards[self._at]), is_end, False, {}


def extremes(n_runs: int, seed: int, folder: Path, n_steps: int = 60) -> tuple[Tally, Tally]:
    """Runs in extreme worlds: every checkpoint loads; and what is accepted can be saved."""
    loads = Tally("22: extreme observations and rewards: every checkpoint that exists loads")
    is_saved = Tally("22: extreme but accepted observations and rewards: all of it can be saved")
    settings = [name for name in SETTINGS if name in ("default", "paper", "auto", "half life")]
    path = folder / "run"
    for number in range(n_runs):
        name = settings[number % len(settings)]
        env = Extreme(seed + number)
        agent = tgm.TGMAgent(env, SETTINGS[name], seed=number)
        with quick(), np.errstate(all="ignore"):
            with is_saved.trial(f"{name}, run {seed + number}"):
                _live(agent, path, n_steps)
            with loads.trial(f"{name}, run {seed + number}"):
                _check(path, env)
        shutil.rmtree(path, ignore_errors=True)
    return loads, is_saved


def _live(agent: tgm.TGMAgent, path: Path, n_steps: int) -> None:
    """A run that ends, or is refused what it cannot use before it is learned from."""
    recorder = RunRecorder.begin(agent, path, n_steps, checkpoint_seconds=0)
    with contextlib.suppress(DataError):
        agent.learn(n_steps, run_dir=recorder)


def _check(path: Path, env: gym.Env[Any, Any]) -> None:
    """All that was saved can be loaded, and the run can go on from its newest checkpoint."""
    run = Run.open(path)
    files = [file for _, file in run.checkpoints()]
    files += [file for file in (path / "model.safetensors",) if file.exists()]
    for file in files:
        tgm.TGMAgent.load(file)
    agent, troubles = resume(path, env)
    if run.checkpoints():
        assert not troubles, troubles
        assert agent.n_steps == run.checkpoints()[-1][0]


def main() -> int:
    """Run the campaign, print the table, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return report(extremes(asked.runs, asked.seed, Path(folder)))


if __name__ == "__main__":
    sys.exit(main())
