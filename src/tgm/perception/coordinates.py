"""The coordinates in which states are described: about an origin, in the features that matter."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.errors import DataError
from tgm.files.arrays import LARGEST_SQUARE, ArrayReader, Arrays


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Observations as the model sees them.

    A feature that is not relevant tells no states apart: it has one common density, the same in
    every state. The origin is near the data, so that no digits are lost far from zero.

    Attributes:
        origin: (n_features,) an observation.
        relevant: (n_features,) the features by which states are told apart.
        common_mean, common_variance: (n_features,) of each feature, over all observations; only
            those of features that are not relevant are used.
        chosen: (n_local,) the indices of the relevant features; None for all.
    """

    origin: FloatArray
    relevant: BoolArray
    common_mean: FloatArray
    common_variance: FloatArray
    chosen: IntArray | None = field(init=False)

    def __post_init__(self) -> None:
        chosen = None if self.relevant.all() else np.flatnonzero(self.relevant)
        object.__setattr__(self, "chosen", chosen)

    @classmethod
    def about(cls, origin: FloatArray) -> Coordinates:
        """All features, about an observation."""
        n_features = len(origin)
        return cls(origin, np.ones(n_features, dtype=bool), origin, np.zeros(n_features))

    @property
    def n_features(self) -> int:
        """Length of an observation."""
        return len(self.origin)

    def local(self, observations: FloatArray) -> FloatArray:
        """(..., n_local) the coordinates of observations (..., n_features)."""
        offset = observations - self.origin
        return offset if self.chosen is None else np.asarray(offset[..., self.chosen])

    def observations(self, local: FloatArray) -> FloatArray:
        """(..., n_features) what has these coordinates; the common mean where nothing is known."""
        if self.chosen is None:
            return np.asarray(local + self.origin)
        whole = np.empty((*local.shape[:-1], self.n_features))
        whole[:] = self.common_mean
        whole[..., self.chosen] = local + self.origin[self.chosen]
        return whole

    def covariances(self, local: FloatArray) -> FloatArray:
        """(..., n_features, n_features) covariances, of local ones (..., n_local, n_local)."""
        if self.chosen is None:
            return local
        whole = np.zeros((*local.shape[:-2], self.n_features, self.n_features))
        whole[:] = np.diag(self.common_variance)
        whole[..., self.chosen[:, None], self.chosen] = local
        return whole

    def to_arrays(self) -> Arrays:
        """As named arrays."""
        return {
            "origin": self.origin,
            "relevant": self.relevant,
            "common_mean": self.common_mean,
            "common_variance": self.common_variance,
        }

    @classmethod
    def from_arrays(cls, saved: ArrayReader, expected: BoolArray) -> Coordinates:
        """What `to_arrays` gave, checked; the features `expected` (n_features,) are relevant."""
        n_features = len(expected)
        relevant = saved.flags("relevant", n_features)
        if (relevant != expected).any():
            raise DataError("array 'relevant' does not name the features of the scale")
        return cls(
            saved.floats("origin", n_features),
            relevant,
            saved.floats("common_mean", n_features),
            saved.floats("common_variance", n_features, low=0.0, size=LARGEST_SQUARE),
        )
