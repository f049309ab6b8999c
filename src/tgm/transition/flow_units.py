"""Steps of a world that flows, and coordinates in which the world is about as wide as one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tgm.distributions import BoolArray, FloatArray, IntArray

EDGE = 1  # per cent of the observations that lie below 0 and above 1 in each coordinate
FLAT = 1e-10  # variance of a direction, in that of all, below which nothing varies in it


class Steps(NamedTuple):
    """Steps in order of time.

    Attributes:
        departure, arrival: (n, n_features) observations before and after.
        action: (n,) indices.
        reward: (n,)
        ended: (n,) whether the episode terminated.
    """

    departure: FloatArray
    action: IntArray
    reward: FloatArray
    arrival: FloatArray
    ended: BoolArray

    @property
    def points(self) -> FloatArray:
        """(2 n, n_features) where they began, then where they led."""
        return np.concatenate([self.departure, self.arrival])

    def chosen(self, which: IntArray | BoolArray | slice) -> Steps:
        """Some of them."""
        return Steps(
            self.departure[which],
            self.action[which],
            self.reward[which],
            self.arrival[which],
            self.ended[which],
        )


class FlowUnits(NamedTuple):
    """Coordinates z with x = origin + z axes, in which most observations are from 0 to 1.

    Attributes:
        origin: (n_features,) where all coordinates are zero.
        axes: (n_features, n_features) what one of each coordinate adds to an observation.
        inverse: (n_features, n_features) of the axes.
    """

    origin: FloatArray
    axes: FloatArray
    inverse: FloatArray

    @classmethod
    def of_motion(cls, steps: Steps) -> FlowUnits:
        """Axes from the slowest to the fastest: the same, however observations are mixed.

        In them neither the observations nor the displacements are correlated: the generalised
        eigenvectors of both covariances.
        """
        plain = cls.of_features(steps)
        local = plain.seen(steps)
        points = local.points - local.points.mean(axis=0)
        values, vectors = np.linalg.eigh(points.T @ points / len(points))
        varies = values > FLAT * values[-1]
        deviation = np.sqrt(np.where(varies, values, 1.0))
        white = vectors / deviation  # where nothing varies, nothing is stretched
        moved = (local.arrival - local.departure) @ white[:, varies]
        turn = np.eye(len(values))
        turn[np.ix_(varies, varies)] = np.linalg.eigh(moved.T @ moved)[1]
        inverse = white @ turn
        axes = turn.T @ (vectors * deviation).T
        low, span = _spans(local.points @ inverse)
        return cls(
            plain.origin + (low @ axes) @ plain.axes,
            (span[:, None] * axes) @ plain.axes,
            plain.inverse @ (inverse / span),
        )

    @classmethod
    def of_features(cls, steps: Steps) -> FlowUnits:
        """Each feature is an axis."""
        low, span = _spans(steps.points)
        return cls(low, np.diag(span), np.diag(1.0 / span))

    @property
    def features(self) -> FloatArray:
        """(n_features, n_features) a row for each feature: what it adds of the coordinates."""
        length = np.sqrt(np.square(self.axes).sum(axis=0))
        return np.asarray((self.axes / length).T)

    def local(self, points: FloatArray) -> FloatArray:
        """Observations in these units."""
        return (points - self.origin) @ self.inverse

    def observations(self, local: FloatArray) -> FloatArray:
        """What has these coordinates."""
        return local @ self.axes + self.origin

    def seen(self, steps: Steps) -> Steps:
        """Steps in these units."""
        return steps._replace(
            departure=self.local(steps.departure), arrival=self.local(steps.arrival)
        )


def _spans(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(n_features,) where most values begin, and how far they reach; one if they do not vary."""
    low, high = np.percentile(points, [EDGE, 100 - EDGE], axis=0)
    whole = np.ptp(points, axis=0)
    return low, np.where(high > low, high - low, np.where(whole > 0.0, whole, 1.0))
