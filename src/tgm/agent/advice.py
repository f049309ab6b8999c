"""Warnings of what an agent is not known to do well, each with a remedy."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium as gym
import numpy as np

from tgm.errors import TGMWarning
from tgm.learners.limits import KNOWN_TO_WORK


def warn_of_features(space: gym.Space[Any], *, stacklevel: int) -> None:
    """Warn of more features than are known to work.

    Names do not count, nor do numbers from 0 to 1, which are perhaps the bits of a code.
    """
    n_features = _n_amounts(space)
    if n_features > KNOWN_TO_WORK:
        warnings.warn(
            f"an observation has {n_features} features; up to {KNOWN_TO_WORK} are known to work. "
            "With more of them one place may become several states, and a step takes longer: "
            "leave out or combine features that do not tell places apart",
            TGMWarning,
            stacklevel=stacklevel,
        )


def warn_of_limit(step: int, n_states: int, *, stacklevel: int) -> None:
    """Warn that there are as many states as the default allows."""
    warnings.warn(
        f"step {step}: there are {n_states} states, which is the default limit; no more are "
        "made. Probably similar observations are not recognised as one place: raise bandwidth, "
        "use bandwidth='auto', or leave out features that are noise. If the world really has more "
        "states, set max_states",
        TGMWarning,
        stacklevel=stacklevel,
    )


def _n_amounts(space: gym.Space[Any]) -> int:
    """Features of Boxes that are surely no bits."""
    if isinstance(space, gym.spaces.Dict):
        return sum(_n_amounts(part) for part in space.spaces.values())
    if isinstance(space, gym.spaces.Tuple):
        return sum(_n_amounts(part) for part in space.spaces)
    if not isinstance(space, gym.spaces.Box) or space.dtype.kind != "f":
        return 0
    return int(np.sum((space.low < 0.0) | (space.high > 1.0)))
