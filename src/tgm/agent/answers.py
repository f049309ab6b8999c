"""What an environment answers to reset and step, or an error that says what it should be."""

from __future__ import annotations

from typing import Any

from tgm.errors import DataError


def first_of(answer: Any, where: str) -> Any:
    """The observation that an episode begins with.

    >>> first_of((3, {}), "reset of episode 1")
    3
    """
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise DataError(
            f"{where}: the environment answered {answer!r:.100}; wanted (observation, info), as in "
            "Gymnasium: return observation, {}"
        )
    return answer[0]


def unlike_an_outcome(answer: Any, where: str) -> DataError:
    """What is wrong with an answer to step that is not the five things of Gymnasium.

    >>> print(unlike_an_outcome((3, 1.0), "step 1"))  # doctest: +ELLIPSIS
    step 1: the environment answered with 2 things; wanted 5, as in Gymnasium: observation, ...
    """
    n = len(answer) if isinstance(answer, tuple | list) else 1
    return DataError(
        f"{where}: the environment answered with {n} things; wanted 5, as in Gymnasium: "
        "observation, reward, terminated, truncated, info"
    )
