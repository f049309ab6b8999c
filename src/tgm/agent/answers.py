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


def outcome_of(answer: Any, where: str) -> tuple[Any, Any, Any, Any]:
    """Observation, reward, and whether the episode was terminated and truncated.

    >>> outcome_of((3, 1.0, True, False, {}), "step 1")
    (3, 1.0, True, False)
    """
    if not isinstance(answer, tuple | list) or len(answer) != 5:
        n = len(answer) if isinstance(answer, tuple | list) else 1
        raise DataError(
            f"{where}: the environment answered with {n} things; wanted 5, as in Gymnasium: "
            "observation, reward, terminated, truncated, info"
        )
    observation, reward, terminated, truncated, _ = answer
    return observation, reward, terminated, truncated
