"""An environment that fails once."""

from typing import Any

import gymnasium as gym


class FailsAt(gym.Wrapper[Any, Any, Any, Any]):
    """Raises an error instead of its n-th step, and goes on after it."""

    def __init__(self, n: int, error: BaseException, **options: Any) -> None:
        super().__init__(gym.make("tgm/Maze-v0", **options))
        self._n, self._error, self._n_calls = n, error, 0

    def step(self, action: Any) -> Any:
        self._n_calls += 1
        if self._n_calls == self._n:
            raise self._error
        return self.env.step(action)
