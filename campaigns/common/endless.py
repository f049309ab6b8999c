"""An environment whose episodes never end, for runs that are stopped within one."""

from __future__ import annotations

import time
from typing import Any

import gymnasium as gym
import numpy as np

RING = "campaigns/Ring-v0"


class Ring(gym.Env[Any, Any]):
    """Places in a circle; one of them is rewarded, and nothing ever ends.

    Args:
        n_places: how many there are.
        seconds: what a step takes.
    """

    def __init__(self, n_places: int = 8, seconds: float = 0.0) -> None:
        self.observation_space = gym.spaces.Box(-10.0, 10.0, (2,), np.float64)
        self.action_space = gym.spaces.Discrete(2)  # type: ignore[assignment]
        self._angles = 2.0 * np.pi * np.arange(n_places) / n_places
        self._seconds = seconds
        self._place = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Go to the first place."""
        super().reset(seed=seed)
        self._place = 0
        return self._see(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Go to the next place or to the one before."""
        time.sleep(self._seconds)
        self._place = (self._place + (1 if action else -1)) % len(self._angles)
        return self._see(), float(self._place == 3), False, False, {}

    def _see(self) -> Any:
        angle = self._angles[self._place]
        point = 5.0 * np.array([np.cos(angle), np.sin(angle)])
        return point + 0.1 * self.np_random.standard_normal(2)


gym.register(RING, entry_point=Ring)
