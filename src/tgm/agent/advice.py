"""Warnings of what an agent is not known to do well, each with a remedy."""

from __future__ import annotations

import warnings

from tgm.errors import TGMWarning
from tgm.learners.limits import KNOWN_TO_WORK


def warn_of_features(n_features: int, *, stacklevel: int) -> None:
    """Warn of more features than are known to work."""
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
