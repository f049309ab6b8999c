"""The floor: an optimistic tabular learner that observes the true cell (R-max, one try)."""

from __future__ import annotations

from collections import deque
from typing import Any, Self

import gymnasium as gym
import numpy as np

from tgm.envs import Cell
from tgm.envs.maze import N_ACTIONS


class OracleAgent:
    """Knows where it is, not what its actions do, and hopes for the best of what it has not tried.

    With the best reward as the value of everything untried, and a cost for each step, R-max goes to
    the nearest cell with an untried action and tries it; when nothing is left to try, to the goal.
    """

    def __init__(self, env: gym.Env[Any, Any], *, seed: int = 0) -> None:
        """Know nothing about the maze of `env`."""
        self.env = env
        self.n_steps = 0
        self._seed = seed
        self._rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
        self._n_episodes = 0
        self._known: dict[Cell, dict[int, Cell]] = {}
        self._prize: tuple[Cell, int] | None = None  # where which action ends the episode
        self._cell: Cell | None = None
        self._plan: list[int] = []
        self._distances: dict[Cell, int] | None = None

    def learn(self, n_steps: int) -> Self:
        """Live for `n_steps` more steps."""
        for _ in range(n_steps):
            if self._cell is None:
                self._begin_episode()
            assert self._cell is not None
            if not self._plan:
                self._plan = self._way_to_untried(self._cell) or [self.best_action(self._cell)]
            action = self._plan.pop(0)
            _, _, terminated, truncated, info = self.env.step(action)
            self.n_steps += 1
            if action not in self._known[self._cell]:
                self._known[self._cell][action] = info["cell"]
                self._known.setdefault(info["cell"], {})
                self._prize = (self._cell, action) if terminated else self._prize
                self._distances = None
            self._cell = None if terminated or truncated else info["cell"]
        return self

    def best_action(self, cell: Cell) -> int:
        """The greedy action in a cell, by what was tried; 0 where no way to the prize is known."""
        if self._prize is None:
            return 0
        if cell == self._prize[0]:
            return self._prize[1]
        distances = self._distances_to_prize()
        options = self._known.get(cell, {})
        return min(options, key=lambda a: distances.get(options[a], len(distances)), default=0)

    @property
    def n_states(self) -> int:
        """Cells it has been in."""
        return len(self._known)

    @property
    def way_length(self) -> int | None:
        """Steps from the first cell to the prize by what was tried; None if there is no way yet."""
        return self._distances_to_prize().get(next(iter(self._known))) if self._prize else None

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[Any, Any]:
        """The greedy action at the cell nearest to each observation."""
        rounded = np.rint(np.atleast_2d(observation)).astype(int)
        actions = np.array([self.best_action((int(x), int(y))) for x, y in rounded])
        return (actions if np.ndim(observation) == 2 else actions[0]), state

    def _begin_episode(self) -> None:
        seed = np.random.SeedSequence(self._seed, spawn_key=(0, self._n_episodes))
        _, info = self.env.reset(seed=int(seed.generate_state(1)[0]))
        self._n_episodes += 1
        self._cell = info["cell"]
        self._known.setdefault(info["cell"], {})
        self._plan = []

    def _way_to_untried(self, start: Cell) -> list[int]:
        """Actions that lead to the nearest cell with something to try, and try it."""
        ways: dict[Cell, list[int]] = {start: []}
        waiting = deque([start])
        while waiting:
            cell = waiting.popleft()
            tried = self._known[cell]
            untried = [action for action in range(N_ACTIONS) if action not in tried]
            if untried:
                return [*ways[cell], int(self._rng.choice(untried))]
            for action in self._rng.permutation(N_ACTIONS).tolist():
                there = tried[action]
                if there not in ways and (cell, action) != self._prize:
                    ways[there] = [*ways[cell], action]
                    waiting.append(there)
        return []

    def _distances_to_prize(self) -> dict[Cell, int]:
        """Steps from each cell to the prize, by breadth-first search backwards."""
        if self._distances is None:
            assert self._prize is not None
            into: dict[Cell, list[Cell]] = {}
            for cell, tried in self._known.items():
                for there in tried.values():
                    into.setdefault(there, []).append(cell)
            self._distances = {self._prize[0]: 0}
            waiting = deque([self._prize[0]])
            while waiting:
                there = waiting.popleft()
                for cell in into.get(there, []):
                    if cell not in self._distances:
                        self._distances[cell] = self._distances[there] + 1
                        waiting.append(cell)
        return self._distances
