"""Small worlds whose observations are of other kinds than a noisy position."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np

MOVES = [(0, 1), (1, 0), (0, -1), (-1, 0)]


class Grid(gym.Env):
    """An n x n grid from one corner to the other; `look` says what is seen of a place."""

    action_space = gym.spaces.Discrete(4)

    def __init__(self, n: int, look: Callable[[Grid], Any], space: Any) -> None:
        self.n, self._look = n, look
        self.observation_space = space
        if isinstance(space, int):
            self.observation_space = gym.spaces.Box(-np.inf, np.inf, (space,), np.float64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.row = self.column = self.t = 0
        return self._look(self), {}

    def step(self, action):
        down, right = MOVES[action]
        self.row = min(self.n - 1, max(0, self.row + down))
        self.column = min(self.n - 1, max(0, self.column + right))
        self.t += 1
        is_over = self.row == self.column == self.n - 1
        return self._look(self), -1.0, is_over, self.t >= 100, {}


class DeepSea(gym.Env):
    """A diver in an n x n picture: one column to the left or right at each step down.

    Which action leads to the right is drawn for each place. Only n steps to the right lead to the
    reward, and each costs a little.
    """

    action_space = gym.spaces.Discrete(2)

    def __init__(self, n: int, seed: int = 0) -> None:
        self.n = n
        self._right = np.random.default_rng(seed).integers(0, 2, (n, n))
        self.observation_space = gym.spaces.Box(0.0, 1.0, (n, n), np.float32)

    def reset(self, *, seed=None, options=None):
        self.row = self.column = 0
        return self._picture(), {}

    def step(self, action):
        reward, is_last = 0.0, self.row == self.n - 1
        if action == self._right[self.row, self.column]:
            reward = -0.01 / self.n + float(is_last and self.column == self.n - 1)
            self.column = min(self.column + 1, self.n - 1)
        else:
            self.column = max(self.column - 1, 0)
        self.row += 1
        return self._picture(), reward, is_last, False, {}

    def _picture(self):
        picture = np.zeros((self.n, self.n), np.float32)
        if self.row < self.n:
            picture[self.row, self.column] = 1.0
        return picture


class Rooms(gym.Env):
    """Three rooms, each with a corridor of four places: a number and a noisy position."""

    observation_space = gym.spaces.Dict(
        {
            "position": gym.spaces.Box(-9.0, 9.0, (2,), np.float32),
            "room": gym.spaces.Discrete(3, start=5),
        }
    )
    action_space = gym.spaces.Discrete(3, start=-1)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.room = self.x = self.t = 0
        return self._seen(), {}

    def step(self, action):
        assert action in (-1, 0, 1)
        self.t += 1
        if action == 0:
            self.room = (self.room + 1) % 3
        else:
            self.x = min(3, max(0, self.x + int(action)))
        is_over = self.room == 2 and self.x == 3
        return self._seen(), -1.0, is_over, self.t >= 50, {}

    def _seen(self):
        position = np.array([self.x, 0.0]) + self.np_random.normal(0.0, 0.1, 2)
        return {"position": position.astype(np.float32), "room": self.room + 5}


class Wheel(gym.Env):
    """Ten places in a circle as 1,000 bits; an action is a turn and whether to ring the bell."""

    observation_space = gym.spaces.MultiBinary(1000)
    action_space = gym.spaces.MultiDiscrete([3, 2], start=[1, 0])

    def reset(self, *, seed=None, options=None):
        self.place = self.t = 0
        return self._bits(), {}

    def step(self, action):
        assert self.action_space.contains(action)
        self.place, self.t = (self.place + int(action[0]) - 2) % 10, self.t + 1
        is_there = self.place == 5
        return self._bits(), float(is_there and action[1]), is_there, self.t >= 50, {}

    def _bits(self):
        bits = np.zeros(1000, np.int8)
        bits[self.place] = 1
        return bits


def one_hot(env: gym.Env) -> gym.Env:
    """A world of Discrete observations as a Box of bits."""
    n = int(env.observation_space.n)
    space = gym.spaces.Box(0.0, 1.0, (n,), np.float64)
    return gym.wrappers.TransformObservation(env, lambda number: np.eye(n)[number], space)


def mean_return(agent, env: gym.Env, n_episodes: int = 20) -> float:
    """Of greedy episodes."""
    total = 0.0
    for episode in range(n_episodes):
        observation, _ = env.reset(seed=1000 + episode)
        is_over = False
        while not is_over:
            action, _ = agent.predict(observation, deterministic=True)
            observation, reward, terminated, truncated, _ = env.step(action)
            total += float(reward)
            is_over = terminated or truncated
    return total / n_episodes
