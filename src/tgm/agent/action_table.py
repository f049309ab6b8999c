"""The actions of an environment, numbered from 0: Discrete, or all combinations of several."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import gymnasium as gym
import numpy as np

from tgm.distributions import IntArray
from tgm.errors import DataError, SpaceError

MOST_ACTION = 2**62  # as a number of an action
MOST_COMBINATIONS = 1000
SUPPORTED = f"Discrete(n), or MultiDiscrete with at most {MOST_COMBINATIONS} combinations"


@dataclass(frozen=True)
class ActionTable:
    """Which action of the environment each index stands for.

    Attributes:
        starts: the environment's lowest number of each choice.
        counts: how many each choice has.
        is_array: whether the environment takes an array of choices, and not one number.
    """

    starts: tuple[int, ...]
    counts: tuple[int, ...]
    is_array: bool = False

    @classmethod
    def of(cls, space: gym.Space[Any]) -> ActionTable:
        """The table of an action space, or a SpaceError that names the space."""
        if isinstance(space, gym.spaces.Discrete):
            return cls((int(space.start),), (int(space.n),))
        if isinstance(space, gym.spaces.MultiBinary) and len(space.shape) == 1:
            starts, counts = (0,) * space.shape[0], (2,) * space.shape[0]
        elif isinstance(space, gym.spaces.MultiDiscrete) and len(space.shape) == 1:
            starts = tuple(int(one) for one in space.start)
            counts = tuple(int(one) for one in space.nvec)
        else:
            raise SpaceError(
                f"the action space is {in_one_line(space)}; wanted {SUPPORTED}: choose a few "
                "of its actions (gymnasium.wrappers.TransformAction)"
            )
        if math.prod(counts) > MOST_COMBINATIONS:
            raise SpaceError(
                f"the action space {in_one_line(space)} has {math.prod(counts)} combinations; "
                f"wanted {SUPPORTED}: leave out choices (gymnasium.wrappers.TransformAction)"
            )
        return cls(starts, counts, is_array=True)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> ActionTable:
        """What `dataclasses.asdict` wrote, checked."""
        starts = tuple(int(one) for one in values["starts"])
        counts = tuple(int(one) for one in values["counts"])
        table = cls(starts, counts, bool(values["is_array"]))
        fits = len(starts) == len(counts) and all(one >= 1 for one in counts)
        if not fits or (len(counts) != 1 and not table.is_array) or len(counts) > MOST_COMBINATIONS:
            raise SpaceError(f"actions of the counts {counts!s:.100}")
        if any(abs(one) > MOST_ACTION for one in starts):
            raise SpaceError(f"an interface whose first action is {starts!s:.100}")
        return table

    @property
    def n_actions(self) -> int:
        """Number of actions: of all combinations, the last choice changes fastest."""
        return math.prod(self.counts)

    @cached_property
    def action(self) -> Callable[[int], Any]:
        """From an index to what `env.step` takes."""
        if self.is_array:
            return lambda index: self.actions(np.array([index]))[0]
        return range(self.starts[0], self.starts[0] + self.counts[0]).__getitem__

    def actions(self, indices: IntArray) -> IntArray:
        """(n,) or (n, n_choices) what `env.step` takes for each of (n,) indices."""
        if not self.is_array:
            return np.asarray(indices + self.starts[0])
        choices = np.stack(np.unravel_index(indices, self.counts), axis=-1)
        return np.asarray(choices + np.array(self.starts))

    def index(self, action: Any, where: str) -> int:
        """The index of an action as the environment numbers it; the inverse of `action`."""
        given = np.asarray(action)
        shape = (len(self.counts),) if self.is_array else ()
        if given.shape == (1,) and not shape:  # as vectorised environments give it
            given = given[0]
        is_whole = given.dtype.kind in "iu" or (
            given.dtype.kind == "f" and bool((given == np.rint(given)).all())
        )
        if given.shape == shape and is_whole:
            choices = np.atleast_1d(given) - np.array(self.starts)
            if ((choices >= 0) & (choices < np.array(self.counts))).all():
                return int(np.ravel_multi_index(tuple(choices.astype(np.intp)), self.counts))
        ends = [start + count - 1 for start, count in zip(self.starts, self.counts, strict=True)]
        wanted = ", ".join(f"{a} to {b}" for a, b in zip(self.starts, ends, strict=True))
        kind = "an array of whole numbers" if self.is_array else "a whole number"
        raise DataError(f"{where}: the action is {action!r:.100}; it must be {kind}: {wanted}")

    def names(self, given: Any) -> tuple[str, ...]:
        """(n_actions,) what a person calls the actions.

        `given` are the environment's own names: of all actions, or of the choices one by one.
        """
        if _are_names(given, self.n_actions):
            return tuple(str(name) for name in given)
        if not self.is_array:
            return tuple(f"action {self.starts[0] + index}" for index in range(self.n_actions))
        is_listed = isinstance(given, Sequence) and len(given) == len(self.counts)
        if is_listed and all(_are_names(*one) for one in zip(given, self.counts, strict=True)):
            return tuple(" + ".join(names) for names in itertools.product(*given))
        numbers = [
            range(start, start + n) for start, n in zip(self.starts, self.counts, strict=True)
        ]
        combinations = itertools.product(*numbers)
        return tuple(f"action {', '.join(map(str, numbers))}" for numbers in combinations)


def in_one_line(space: gym.Space[Any]) -> str:
    """A space in words, for messages."""
    return f"{' '.join(str(space).split()):.200}"


def _are_names(given: Any, n: int) -> bool:
    is_list = isinstance(given, Sequence) and not isinstance(given, str) and len(given) == n
    return is_list and all(isinstance(name, str) for name in given)
