"""Bounds that hold in every world: how many features and states an agent may have by default."""

from __future__ import annotations

MOST_FEATURES = 1000  # a covariance has the square of it
KNOWN_TO_WORK = 16  # features; with more of them one place may become several states
MOST_STATES = 2000  # unless `max_states` says otherwise
MOST_NUMBERS = 12_000_000  # in the table of all states' densities, about 100 MB


def most_states(n_features: int) -> int:
    """How many states an agent may have if `max_states` is None.

    Fewer with many features, because each state has a covariance.
    """
    n_products = 1 + n_features + n_features * (n_features + 1) // 2
    return min(MOST_STATES, max(2, MOST_NUMBERS // n_products))
