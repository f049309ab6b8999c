"""Bounds that hold in every world: how many features and states an agent may have by default."""

from __future__ import annotations

from tgm.errors import SpaceError

MOST_FEATURES = 5000  # of a Box, with one number in each
MOST_CONTINUOUS = 1000  # features that are amounts: a covariance has the square of it
KNOWN_TO_WORK = 64  # amounts that tell states apart; more were not measured
MOST_STATES = 2000  # unless `max_states` says otherwise
MOST_DENSITY_NUMBERS = 12_000_000  # in the table of all states' densities, about 100 MB
MOST_SYMBOLS = 100_000  # exact states, which cost little
MOST_SYMBOL_NUMBERS = 500_000_000  # in all symbols together


def most_states(n_features: int) -> int:
    """How many states an agent may have if `max_states` is None.

    Fewer with many features, because each state has a covariance.
    """
    n_products = 1 + n_features + n_features * (n_features + 1) // 2
    return min(MOST_STATES, max(2, MOST_DENSITY_NUMBERS // n_products))


def most_symbols(n_features: int) -> int:
    """The same where states are exact, of so many features."""
    return min(MOST_SYMBOLS, max(2, MOST_SYMBOL_NUMBERS // n_features))


def most_shared_states(n_features: int) -> int:
    """The same where states share one covariance, and each has a mean of so many features."""
    return min(MOST_STATES, max(2, MOST_DENSITY_NUMBERS // n_features))


def too_many(n_continuous: int) -> SpaceError:
    """The error of more amounts than can be used."""
    return SpaceError(
        f"{n_continuous} features of an observation vary continuously; at most "
        f"{MOST_CONTINUOUS} can be used: choose or compute fewer "
        "(gymnasium.wrappers.TransformObservation)"
    )
