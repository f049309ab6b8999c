"""The background: a broad density for observations that belong to no state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tgm.errors import DataError
from tgm.files.arrays import ArrayReader, Arrays

PRIOR_OUTLIERS = 0.5  # observations that were outliers, before any was seen
PRIOR_POINTS = 100.0  # observations of which these were part
MOST_OUTLIERS = 0.1  # share of observations: what happens more often is no outlier


@dataclass
class Background:
    """Owner of the count of outliers: what share of observations nothing else explains.

    An outlier is a faulty reading: it says nothing of the state, and never becomes one.

    Attributes:
        n_outliers: observations that were taken for outliers.
        n_points: observations in all.
    """

    n_outliers: float = 0.0
    n_points: float = 0.0

    @property
    def share(self) -> float:
        """Expected share of outliers: the mean of a Beta posterior."""
        share = (PRIOR_OUTLIERS + self.n_outliers) / (PRIOR_POINTS + self.n_points)
        return min(share, MOST_OUTLIERS)

    @property
    def share_seen(self) -> float:
        """Outliers so far for each observation so far; nothing is expected beforehand."""
        return min(1.0, self.n_outliers / max(1.0, self.n_points))

    def to_arrays(self) -> Arrays:
        """As named arrays."""
        return {"counts": np.array([self.n_outliers, self.n_points])}

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave, checked."""
        n_outliers, n_points = saved.floats("counts", 2, low=0.0).tolist()
        if n_outliers > n_points:
            raise DataError(f"array 'counts' holds {n_outliers} outliers of {n_points} points")
        self.n_outliers, self.n_points = n_outliers, n_points
