"""The layout of an observation: which numbers of one flat vector are which part of the space."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import gymnasium as gym
import numpy as np

from tgm.agent.action_table import in_one_line
from tgm.distributions import FloatArray
from tgm.errors import DataError, SpaceError
from tgm.files.arrays import LARGEST

Kind = Literal["box", "discrete", "multi_discrete", "multi_binary"]

SUPPORTED = "Box, Discrete, MultiDiscrete, MultiBinary, and Dict or Tuple of them"
NUMERIC = "biuf"  # NumPy's kinds of truth values, whole numbers and floats
FEW = 32  # features: up to so many are checked one by one, which is quicker than array operations
MOST_PARTS = 10_000
MOST_NUMBERS = 10_000_000  # of one observation


@dataclass(frozen=True)
class Part:
    """One leaf of an observation space.

    Attributes:
        path: the keys that lead to it through Dict and Tuple; () if it is the whole space.
        kind: what it is.
        shape: of its array; () for Discrete.
    """

    path: tuple[str | int, ...]
    kind: Kind
    shape: tuple[int, ...]

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Part:
        """What `dataclasses.asdict` wrote, checked."""
        path = tuple(key if isinstance(key, int) else str(key) for key in values["path"])
        shape, kind = tuple(int(length) for length in values["shape"]), values["kind"]
        if kind not in get_args(Kind) or len(shape) > 32 or any(length < 1 for length in shape):
            raise SpaceError(f"a part of an observation that is {kind!r:.50} of shape {shape}")
        return cls(path, kind, shape)

    @property
    def is_categorical(self) -> bool:
        """Whether the space says that its numbers are names, not amounts."""
        return self.kind != "box"

    @cached_property
    def size(self) -> int:
        """Numbers in it."""
        return math.prod(self.shape)

    @cached_property
    def name(self) -> str:
        """What it is called: its keys, or `observation`."""
        name = "" if self.path and isinstance(self.path[0], str) else "observation"
        for key in self.path:
            name += f"[{key}]" if isinstance(key, int) else f".{key}" if name else key
        return name

    def feature_name(self, index: int) -> str:
        """The name of one of its numbers."""
        if not self.shape:
            return self.name
        place = ",".join(str(int(one)) for one in np.unravel_index(index, self.shape))
        return f"{self.name}[{place}]"

    def of(self, values: Any, where: str) -> Any:
        """Its part of an observation."""
        for key in self.path:
            try:
                values = values[key]
            except (KeyError, IndexError, TypeError):
                raise DataError(f"{where}: the observation has no part '{self.name}'") from None
        return values

    def numbers(self, values: Any, where: str) -> FloatArray:
        """(size,) its numbers, or a DataError that names place and feature."""
        try:
            given = np.asarray(values)
        except (TypeError, ValueError):
            raise DataError(f"{where}: the {self._noun} {values!r:.100} is not numeric") from None
        if given.dtype.kind == "O":
            given = as_floats(given)  # whole numbers that are too large for NumPy's
        if given.dtype.kind not in NUMERIC:
            kind = "complex" if given.dtype.kind == "c" else "not numeric"
            raise DataError(f"{where}: the {self._noun} {values!r:.100} is {kind}")
        if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
            feature = self.feature_name(int(np.flatnonzero(np.ma.getmaskarray(values))[0]))
            raise DataError(f"{where}: {feature} is masked; it must be a number")
        if given.shape != self.shape:
            raise DataError(f"{where}: the {self._noun} has shape {given.shape}, not {self.shape}")
        numbers = given.astype(np.float64).reshape(-1)
        self._check_range(numbers, where)
        return numbers

    @property
    def _noun(self) -> str:
        return "observation" if not self.path else f"part '{self.name}' of the observation"

    def _check_range(self, numbers: FloatArray, where: str) -> None:
        if len(numbers) > FEW:
            if np.abs(numbers).max() <= LARGEST and not self.is_categorical:  # not so for NaN
                return
            wrong = np.flatnonzero(~(np.abs(numbers) <= LARGEST))[:1].tolist()
        else:
            wrong = [k for k, value in enumerate(numbers.tolist())
                     if not -LARGEST <= value <= LARGEST][:1]  # fmt: skip
        for feature in wrong:
            raise DataError(
                f"{where}: {self.feature_name(feature)} is {numbers[feature]}; it must be finite "
                f"and at most {LARGEST:g} in size; the agent is unchanged"
            )
        if self.is_categorical and (numbers != np.rint(numbers)).any():
            feature = int(np.flatnonzero(numbers != np.rint(numbers))[0])
            raise DataError(
                f"{where}: {self.feature_name(feature)} is {numbers[feature]}; it must be a whole "
                f"number, because its space is {self.kind}"
            )


def as_floats(given: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Python's own whole numbers of any size as floats, infinite beyond the largest."""
    if given.dtype.kind != "O" or not all(type(one) in (int, float) for one in given.flat):
        return given
    floats = [one if abs(one) <= LARGEST else math.inf for one in given.flat]
    return np.array(floats, dtype=np.float64).reshape(given.shape)


def parts_of(space: gym.Space[Any]) -> tuple[Part, ...]:
    """The leaves of an observation space, or a SpaceError that names the space."""
    parts = tuple(_leaves(space, (), space))
    n_numbers = sum(part.size for part in parts)
    if not 1 <= n_numbers <= MOST_NUMBERS or len(parts) > MOST_PARTS:
        raise SpaceError(
            f"the observation space {in_one_line(space)} has {n_numbers} numbers in {len(parts)} "
            f"parts; wanted 1 to {MOST_NUMBERS} in at most {MOST_PARTS}"
        )
    return parts


def _leaves(
    space: gym.Space[Any], path: tuple[str | int, ...], whole: gym.Space[Any]
) -> Iterator[Part]:
    spaces = gym.spaces
    if isinstance(space, spaces.Dict):
        for key, part in space.spaces.items():
            yield from _leaves(part, (*path, key), whole)
    elif isinstance(space, spaces.Tuple):
        for index, part in enumerate(space.spaces):
            yield from _leaves(part, (*path, index), whole)
    elif isinstance(space, spaces.Discrete):
        yield Part(path, "discrete", ())
    elif isinstance(space, spaces.MultiDiscrete):
        yield Part(path, "multi_discrete", tuple(int(length) for length in space.shape))
    elif isinstance(space, spaces.MultiBinary):
        yield Part(path, "multi_binary", tuple(int(length) for length in space.shape))
    elif isinstance(space, spaces.Box):
        yield Part(path, "box", tuple(int(length) for length in space.shape))
    else:
        what = "observation space" if space is whole else f"part {path} of the observation space"
        raise SpaceError(f"the {what} is {in_one_line(space)}; wanted {SUPPORTED}")
