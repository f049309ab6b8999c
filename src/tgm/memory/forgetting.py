"""Which kept points can be forgotten (section 4.3)."""

from __future__ import annotations

import numpy as np

from tgm.distributions import BoolArray


def forgettable_points(belongs_to_fixed: BoolArray, has_next: BoolArray) -> BoolArray:
    """Points that belong to fixed components, as do both their neighbours in time.

    A missing neighbour (start or end of a trial, or forgotten before) counts as fixed.

    Args:
        belongs_to_fixed: (n_points,) whether a point's most likely component is fixed.
        has_next: (n_points,) whether the next point of the array is the next one in time.

    Returns:
        (n_points,) True where a point can be forgotten.
    """
    next_is_fixed = np.ones_like(belongs_to_fixed)
    next_is_fixed[:-1] = belongs_to_fixed[1:] | ~has_next[:-1]
    previous_is_fixed = np.ones_like(belongs_to_fixed)
    previous_is_fixed[1:] = belongs_to_fixed[:-1] | ~has_next[:-1]
    return belongs_to_fixed & next_is_fixed & previous_is_fixed
