"""Two small environments: deep sea of bsuite, and a world of nothing but noise."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from tgm.distributions import IntArray

MOVE_COST = 0.01  # of a whole episode to the right


class DeepSea(gym.Env[NDArray[np.float64], int]):
    """A diver looks for a treasure: one row down at each step, one column to a side.

    ## Description
    Deep sea of bsuite: exploration without which there is no reward. Only the path that goes to
    the right in every one of the n rows comes to the treasure, and each move to the right costs.

    ## Action space
    `Discrete(2)`: left and right; which is which is drawn for each cell from `mapping_seed`.

    ## Observation space
    `Box` of shape (n, n): 1 in the cell of the diver, 0 elsewhere; all 0 at the bottom.

    ## Starting state
    The upper left cell.

    ## Rewards
    -0.01 / n for a move to the right, and +1 for it in the lower right cell.

    ## Episode end
    Termination after n steps.

    ## Arguments
    - `n`: rows and columns.
    - `mapping_seed` (0): of the meaning of the actions.
    """

    def __init__(self, n: int, mapping_seed: int = 0) -> None:
        self.n = n
        self.right: IntArray = np.random.default_rng(mapping_seed).integers(2, size=(n, n))
        self.observation_space = gym.spaces.Box(0.0, 1.0, (n, n), np.float64)
        self.action_space = gym.spaces.Discrete(2)  # type: ignore[assignment]
        self._row = self._column = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """Back to the upper left cell."""
        super().reset(seed=seed)
        self._row = self._column = 0
        return self._picture(), {}

    def step(self, action: int) -> tuple[NDArray[np.float64], float, bool, bool, dict[str, Any]]:
        """One row down, to the left or right."""
        last, reward = self.n - 1, 0.0
        if action == self.right[self._row, self._column]:
            reward = float(self._row == self._column == last) - MOVE_COST / self.n
            self._column = min(self._column + 1, last)
        else:
            self._column = max(self._column - 1, 0)
        self._row += 1
        return self._picture(), reward, self._row == self.n, False, {}

    def _picture(self) -> NDArray[np.float64]:
        picture = np.zeros((self.n, self.n))
        if self._row < self.n:
            picture[self._row, self._column] = 1.0
        return picture


class OneState(gym.Env[int, int]):
    """A world with one state and without rewards; a view makes noise of it."""

    def __init__(self, n_actions: int) -> None:
        self.observation_space = gym.spaces.Discrete(1)  # type: ignore[assignment]
        self.action_space = gym.spaces.Discrete(n_actions)  # type: ignore[assignment]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Nothing to put back."""
        super().reset(seed=seed)
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Nothing changes."""
        return 0, 0.0, False, False, {}
