"""Callbacks of `learn`, checked before the first step."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from tgm.agent.info import LearningInfo
from tgm.errors import ConfigError

Callback = Callable[[LearningInfo], object]


def as_callbacks(callback: Callback | Iterable[Callback] | None) -> tuple[Callback, ...]:
    """One, several or no callbacks as a tuple; a ConfigError if one is no function."""
    if callback is None:
        return ()
    if callable(callback):
        return (callback,)
    if not isinstance(callback, Iterable) or not all(callable(one) for one in callback):
        raise ConfigError(f"callback is {callback!r:.100}; it must be a function, or several")
    return tuple(callback)


def wants_to_stop(answer: object) -> bool:
    """Whether the answer of a callback is False, Python's or NumPy's; None is not."""
    return isinstance(answer, bool | np.bool_) and not answer
