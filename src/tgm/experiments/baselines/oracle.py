"""The floor: an optimistic tabular learner that is told the true cell (R-max with one try)."""

from __future__ import annotations

from typing import Any, Self

import gymnasium as gym
import numpy as np

from tgm.distributions import FloatArray
from tgm.envs import Cell
from tgm.envs.maze import N_ACTIONS

GAMMA = 0.99
WORST = -1.0 / (1.0 - GAMMA)


class OracleAgent:
    """Knows where it is, not what its actions do; believes the best of what it has not tried.

    An action that was never tried in a cell is worth the best reward there is, at once and for
    good. The greedy policy knows no such hope: it values what was not tried like waiting for ever.
    """

    def __init__(self, env: gym.Env[Any, Any], *, seed: int = 0) -> None:
        """Know nothing about the maze of `env` but its rules' best reward of one."""
        self.env = env
        self._seed = seed
        self._rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
        self._index: dict[Cell, int] = {}
        self._successor = np.empty((0, N_ACTIONS), dtype=np.intp)
        self._reward = np.empty((0, N_ACTIONS))
        self._is_tried = np.empty((0, N_ACTIONS), dtype=bool)
        self._ends = np.empty((0, N_ACTIONS), dtype=bool)
        self._cell: Cell | None = None
        self.n_steps = 0
        self._n_episodes = 0
        self._optimistic = np.empty((0, N_ACTIONS))

    def learn(self, n_steps: int) -> Self:
        """Live for `n_steps` more steps."""
        for _ in range(n_steps):
            if self._cell is None:
                seed = np.random.SeedSequence(self._seed, spawn_key=(0, self._n_episodes))
                _, info = self.env.reset(seed=int(seed.generate_state(1)[0]))
                self._n_episodes += 1
                self._cell = info["cell"]
                self._state(self._cell)
            here = self._state(self._cell)
            values = self._optimistic[here]
            action = int(self._rng.choice(np.flatnonzero(values >= values.max() - 1e-9)))
            _, reward, terminated, truncated, info = self.env.step(action)
            self.n_steps += 1
            self._record(here, action, float(reward), info["cell"], terminated)
            self._cell = None if terminated or truncated else info["cell"]
        return self

    def predict_cells(self, cells: list[Cell]) -> list[int]:
        """The greedy action in each cell, by what was tried."""
        values = self._values(unknown=WORST)
        return [int(values[self._index[c]].argmax()) if c in self._index else 0 for c in cells]

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[Any, Any]:
        """The greedy action at the cell nearest to each observation: no noise misleads it much."""
        rounded = np.rint(np.atleast_2d(observation)).astype(int)
        actions = np.array(self.predict_cells([(int(x), int(y)) for x, y in rounded]))
        return (actions if np.ndim(observation) == 2 else actions[0]), state

    def _state(self, cell: Cell) -> int:
        """The number of a cell, new or known."""
        if cell not in self._index:
            self._index[cell] = len(self._index)
            self._successor = np.vstack([self._successor, np.full(N_ACTIONS, len(self._index) - 1)])
            self._reward = np.vstack([self._reward, np.zeros(N_ACTIONS)])
            self._is_tried = np.vstack([self._is_tried, np.zeros(N_ACTIONS, dtype=bool)])
            self._ends = np.vstack([self._ends, np.zeros(N_ACTIONS, dtype=bool)])
            self._optimistic = self._values(unknown=1.0)
        return self._index[cell]

    def _record(self, here: int, action: int, reward: float, cell: Cell, ends: bool) -> None:
        there = self._state(cell)
        was = (self._successor[here, action], self._reward[here, action])
        if self._is_tried[here, action] and was == (there, reward):
            return
        self._successor[here, action] = there
        self._reward[here, action] = reward
        self._ends[here, action] = ends
        self._is_tried[here, action] = True
        self._optimistic = self._values(unknown=1.0)

    def _values(self, unknown: float) -> FloatArray:
        """(n_cells, N_ACTIONS) by value iteration, `unknown` for what was not tried.

        It starts from waiting for ever, the worst there is: then each sweep carries the good news
        one cell further, and it is over after as many sweeps as the longest way has cells.
        """
        q = np.where(self._is_tried, WORST, unknown)
        goes_on = np.where(self._ends, 0.0, GAMMA)
        while True:
            after = q.max(axis=1)[self._successor]
            new = np.where(self._is_tried, self._reward + goes_on * after, unknown)
            if np.array_equal(new, q):
                return np.asarray(new)
            q = new
