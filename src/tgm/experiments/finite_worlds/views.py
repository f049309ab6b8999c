"""How the states of a finite world are seen: as numbers, pictures or codes, with noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import gymnasium as gym
import numpy as np

from tgm.distributions import FloatArray, IntArray

StateOf = Callable[[gym.Env[Any, Any], dict[str, Any]], int]
"""The number of the true state, from the environment and the info of its last step."""

VIEW_STREAM = 1  # of the seed of an episode: the noise of the view


class View(Protocol):
    """What an agent sees of a state."""

    @property
    def space(self) -> gym.Space[Any]:
        """The space of one observation."""

    @property
    def is_noisy(self) -> bool:
        """Whether a state is seen in more than one way."""

    def observe(self, states: IntArray, rng: np.random.Generator) -> Any:
        """A batch of observations of (n,) states."""


@dataclass(frozen=True)
class Numbers:
    """The number of the state, as Discrete."""

    n: int
    is_noisy = False

    @property
    def space(self) -> gym.Space[Any]:
        """Discrete."""
        return gym.spaces.Discrete(self.n)

    def observe(self, states: IntArray, rng: np.random.Generator) -> Any:
        """(n,) numbers."""
        return states


@dataclass(frozen=True)
class Digits:
    """The number of the state as digits of different bases, a Tuple of Discrete."""

    bases: tuple[int, ...]
    is_noisy = False

    @property
    def space(self) -> gym.Space[Any]:
        """Tuple of Discrete."""
        return gym.spaces.Tuple([gym.spaces.Discrete(base) for base in self.bases])

    def observe(self, states: IntArray, rng: np.random.Generator) -> Any:
        """A tuple of (n,) digits."""
        return np.unravel_index(states, self.bases)


@dataclass(frozen=True)
class OneHot:
    """A Box of one 1 among zeros; the states after the last place are all zeros."""

    shape: tuple[int, ...]
    is_noisy = False

    @property
    def space(self) -> gym.Space[Any]:
        """Box."""
        return gym.spaces.Box(0.0, 1.0, self.shape, np.float64)

    def observe(self, states: IntArray, rng: np.random.Generator) -> Any:
        """(n, *shape)"""
        n_places = int(np.prod(self.shape))
        pictures = np.zeros((len(states), n_places + 1))
        pictures[np.arange(len(states)), np.minimum(states, n_places)] = 1.0
        return pictures[:, :-1].reshape(len(states), *self.shape)


@dataclass(frozen=True)
class Noisy:
    """A vector for each state, with Gaussian noise and outliers.

    Attributes:
        means: (n_states, n_features) what is seen without noise.
        noise: (n_features,) standard deviations.
        outliers: probability that an observation is an outlier.
        outlier_noise: standard deviation of what is added to each feature of an outlier.
    """

    means: FloatArray
    noise: FloatArray
    outliers: float = 0.0
    outlier_noise: float = 0.0

    @cached_property
    def space(self) -> gym.Space[Any]:
        """Box without bounds: they would tell the range of the world."""
        return gym.spaces.Box(-np.inf, np.inf, (self.means.shape[1],), np.float64)

    @property
    def is_noisy(self) -> bool:
        """Whether there is any noise."""
        return bool(self.noise.any()) or self.outliers > 0.0

    def observe(self, states: IntArray, rng: np.random.Generator) -> Any:
        """(n, n_features)"""
        means = self.means[states]
        seen = means + self.noise * rng.standard_normal(means.shape)
        if self.outliers:
            is_outlier = rng.random((len(states), 1)) < self.outliers
            seen += is_outlier * self.outlier_noise * rng.standard_normal(means.shape)
        return seen

    def with_distractors(self, n: int) -> Noisy:
        """The same with `n` more features that are N(0, 1) whatever the state."""
        return Noisy(
            np.pad(self.means, ((0, 0), (0, n))),
            np.append(self.noise, np.ones(n)),
            self.outliers,
            self.outlier_noise,
        )

    def in_unit(self, unit: float) -> Noisy:
        """The same in another unit: all numbers times `unit`."""
        noise, outlier_noise = unit * self.noise, unit * self.outlier_noise
        return Noisy(unit * self.means, noise, self.outliers, outlier_noise)


class Seen(gym.Wrapper[Any, Any, Any, Any]):
    """An environment whose true state is seen through a view."""

    def __init__(self, env: gym.Env[Any, Any], view: View, state_of: StateOf) -> None:
        """Replace the observations of `env`; `state_of` says which state it is in."""
        super().__init__(env)
        self.view, self._state_of = view, state_of
        self.observation_space = view.space
        self._rng = np.random.default_rng(0)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; `seed` renews the generator of the view too."""
        _, info = self.env.reset(seed=seed, options=options)
        if seed is not None:
            sequence = np.random.SeedSequence(seed, spawn_key=(VIEW_STREAM,))
            self._rng = np.random.default_rng(sequence)
        return self._look(info), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """A step of the environment, seen through the view."""
        _, reward, terminated, truncated, info = self.env.step(action)
        return self._look(info), reward, terminated, truncated, info

    def _look(self, info: dict[str, Any]) -> Any:
        state = np.array([self._state_of(self.env, info)])
        return self.view.observe(state, self._rng)[0]
