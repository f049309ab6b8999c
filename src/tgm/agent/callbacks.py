"""Callbacks of `learn`, checked before the first step."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable

import numpy as np

from tgm.agent.info import LearningInfo
from tgm.errors import ConfigError

Callback = Callable[[LearningInfo], object]


def as_callbacks(callback: object) -> tuple[Callback, ...]:
    """One, several or no callbacks as a tuple; a ConfigError if one is no function of one thing."""
    if callback is None:
        return ()
    if callable(callback) or not isinstance(callback, Iterable):
        return (_checked(callback),)
    return tuple(_checked(one) for one in callback)


def _checked(callback: object) -> Callback:
    if not callable(callback) and hasattr(callback, "on_step"):
        raise ConfigError(
            f"callback is {type(callback).__name__} of another library; here it is a function "
            "of a LearningInfo, which returns False to stop: learn(1000, callback=lambda info: "
            "info.n_states < 50)"
        )
    if not callable(callback):
        raise ConfigError(f"callback is {callback!r:.100}; it must be a function, or several")
    try:
        inspect.signature(callback).bind(None)
    except TypeError:
        raise ConfigError(
            f"callback is {callback!r:.100}; it must be a function of one thing, a LearningInfo"
        ) from None
    except ValueError:
        pass  # a function without a signature, of some C library
    return callback


def wants_to_stop(answer: object) -> bool:
    """Whether the answer of a callback is False, Python's or NumPy's; None is not."""
    return isinstance(answer, bool | np.bool_) and not answer
